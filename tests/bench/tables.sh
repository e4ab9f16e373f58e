#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tables.sh [JSON [DOCUMENT]]: puts the tables of a run (build/bench.json) into docs/benchmarks.md,
# between its lines "<!-- table: SECTION -->" and "<!-- end -->".
# tables.sh --bars [JSON]: says which bars are met.
set -eu

cd "$(dirname "$0")/../.."
if [ "${1-}" = --bars ]; then
	exec jq -r --arg section 'bars as text' -f tests/bench/tables.jq "${2:-build/bench.json}"
fi
json=${1:-build/bench.json} document=${2:-docs/benchmarks.md}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
while IFS= read -r line; do
	case $line in
	'<!-- table: '*)
		section=${line#<!-- table: }
		printf '%s\n\n' "$line"
		jq -r --arg section "${section% -->}" -f tests/bench/tables.jq "$json"
		printf '\n'
		skipping=yes
		;;
	'<!-- end -->') skipping= ;;
	esac
	[ -n "${skipping-}" ] || printf '%s\n' "$line"
done <"$document" >"$new"
cat "$new" >"$document"
