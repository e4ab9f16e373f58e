# A file of mistakes alone: the first are told, the others counted, and none costs much. Minutes
# where a name is looked for that each of them may have been meant for.
cd "$TMP" || exit 1
look() {
	echo "-- $1"
	timeout 20 "$STILE" check --elsewhere -c huge 2>&1 | sed -n '1p; 1000,$p'
}

awk 'BEGIN {
	print "listeners: {w: {}}\nrate_limiters:\n  a:\n    limit: 1"
	for (i = 0; i < 450000; i++) printf "    burts%06d: 1\n", i }' >huge
look 'unknown keys'
awk 'BEGIN {
	print "enabled: maybe\nrate_limiters:"
	for (i = 0; i < 60; i++) printf "  a_limiter_with_a_long_name_%d: {limit: 1}\n", i
	print "listeners:\n  w:\n    sources:"
	for (i = 0; i < 200000; i++)
		printf "      10.%d.%d.%d: a_limter_with_a_long_nam_%d\n", i / 65536, i / 256 % 256, i % 256, i }' >huge
look 'unknown limiters'
