# Files that cannot be read, or are large.
cd "$TMP" || exit 1
ln -s loop loop
mkdir folder
mkfifo pipe
printf 'enabled: true\n' >unreadable
chmod 0 unreadable
# Root may read everything.
unprivileged() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		"$@"
	fi
}
printf 'enabled: maybe\n' >"a name with blanks.yaml"
awk 'BEGIN {
	print "listeners: {a: {rate_limiter_name: a}}\nrate_limiters: {a: {limit: 5}}\nblocked:"
	for (i = 0; i < 600000; i++)
		printf "  - 10.%d.%d.%d\n", i / 65536, i / 256 % 256, i % 256
}' >ten-mb
awk 'BEGIN { print "blocked:"; for (i = 0; i < 1000000; i++) print "  - 10.0.0.0/255" }' >too-large
awk 'BEGIN { print "blocked:"; for (i = 0; i < 100000; i++) print "  - 10.0.0.0/255" }' >mistakes
awk 'BEGIN { print "blocked: ["; for (i = 0; i < 1100000; i++) print "10.0.0.0," }' >values

"$STILE" check --elsewhere -c missing
"$STILE" check --elsewhere -c loop
"$STILE" check --elsewhere -c folder
"$STILE" check --elsewhere -c pipe
"$STILE" check --elsewhere -c /dev/null
"$STILE" check --elsewhere -c /dev/zero
unprivileged "$STILE" check --elsewhere -c unreadable
"$STILE" check --elsewhere -c folder/../ten-mb/x
"$STILE" check --elsewhere -c ''
"$STILE" check --elsewhere -c "a name with blanks.yaml"
"$STILE" check --elsewhere -c too-large
"$STILE" check --elsewhere -c values
"$STILE" check --elsewhere -c ten-mb | sed '/^LIMITER/,$d'
"$STILE" check --elsewhere -c mistakes 2>&1 | tail -n 3
