# YAML that says more than a configuration may.
look() {
	echo "-- $1"
	printf -- "$2" | "$STILE" check --elsewhere -c - 2>&1
}
# N copies of a text.
copies() {
	awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'
}

long=$(copies 100000 x)
look 'a very long key' "$long: 1\n"
look 'a very long value' "on_stop: $long\n"
look 'a very long name' "listeners: {a: {rate_limiter_name: $long}}\n"
look 'a very long line of blanks' "on_stop:$(copies 100000 ' ')kep\n"
look 'a very long alias' "trusted: *$long\n"
look 'a very long tag' "trusted: !$long [10.0.0.0/8]\n"
look 'an anchor that is used as it was meant' 'blocked: &a [10.0.0.0/8]\ntrusted: *a\n' | grep -v '^$'
look 'a tag' 'enabled: !!bool true\ntrusted: !mine [10.0.0.0/8]\nlog: !!map {level: !!str info}\n'
look 'an unknown tag handle' 'enabled: !a!b true\n'
look 'a merge key' 'rate_limiters:\n  a: &a {limit: 5}\n  b: {<<: *a, burst: 1}\n'
look 'an alias that is marked nowhere' 'log: *nowhere\n'
look 'an alias that is marked later' 'trusted: *a\nblocked: &a [10.0.0.0/8]\n'
look 'an alias of what it is in' 'trusted: &a [*a]\n'
look 'an alias as a key' 'trusted: &a [10.0.0.0/8]\n*a : 1\n'
look 'a list as a key' '[a, b]: 1\n'
look 'a map as a key' '{a: b}: 1\n'
look 'a mistake in what is used twice' 'trusted: &a [10.0.0.1/8]\nblocked: *a\n'
look 'an anchor marked twice' 'trusted: &a [10.0.0.0/8]\nblocked: [&a 10.0.0.1/8, *a]\n'
look 'too deep a list' "trusted: $(copies 17 '[')$(copies 17 ']')\n"
look 'a very deep list' "trusted: $(copies 20000 '[')"
look 'a list that doubles itself' "trusted: [&a0 [x]$(awk 'BEGIN {
	for (i = 1; i <= 23; i++) printf ", &a%d [*a%d, *a%d]", i, i - 1, i - 1 }')]\n" | tail -n 3
look 'too many anchors' "trusted: [$(awk 'BEGIN {
	for (i = 0; i <= 256; i++) printf "&a%d 10.%d.0.0/16, ", i, i % 256 }')]\n" | tail -n 3
