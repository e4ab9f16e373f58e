# More than there may be of one thing.
look() {
	echo "-- $1"
	printf -- "$2" | "$STILE" check --elsewhere -c - 2>&1
}
# The numbers from 1 to N, with a text before and after each.
count() {
	awk -v n="$1" -v before="$2" -v after="$3" 'BEGIN {
		for (i = 1; i <= n; i++) printf "%s%d%s", before, i, after }'
}

look 'addresses' "listeners: {a: {addresses: [$(count 255 10.0.0. ', ')10.0.1.0, 10.0.2.0]}}\n"
look 'ports' "listeners: {a: {ports: [$(count 257 '' ', ')]}}\n"
look 'the path of a socket' "control: /$(printf %0107d 0)\n"
look 'the longest path of a socket' "listeners: {a: {}}\ncontrol: /$(printf %0106d 0)\n" | head -n 3
look 'limiters' "rate_limiters: {$(count 64 a ': {limit: 1}, ')}\n" | grep -v warning
look 'listeners' "listeners: {$(count 256 a ': {}, ')}\n"
look 'interfaces' "listeners: {a: {}}\ninterfaces: {$(count 17 eth ': {}, ')}\n"
look 'answers on udp' "rate_limiters: {a: {limit: 1}}\nlisteners: {$(awk 'BEGIN {
	for (i = 1; i <= 64; i++) printf "u%d: {protocol: udp, ports: %d, rate_limiter_name: a, app_protocol: raw, raw: {bytes: x%d}}, ", i, i, i }')}\n"
look 'bytes of an answer' "listeners: {a: {app_protocol: raw, raw: {bytes: $(printf %01025d 0)}}}\n"
