#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh: every benchmark, one after the other; their tables on standard output and, as one JSON
# document, in $O/bench.json. What a missing tool would show is skipped, and told.
set -eu

cd "$(dirname "$0")/../.."
O=${O:-build}
export BENCH_JSON="$O/bench.json"

if [ "$(id -u)" -ne 0 ]; then
	echo 'bench: it loads programs and makes network namespaces: run it as root' >&2
	exit 1
fi
missing=
for tool in nft iptables-legacy nginx wrk haproxy; do
	command -v $tool >/dev/null || missing="$missing $tool"
done
[ -z "$missing" ] || echo "bench: without$missing, which scripts/bench would install" >&2

rm -f "$BENCH_JSON"
began=$(date +%s) failed=
for part in decisions answers refusals veth proofs forged memory storm growth abuser service; do
	"$O/bench/bench_$part" || failed="$failed $part"
done
echo
[ ! -e "$BENCH_JSON" ] || ! command -v jq >/dev/null || sh tests/bench/tables.sh --bars "$BENCH_JSON"
echo "$(($(date +%s) - began)) s; $BENCH_JSON has all of it"
[ -z "$failed" ] || {
	echo "bench: failed:$failed" >&2
	exit 1
}
