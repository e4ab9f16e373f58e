# Files that cannot be read, or are large.
cd "$TMP" || exit 1
ln -s loop loop
mkdir folder
printf 'enabled: maybe\n' >"a name with blanks.yaml"
awk 'BEGIN {
	print "listeners: {a: {rate_limiter_name: a}}\nrate_limiters: {a: {limit: 5}}\nblocked:"
	for (i = 0; i < 600000; i++)
		printf "  - 10.%d.%d.%d\n", i / 65536, i / 256 % 256, i % 256
}' >ten-mb
awk 'BEGIN { print "blocked:"; for (i = 0; i < 1000000; i++) print "  - 10.0.0.0/255" }' >too-large
awk 'BEGIN { print "blocked:"; for (i = 0; i < 100000; i++) print "  - 10.0.0.0/255" }' >mistakes
awk 'BEGIN { print "blocked: ["; for (i = 0; i < 1100000; i++) print "10.0.0.0," }' >values

"$STILE" check -c missing
"$STILE" check -c loop
"$STILE" check -c folder
"$STILE" check -c folder/../ten-mb/x
"$STILE" check -c ''
"$STILE" check -c "a name with blanks.yaml"
"$STILE" check -c too-large
"$STILE" check -c values
"$STILE" check -c ten-mb | sed '/^LIMITER/,$d'
"$STILE" check -c mistakes 2>&1 | tail -n 3
