#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# connections.sh VARIANT SECONDS: one connection after the other through nginx, by wrk without
# keep-alive, with VARIANT in front: "without" anything, "stile" whose limiter lets all in, the same
# with open connections "counted". Prints connections served a second and, by the kernel's own count,
# what each of them took: ns and calls of the program at the sockets (sockops), and ns of the one at
# the interface. Status 3: what it needs is not here, and on standard output which.
set -eu

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/playground.sh
. scripts/playground.sh
PLAY_SERVER=stile-bench-srv
PLAY_CLIENT=stile-bench-cli
PLAY_INSTANCE=bench-connections

variant=$1 seconds=$2
stats=/proc/sys/kernel/bpf_stats_enabled
before=$(cat $stats)
cgroup=

finish() {
	trap '' INT TERM HUP
	echo "$before" >$stats
	play_down
	[ -z "$cgroup" ] || rmdir "$cgroup" || :
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

for tool in wrk bpftool jq; do
	command -v $tool >/dev/null || {
		echo "there is no $tool here"
		exit 3
	}
done

# One of our own below the mount; nginx begins in it.
make_cgroup() {
	mount=$(awk '$(NF - 2) == "cgroup2" { print $5; exit }' /proc/self/mountinfo)
	[ -n "$mount" ] || { echo 'no cgroup2 is mounted' && exit 3; }
	cgroup=$mount/stile-bench-connections
	mkdir -p "$cgroup"
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$cgroup" sleep 0
}

# The sum of field $2 of the programs of type $1 that are pinned by the instance.
spent() {
	for pin in "/sys/fs/bpf/stile/$PLAY_INSTANCE/current/"*; do
		bpftool -j prog show pinned "$pin" 2>/dev/null || :
	done | jq -s "[.[] | select(.type == \"$1\") | .$2 // 0] | add // 0"
}

make_cgroup
play_up
[ "$variant" = stile ] && counted=none || counted=$cgroup
# The shell that begins nginx goes into the cgroup for that long.
home=$(awk -F: '$1 == 0 { print $3 }' /proc/self/cgroup)
echo $$ >"$cgroup/cgroup.procs"
play_start_nginx 'return 200 "over the stile\n";' ''
echo $$ >"${cgroup%/*}${home%/}/cgroup.procs"
cat >"$PLAY_DIRECTORY/stile.yaml" <<-END
	interfaces: {play-srv: {}}
	cgroup: $counted
	rate_limiters: {all: {algorithm: token_bucket, limit: 10000000, window: 1s}}
	listeners: {web: {protocol: tcp, ports: [80], rate_limiter_name: all}}
END
[ "$variant" = without ] || play_start_stile "$PLAY_DIRECTORY/stile.yaml"
echo 1 >$stats
sockops=$(spent sock_ops run_time_ns) calls=$(spent sock_ops run_cnt) xdp=$(spent xdp run_time_ns)
play_client wrk -t 1 -c 16 -d "${seconds}s" --timeout 2s -H 'Connection: close' \
	http://10.77.0.1/ >"$PLAY_DIRECTORY/wrk"
sockops=$(($(spent sock_ops run_time_ns) - sockops)) calls=$(($(spent sock_ops run_cnt) - calls))
xdp=$(($(spent xdp run_time_ns) - xdp))
awk -v s="$seconds" -v sockops="$sockops" -v calls="$calls" -v xdp="$xdp" \
	'/ requests in / { n = $1 }
	END { if (!n) exit 1; print n / s, sockops / n, calls / n, xdp / n }' "$PLAY_DIRECTORY/wrk"
