#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs every kind of test that is built under $O, and lint, and sums up. `make check` calls it.
# Without the privilege it runs what needs none and says what it left out.
set -u

O=${O:-build}
MAKE=${MAKE:-make}
case $O in /*) built=$O ;; *) built=$(pwd)/$O ;; esac
CHECK_RESULTS=$built/check-results
STILE=$built/stile
export O CHECK_RESULTS STILE
passed=0 failed=0 skipped=0 left_out='' failures='' besides=''

# One step. A CUnit binary writes its numbers to $CHECK_RESULTS; any other counts as one test.
step() {
	name=$1
	shift
	echo
	echo "== $name"
	: >"$CHECK_RESULTS"
	code=0
	timeout --foreground "${STEP_SECONDS:-900}" "$@" || code=$?
	[ "$code" -ne 124 ] || echo "$name: not done after ${STEP_SECONDS:-900} s"
	if [ ! -s "$CHECK_RESULTS" ]; then
		if [ "$code" -eq 0 ]; then echo 1 0 0; else echo 0 1 0; fi >"$CHECK_RESULTS"
	fi
	while read -r p f s; do
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		# A binary that died after it had counted.
		if [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; then failed=$((failed + 1)); fi
	done <"$CHECK_RESULTS"
	[ "$code" -eq 0 ] || failures="$failures $name"
}

# The same for a program that is built only where there are tests of its kind.
binary() {
	[ ! -x "$2" ] || step "$@"
}

# A step that runs beside those that follow, out of their way; what it said comes at the end.
beside() {
	name=$1
	shift
	rm -f "$O/beside-$name.code"
	{
		nice timeout "${STEP_SECONDS:-900}" "$@" >"$O/beside-$name.said" 2>&1
		echo $? >"$O/beside-$name.code"
	} &
	besides="$besides $name"
}

end_besides() {
	wait
	for beside in $besides; do
		step "$beside" sh -c 'cat "$0.said"; exit "$(cat "$0.code")"' "$O/beside-$beside"
	done
}

privileged() {
	[ "$(id -u)" -eq 0 ] && [ -e /sys/fs/bpf ] && unshare --net true 2>/dev/null
}

for fuzzer in tests/fuzz/*.c; do
	fuzzer=$O/fuzz/$(basename "$fuzzer" .c)
	[ ! -x "$fuzzer" ] || beside "${fuzzer##*/}" sh tests/fuzz.sh "$fuzzer"
done
beside lint $MAKE --no-print-directory -j"$(nproc)" lint
binary unit "$O/test-unit"
binary unit-clang "$O/test-unit-clang"
[ ! -e tests/cli/run.sh ] || step cli env STILE="$built/asan/stile" sh tests/cli/run.sh
step packaging sh tests/packaging.sh
step lint-rules sh tests/lint/run.sh
if privileged; then
	binary prog "$O/test-prog"
	step neighbours sh tests/neighbours.sh
	end_besides
	[ ! -x "$O/test-live" ] || step live sh tests/root.sh "$O/test-live"
else
	end_besides
	left_out='prog, live: they need root'
fi

echo
[ "$skipped" -eq 0 ] || echo "$skipped skipped"
[ -z "$left_out" ] || echo "left out: $left_out"
[ -z "$failures" ] || echo "failed:$failures"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
