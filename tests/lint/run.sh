#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests of scripts/check-style.sh, check-layers.sh, check-docs.sh and check-texts.sh, and of what a
# failed check prints. A case is a file of style/, layers/, docs/ or texts/: `--- PATH` starts a file of a small tree,
# `@repeat N LINE` stands for N lines, and `=== want` starts what the script is to print about that
# tree; nothing there: the script is to find no fault.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# Writes the tree of case $1 under $2, and the wanted text to $2.want.
unpack() {
	mkdir -p "$2"
	: >"$2.want"
	awk -v tree="$2" '
		function open_file(path,    folder) {
			folder = path
			if (sub(/\/[^\/]*$/, "", folder)) system("mkdir -p " tree "/" folder)
			out = tree "/" path
			printf "" >out
		}
		/^--- / { open_file($2); next }
		/^=== want$/ { out = tree ".want"; next }
		/^@repeat / {
			n = $2; sub(/^@repeat [0-9]* /, "")
			while (n-- > 0) print >out
			next
		}
		{ print >out }
	' "$1"
}

# verdict NAME WANTED_CODE GOT_CODE WANTED_TEXT GOT_TEXT (files)
verdict() {
	if [ "$2" -eq "$3" ] && cmp -s "$4" "$5"; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "FAILED: $1: exit code $3, want $2"
	diff "$4" "$5" | sed -n 's/^</  want/p; s/^>/  got /p'
}

# of_failing CODE WANTED_TEXT NUMBERS COMMAND...
of_failing() {
	want=$1 text=$2 code=0
	echo "$3" >"$work/want"
	shift 3
	: >"$work/results"
	chmod 666 "$work/results"
	CHECK_RESULTS=$work/results "$@" >"$work/all" 2>&1 || code=$?
	sed '/^Run Summary/,$d' "$work/all" >"$work/got"
	verdict "$text" "$want" "$code" "$text" "$work/got"
	verdict "$text: numbers" 0 0 "$work/want" "$work/results"
}

for rules in style layers docs texts; do
	for case in "$here/$rules"/*.txt; do
		name=$rules/$(basename "$case" .txt)
		tree=$work/$name
		unpack "$case" "$tree"
		code=0 want=0
		sh "$root/scripts/check-$rules.sh" "$tree" >"$tree.got" 2>&1 || code=$?
		[ ! -s "$tree.want" ] || want=1
		verdict "$name" "$want" "$code" "$tree.want" "$tree.got"
	done
done

# The runner of the CUnit tests, with tests that must fail.
cd "$root" || exit 1
if ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -iquote tests -o "$work/failing" tests/lint/failing.c \
	tests/check.c tests/unit/main.c $(pkg-config --libs cunit); then
	of_failing 1 tests/lint/failing.want '1 6 0' "$work/failing" failing unready
	if [ "$(id -u)" -eq 0 ]; then
		of_failing 1 tests/lint/skipping-root.want '0 1 0' "$work/failing" skipping
		chmod 755 "$work"
		nobody='setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all'
	fi
	of_failing 0 tests/lint/skipping.want '0 0 1' ${nobody-} "$work/failing" skipping
else
	failed=$((failed + 1))
fi

echo "lint rules: $passed passed, $failed failed"
[ -z "${CHECK_RESULTS:-}" ] || echo "$passed $failed 0" >>"$CHECK_RESULTS"
[ "$failed" -eq 0 ]
