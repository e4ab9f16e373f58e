#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# proofs.sh VARIANT: how a client of nginx that asks 50 times a second is served, while a million
# SYNs come from 65536 forged addresses, of which one is its own: with "never", "busy" or "always" of
# Stile in front, with the kernel's SYN cookies ("kernel"), or with its SYNPROXY ("synproxy"), and
# without a flood ("idle"). Prints the requests served in a second, their median and 99th percentile
# in ms, the failed in percent, and SYNs a second. Status 3: what it needs is not here, and on
# standard output which.
# proofs.sh wrk never|always: no flood; how many requests a second wrk gets, each over a connection of
# its own, from one worker of nginx.
set -eu

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/playground.sh
. scripts/playground.sh
PLAY_SERVER=stile-bench-srv
PLAY_CLIENT=stile-bench-cli
PLAY_INSTANCE=bench-proofs

variant=$1
SYNS=1000000 RATE=250000 SECONDS_LONG=4
flood_pid=''

finish() {
	trap '' INT TERM HUP
	[ -z "$flood_pid" ] || play_end "$flood_pid"
	play_down
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# $1: what the listener does; $2: how often a client may connect in an hour;
# $3: how often all may in a second.
start_stile() {
	cat >"$PLAY_DIRECTORY/stile.yaml" <<-END
		interfaces: {play-srv: {}}
		replies_per_second: 10000000
		rate_limiters:
		  client: {algorithm: token_bucket, limit: $2, window: 1h}
		  all: {keys: [], algorithm: token_bucket, limit: $3, window: 1s}
		listeners: {web: {ports: [80], rate_limiter_name: [client, all], $1}}
		metrics: {listen: none}
	END
	play_start_stile "$PLAY_DIRECTORY/stile.yaml"
}

start_synproxy() {
	play_server sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0 2>/dev/null || :
	play_server nft -f - <<-END || {
		table inet bench {
			chain raw { type filter hook prerouting priority raw;
				tcp dport 80 tcp flags syn notrack; }
			chain in { type filter hook input priority 0;
				tcp dport 80 ct state invalid,untracked synproxy mss 1460 wscale 7 timestamp sack-perm;
				ct state invalid drop; }
		}
	END
		echo 'this kernel, or the nft that is here, has no synproxy'
		exit 3
	}
}

field() {
	value=$(sed -n "s/.*\"$1\": \([0-9.]*\)[,}].*/\1/p" "$2")
	[ -n "$value" ] || play_fail "could not measure '$1'"
	echo "$value"
}

measure_wrk() {
	command -v wrk >/dev/null || {
		echo 'there is no wrk here'
		exit 3
	}
	play_up
	play_client sh -c 'echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range'
	play_start_nginx 'return 200 "over the stile\n";' ''
	start_stile "prove_sources: $1" 10000000 10000000
	play_client wrk -t 1 -c 16 -d ${SECONDS_LONG}s --timeout 2s -H 'Connection: close' \
		http://10.77.0.1/ >"$PLAY_DIRECTORY/wrk"
	awk -v s=$SECONDS_LONG '/ requests in / { n = $1 } /Socket errors|Non-2xx/ { bad = 1 }
		END { if (!n || bad) exit 1; print 1000000 * s / n, n / s }' "$PLAY_DIRECTORY/wrk" ||
		play_fail 'not all were served'
}

if [ "$variant" = wrk ]; then
	measure_wrk "$2"
	exit
fi
play_up
play_server ip route add 10.77.0.0/16 via 10.77.0.2
play_server sysctl -qw net.core.somaxconn=16
play_start_nginx 'return 200 "over the stile\n";' ''
case $variant in
idle | kernel) ;;
synproxy) start_synproxy ;;
never) start_stile 'prove_sources: never' 200 100 ;;
busy) start_stile 'app_protocol: http, prove_sources: never' 200 100 ;;
always) start_stile 'prove_sources: always' 200 100 ;;
*) play_fail "no variant '$variant'" ;;
esac
if [ "$variant" != idle ]; then
	nsenter --net=/run/netns/$PLAY_CLIENT "$O/tools/forge" --target 10.77.0.1:80 \
		--first 10.77.0.0 --syns $SYNS --rate $RATE >"$PLAY_DIRECTORY/flood" &
	flood_pid=$!
fi
play_client "$O/tools/goodclient" --target 10.77.0.1:80 --from 10.77.0.2 --interval 20 \
	--seconds $SECONDS_LONG --timeout 2000 --json >"$PLAY_DIRECTORY/good"
rate=0
if [ -n "$flood_pid" ]; then
	wait "$flood_pid" || play_fail 'the flood failed'
	flood_pid=''
	rate=$(cat "$PLAY_DIRECTORY/flood")
fi
served=$(field served "$PLAY_DIRECTORY/good") sent=$(field requests "$PLAY_DIRECTORY/good")
p50=$(field p50_us "$PLAY_DIRECTORY/good") p99=$(field p99_us "$PLAY_DIRECTORY/good")
awk -v n="$served" -v s=$SECONDS_LONG -v p50="$p50" -v p99="$p99" -v sent="$sent" -v rate="$rate" \
	'BEGIN { print n / s, p50 / 1000, p99 / 1000, 100 * (sent - n) / sent, rate }'
