#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# storm.sh STORM VARIANT SECONDS: what a well-behaved client of nginx gets while a storm lasts, with
# VARIANT in front: "connections" from eight addresses, or "requests" over a few connections of one
# address that stay open. Prints requests served a second, p50 and p99 in milliseconds, percent
# failed, and what the storm was served a second. Status 3: what it needs is not here, and on
# standard output which. All limiters allow each address the same; whom Stile and nftables refuse
# gets a RST, whom nginx refuses a 429.
set -eu

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/playground.sh
. scripts/playground.sh
PLAY_SERVER=stile-bench-srv
PLAY_CLIENT=stile-bench-cli
PLAY_INSTANCE=bench-storm

storm=$1 variant=$2 seconds=$3
GOOD=10.77.0.3 # not the address that wrk takes
STORM=10.77.0.101-10.77.0.108
RATE=4000
INTERVAL=50 # ms from one good request to the next: 20 a second
LIMIT=25
BURST=10
OPEN=32 # connections of a storm of requests, fewer than a limiter lets in at once

storm_pid='' good_pid='' haproxy_pid=''
finish() {
	trap '' INT TERM HUP
	for pid in $storm_pid $good_pid $haproxy_pid; do
		play_end "$pid"
	done
	play_down
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

need() {
	command -v "$1" >/dev/null || {
		echo "there is no $1 here"
		exit 3
	}
}

# nginx as the playground has it, with a page that it compresses; $1: more for its location, $2: for
# http.
start_nginx() {
	i=0
	while [ $i -lt 600 ]; do
		echo "<p>$i: over the stile, one at a time, $((i * 7919 % 10007))</p>"
		i=$((i + 1))
	done >"$PLAY_DIRECTORY/index.html"
	play_start_nginx "root $PLAY_DIRECTORY; gzip on; gzip_comp_level 9; gzip_types text/html; $1" "$2"
}

# The same nginx with limits: they need zones, which belong outside of any location.
limit_nginx() {
	start_nginx "limit_conn conn 10; limit_conn_status 429;
		limit_req zone=req burst=$BURST nodelay; limit_req_status 429;" \
		"limit_conn_zone \$binary_remote_addr zone=conn:1m;
		limit_req_zone \$binary_remote_addr zone=req:1m rate=${LIMIT}r/s;"
}

start_stile() {
	cat >"$PLAY_DIRECTORY/stile.yaml" <<-END
		interfaces:
		  play-srv: {}
		rate_limiters:
		  per-client: {algorithm: token_bucket, limit: $LIMIT, window: 1s, burst: $BURST}
		listeners:
		  web: {protocol: tcp, ports: [80], rate_limiter_name: per-client}
	END
	play_start_stile "$PLAY_DIRECTORY/stile.yaml"
}

start_nft() {
	play_server nft -f - <<-END || { echo 'nftables cannot do it here' && exit 3; }
		table inet bench {
			set clients { type ipv4_addr; size 65536; flags dynamic,timeout; timeout 1m; }
			chain in {
				type filter hook prerouting priority raw;
				tcp dport 80 tcp flags & (syn|ack) == syn jump client
			}
			chain client {
				update @clients { ip saddr limit rate over $LIMIT/second burst $BURST packets } reject with tcp reset
			}
		}
	END
}

start_haproxy() {
	cat >"$PLAY_DIRECTORY/haproxy.cfg" <<-END
		global
			maxconn 8000
		defaults
			mode http
			timeout connect 2s
			timeout client 5s
			timeout server 5s
		frontend web
			bind 10.77.0.1:81
			stick-table type ip size 64k expire 1m store conn_rate(1s)
			tcp-request connection track-sc0 src
			tcp-request connection reject if { sc0_conn_rate gt $LIMIT }
			default_backend nginx
		backend nginx
			server nginx 127.0.0.1:80
	END
	nsenter --net=/run/netns/$PLAY_SERVER haproxy -db -f "$PLAY_DIRECTORY/haproxy.cfg" \
		>"$PLAY_DIRECTORY/haproxy.log" 2>&1 &
	haproxy_pid=$!
	play_wait $haproxy_pid play_client curl -sf -o /dev/null http://10.77.0.1:81/ ||
		play_fail 'haproxy did not start'
}

field() {
	value=$(sed -n "s/.*\"$1\": \([0-9.]*\)[,}].*/\1/p" "$2")
	[ -n "$value" ] || play_fail "could not measure '$1'"
	echo "$value"
}

# Requests of the storm that got a whole page.
storm_served() {
	if [ "$storm" = connections ]; then
		[ "$(field attempts "$PLAY_DIRECTORY/storm")" -gt 0 ] || play_fail 'there was no storm'
		field succeeded "$PLAY_DIRECTORY/storm"
	else
		awk '/ requests in / { all = $1 } /Non-2xx/ { bad = $NF }
			END { if (!all) exit 1; print all - bad }' "$PLAY_DIRECTORY/storm"
	fi
}

port=80
play_up
case $variant in
nginx) limit_nginx ;;
*) start_nginx '' '' ;;
esac
case $variant in
idle | without | nginx) ;;
stile) start_stile ;;
nftables)
	need nft
	start_nft
	;;
haproxy)
	need haproxy
	port=81
	start_haproxy
	;;
*) play_fail "no variant '$variant'" ;;
esac

case $storm in
connections)
	set -- "$O/tools/storm" --target 10.77.0.1:$port --from $STORM --connections 1000000 \
		--rate $RATE --concurrency 4000 --seconds "$seconds" --timeout 2000 --get / --json
	;;
requests)
	need wrk
	set -- wrk -t 1 -c $OPEN -d "${seconds}s" --timeout 2s -H 'Accept-Encoding: gzip' \
		http://10.77.0.1:$port/
	;;
*) play_fail "no storm '$storm'" ;;
esac
if [ "$variant" != idle ]; then
	nsenter --net=/run/netns/$PLAY_CLIENT "$@" >"$PLAY_DIRECTORY/storm" &
	storm_pid=$!
fi
nsenter --net=/run/netns/$PLAY_CLIENT "$O/tools/goodclient" --target 10.77.0.1:$port --from $GOOD \
	--interval $INTERVAL --seconds "$seconds" --timeout 2000 --json >"$PLAY_DIRECTORY/good" &
good_pid=$!
wait $good_pid || play_fail 'the good client failed'
good_pid=
got=0
if [ -n "$storm_pid" ]; then
	wait "$storm_pid" || play_fail 'the storm failed'
	storm_pid=
	got=$(storm_served)
fi
served=$(field served "$PLAY_DIRECTORY/good")
p50=$(field p50_us "$PLAY_DIRECTORY/good") p99=$(field p99_us "$PLAY_DIRECTORY/good")
sent=$(field requests "$PLAY_DIRECTORY/good")
awk -v n="$served" -v s="$seconds" -v p50="$p50" -v p99="$p99" -v sent="$sent" -v got="$got" \
	'BEGIN { print n / s, p50 / 1000, p99 / 1000, 100 * (sent - n) / sent, got / s }'
