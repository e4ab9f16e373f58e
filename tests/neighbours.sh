#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# neighbours.sh: Fail2Ban bans by packaging/fail2ban/stile.conf, from a log of the test's own, and
# CrowdSec's decisions as its custom bouncer hands them over, in a network namespace of the test's
# own. $O has the built program.
set -u
export LC_ALL=C

cd "$(dirname "$0")/.."
name=stile-test-neighbours
program=$(cd "${O:-build}" && pwd)/stile
tmp=$(mktemp -d)
passed=0 failed=0 daemon='' server=''

stile() { nsenter --net=/run/netns/$name "$program" --instance $name "$@"; }
fail2ban() { fail2ban-client -c "$tmp/etc" "$@"; }

down() {
	[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
	[ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null
	[ ! -e /sys/fs/bpf/stile/$name ] || "$program" --instance $name detach
	[ ! -e /run/netns/$name ] || ip netns del $name
	rm -rf "$tmp"
}

# check WHAT COMMAND...: it succeeds within ten seconds.
check() {
	what=$1 tries=100
	shift
	until "$@" >"$tmp/said" 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || break
		sleep 0.1
	done
	if [ $tries -gt 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $what"
		cat "$tmp/said" "$tmp/log.fail2ban" "$tmp/log.stile"
	fi
}

blocked() { stile status | grep "^blocked  $1  *$2"; }
free() { stile status >"$tmp/status" && ! grep "^blocked  $1 " "$tmp/status"; }

configure() {
	cp -r /etc/fail2ban "$tmp/etc"
	rm -rf "$tmp/etc/jail.d"
	cp packaging/fail2ban/stile.conf "$tmp/etc/action.d"
	cat >"$tmp/etc/fail2ban.local" <<-END
		[Definition]
		logtarget = $tmp/log.fail2ban
		socket = $tmp/socket
		pidfile = $tmp/pid
		dbfile = :memory:
	END
	printf '[Definition]\nfailregex = ^ refused <HOST>$\n' >"$tmp/etc/filter.d/refused.conf"
	cat >"$tmp/etc/jail.local" <<-END
		[DEFAULT]
		filter = refused
		backend = polling
		maxretry = 1
		action = stile[stile="$program --instance $name"]
		[hour]
		enabled = true
		logpath = $tmp/hour
		bantime = 1h
		[forever]
		enabled = true
		logpath = $tmp/forever
		bantime = -1
	END
	: >"$tmp/hour" >"$tmp/forever" >"$tmp/log.fail2ban"
	cat >"$tmp/stile.yaml" <<-END
		listeners: {web: {ports: 80}}
		metrics: {listen: none}
		cgroup: none
	END
}

refuse() { echo "$(date '+%F %T') refused $2" >>"$tmp/$1"; }

trap down EXIT
trap 'exit 1' HUP INT TERM
ip netns add $name && nsenter --net=/run/netns/$name ip link set lo up || exit 1
configure
nsenter --net=/run/netns/$name "$program" --instance $name run -i lo -c "$tmp/stile.yaml" \
	>"$tmp/log.stile" 2>&1 &
daemon=$!
check 'Stile starts' stile status
nsenter --net=/run/netns/$name fail2ban-server -c "$tmp/etc" -f -x >"$tmp/log.server" 2>&1 &
server=$!
check 'Fail2Ban starts' fail2ban status forever
check 'nobody is blocked' free 192.0.2.7
refuse hour 192.0.2.7
refuse hour 2001:db8::7
refuse forever 192.0.2.8
check 'a ban has its time' blocked 192.0.2.7 'hand  1 h'
check 'over IPv6 too' blocked 2001:db8::7 'hand  1 h'
check 'one without an end has none' blocked 192.0.2.8 'hand  *-$'
fail2ban set hour unbanip 192.0.2.7 >"$tmp/said"
check 'a ban is taken back' free 192.0.2.7
check 'others stay' blocked 2001:db8::7 hand
fail2ban stop >"$tmp/said"
check 'an end takes all back' free 2001:db8::7
check 'also those without a time' free 192.0.2.8

bouncer() {
	STILE="nsenter --net=/run/netns/$name $program --instance $name" \
		sh packaging/crowdsec/stile-bouncer "$@"
}
check 'a decision of CrowdSec' bouncer add 192.0.2.9 7200 crowdsecurity/ssh-bf '{"scope": "Ip"}'
check 'has its time' blocked 192.0.2.9 'hand  \(2 h 0\|1 h 59\) min'
check 'one about a network' bouncer add 198.51.100.0/24 3600 manual '{"scope": "Range"}'
check 'is one, too' blocked 198.51.100.0/24 'hand  \(59 min\|1 h 0\)'
check 'it is taken back' bouncer del 192.0.2.9 7200 crowdsecurity/ssh-bf '{}'
check 'and gone' free 192.0.2.9

[ -z "${CHECK_RESULTS:-}" ] || echo "$passed $failed 0" >>"$CHECK_RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
