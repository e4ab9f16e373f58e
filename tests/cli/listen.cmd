# Where the metrics are served.
for listen in localhost:9466 '"::1:9466"' '"[127.0.0.1]:9466"' '"127.0.0.1:"' 127.0.0.1:65536 \
	'":9466"' 127.0.0.1 '"[::1]"' '"*:9466"' '"[]:1"' '"[:1"' '""' none 192.0.2.1:0; do
	printf 'listeners: {a: {rate_limiter_name: b}}\nrate_limiters: {b: {limit: 5}}\n' >"$TMP/c"
	printf 'metrics: {listen: %s}\n' "$listen" >>"$TMP/c"
	"$STILE" check --elsewhere -c - <"$TMP/c" | sed -n '/^metrics/p'
done
