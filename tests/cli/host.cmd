# What is not there on this host: an interface and services that none has, and too much memory.
look() {
	echo "-- $1"
	printf -- "$2" | "$STILE" check $3 -c - 2>&1 | grep warning | sed 's/has [0-9.]* GiB/has N GiB/'
}
limiters=$(awk 'BEGIN { for (i = 1; i < 61; i++) printf "a%d: {limit: 5, max_keys: 100000000}, ", i }')
listener='rate_limiters: {a: {limit: 5}}\nlisteners:\n  w: {rate_limiter_name: a'

look 'an interface' "interfaces: {lo: {}, stile-none0: {}}\n$listener}\n"
look 'every port' "$listener}\n"
look 'a port' "$listener, ports: 1}\n"
look 'a port of an address' "$listener, ports: [1, 1-2], addresses: 192.0.2.1}\n"
look 'a port of udp' "$listener, ports: 1, protocol: udp, addresses: 2001:db8::1}\n"
look 'on another host' "interfaces: {stile-none0: {}}\n$listener, ports: 1}\n" --elsewhere
look 'memory' "rate_limiters: {$limiters}\nlisteners: {w: {rate_limiter_name: [a1, a2]}}\n" |
	grep -v 'judges no listener'
echo '-- a backlog'
printf -- "$listener, listen_backlog: 2147483647}\n" | "$STILE" check -c - 2>&1 |
	sed -n '/somaxconn/s/at [0-9]* here/at N here/p'
accounts='user: rot\ncontrol_group: stile-no-such-group\nlisteners: {w: {}}\n'
echo '-- a user and a group'
printf -- "$accounts" | "$STILE" check -c - 2>&1
printf -- "$accounts" | "$STILE" check --json -c - | grep valid
echo '-- which another host may have'
printf -- "$accounts" | "$STILE" check --elsewhere -c - 2>&1 | head -n 2
echo '-- a cgroup'
for cgroup in /stile-none /proc; do
	printf -- "cgroup: $cgroup\n$listener}\n" | "$STILE" check -c - 2>&1 | grep cgroup
	printf -- "cgroup: $cgroup\n$listener}\n" | "$STILE" check --elsewhere -c - 2>&1 | grep cgroup
done
true
