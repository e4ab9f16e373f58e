#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh [STILE]: what stile says, held against the golden files next to this script. NAME.yaml is
# given to `stile check --elsewhere -c`; NAME.cmd is a script that finds the program in $STILE and
# an empty folder in $TMP. NAME.want is what both streams say, and a last line with the exit code.
# UPDATE=1 writes the golden files anew: read the difference before it is committed.
set -u
export LC_ALL=C

stile=${1:-${STILE:?'the program is missing: run.sh STILE'}}
case $stile in /*) ;; *) stile=$(pwd)/$stile ;; esac
[ -x "$stile" ] || { echo "run.sh: $stile is no program" >&2; exit 1; }
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0

# Runs one test; what it says and its exit code are left in $work/got.
run() {
	rm -rf "$work/tmp"
	mkdir "$work/tmp"
	case $1 in
	*.yaml) timeout 60 "$stile" check --elsewhere -c "$1" ;;
	*.cmd) STILE=$stile TMP=$work/tmp timeout 60 sh "./$1" ;;
	esac >"$work/got" 2>&1
	echo "exit $?" >>"$work/got"
}

for test in *.yaml *.cmd; do
	[ -e "$test" ] || continue
	want=${test%.*}.want
	run "$test"
	[ -z "${UPDATE:-}" ] || cp "$work/got" "$want"
	if diff -u --label "$want" --label got "$want" "$work/got"; then
		passed=$((passed + 1))
	else
		echo "FAILED: $test"
		failed=$((failed + 1))
	fi
done

for want in *.want; do
	[ -e "${want%.*}.yaml" ] || [ -e "${want%.*}.cmd" ] || {
		echo "FAILED: $want belongs to no test"
		failed=$((failed + 1))
	}
done

[ -z "${CHECK_RESULTS:-}" ] || echo "$passed $failed 0" >>"$CHECK_RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
