#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# fuzz.sh FUZZER: runs it for FUZZ_SECONDS (60) on the stored corpus of its name, if there is one.
# What it finds is kept in a corpus next to it, and a crash as a file there.
set -eu

fuzzer=$1
name=${fuzzer##*/}
corpus=${fuzzer%/*}/corpus/$name
crashes=${fuzzer%/*}/crashes/$name-
seconds=${FUZZ_SECONDS:-60}
stored=tests/fuzz/corpus/$name

mkdir -p "$corpus" "${crashes%/*}"
[ -d "$stored" ] || stored=
log=$fuzzer.log
echo "fuzz $name: ${seconds}s"
if ! "$fuzzer" -max_total_time="$seconds" -timeout=5 -artifact_prefix="$crashes" \
	-print_final_stats=1 "$corpus" ${stored:+"$stored"} >"$log" 2>&1; then
	tail -n 60 "$log"
	echo "fuzz $name: failed; the input is under ${crashes%/*}"
	exit 1
fi
sed -n 's/^stat::number_of_executed_units: /  inputs: /p' "$log"
