#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# refusals.sh VARIANT SECONDS: how many requests a second wrk, which asks for each over a connection
# of its own, is refused with 429: by "stile" in native mode or in "generic" mode, before an nginx
# that sees none of them; by "nginx" itself (return 429), or by "haproxy" (http-request deny), with
# nothing in front. Prints that, and how many segments reached the service's host for each. Status
# 3: what it needs is not here, and on standard output which.
set -eu

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/playground.sh
. scripts/playground.sh
PLAY_SERVER=stile-bench-srv
PLAY_CLIENT=stile-bench-cli
PLAY_INSTANCE=bench-refusals

variant=$1 seconds=$2
port=80 haproxy_pid='' peer_pid=''

finish() {
	trap '' INT TERM HUP
	for pid in $haproxy_pid $peer_pid; do
		play_end "$pid"
	done
	[ ! -e "/sys/fs/bpf/stile/$PLAY_INSTANCE-peer" ] ||
		"$STILE" --instance $PLAY_INSTANCE-peer detach || :
	play_down
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

command -v wrk >/dev/null || {
	echo 'there is no wrk here'
	exit 3
}

start_stile() {
	cat >"$PLAY_DIRECTORY/stile.yaml" <<-END
		interfaces: {play-srv: {mode: $1}}
		replies_per_second: 10000000
		rate_limiters: {all: {keys: [], algorithm: token_bucket, limit: 1, window: 1h}}
		listeners: {web: {ports: [80], app_protocol: http, rate_limiter_name: all}}
		metrics: {listen: none}
	END
	play_start_stile "$PLAY_DIRECTORY/stile.yaml"
	play_client curl -sf -o /dev/null http://10.77.0.1/ || play_fail 'the first was not let in'
}

# What a native program sends over veth arrives only where there is another one.
start_peer() {
	cat >"$PLAY_DIRECTORY/peer.yaml" <<-END
		interfaces: {play-cli: {mode: native}}
		metrics: {listen: none}
	END
	nsenter --net=/run/netns/$PLAY_CLIENT "$STILE" --instance $PLAY_INSTANCE-peer run \
		-c "$PLAY_DIRECTORY/peer.yaml" >>"$PLAY_DIRECTORY/stile.log" 2>&1 &
	peer_pid=$!
	play_wait $peer_pid play_client "$STILE" --instance $PLAY_INSTANCE-peer status ||
		play_fail 'no program at the client'
}

start_haproxy() {
	cat >"$PLAY_DIRECTORY/haproxy.cfg" <<-END
		global
			maxconn 8000
			nbthread 1
		defaults
			mode http
			timeout connect 2s
			timeout client 5s
			timeout server 5s
		frontend web
			bind 10.77.0.1:82
			http-request deny deny_status 429
	END
	nsenter --net=/run/netns/$PLAY_SERVER haproxy -db -f "$PLAY_DIRECTORY/haproxy.cfg" \
		>"$PLAY_DIRECTORY/haproxy.log" 2>&1 &
	haproxy_pid=$!
	play_wait $haproxy_pid play_client curl -s -o /dev/null http://10.77.0.1:82/ ||
		play_fail 'haproxy did not start'
}

segments() {
	play_server awk '$1 == "Tcp:" && $11 ~ /^[0-9]+$/ { print $11 }' /proc/net/snmp
}

play_up
play_client sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse
	echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range'
play_start_nginx 'return 200 "over the stile\n";' \
	'server { listen 81; location / { return 429 "Too Many Requests\n"; } }'
case $variant in
stile)
	start_peer
	start_stile native
	;;
generic) start_stile generic ;;
nginx) port=81 ;;
haproxy)
	command -v haproxy >/dev/null || {
		echo 'there is no haproxy here'
		exit 3
	}
	port=82
	start_haproxy
	;;
*) play_fail "no variant '$variant'" ;;
esac
before=$(segments)
play_client wrk -t 2 -c 32 -d "${seconds}s" --timeout 2s -H 'Connection: close' \
	http://10.77.0.1:$port/ >"$PLAY_DIRECTORY/wrk"
awk -v s="$seconds" -v segments=$(($(segments) - before)) \
	'/ requests in / { all = $1 } /Non-2xx/ { refused = $NF }
	END { if (!all || refused != all) exit 1; print refused / s, segments / refused }' \
	"$PLAY_DIRECTORY/wrk" || play_fail 'not all were refused'
