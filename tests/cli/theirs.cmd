# What docs/coming-from.md shows of other programs: each program's own checker takes it, in a
# network and user namespace, so that nothing of the host is touched.
awk -v to="$TMP/block" '
	/^```[a-z]/ { out = to "." ++n "." substr($0, 4); next }
	/^```$/ { if (out) close(out); out = ""; next }
	out { print >out }
' ../../docs/coming-from.md

alone() { unshare --user --map-root-user --net "$@"; }

whole_nginx() {
	echo 'events {} error_log stderr;'
	echo 'http { access_log off;'
	cat "$1"
	echo '}'
}

whole_trickster() {
	cat "$1"
	echo 'listeners: {web: {ports: 80, rate_limiter_name: per-client}}'
}

takes() {
	case $1 in
	nft) alone nft -c -f "$2" ;;
	iptables) alone iptables-restore --test "$2" ;;
	haproxy) haproxy -c -q -f "$2" ;;
	nginx) whole_nginx "$2" >"$2.whole" &&
		alone nginx -t -q -p "$TMP/" -c "$2.whole" -g "pid $TMP/pid;" ;;
	fail2ban) cp -r /etc/fail2ban "$TMP/jails" && cp "$2" "$TMP/jails/jail.local" &&
		printf 'backend = systemd\n' >>"$TMP/jails/jail.local" &&
		fail2ban-client -c "$TMP/jails" -t >"$TMP/jails/said" 2>&1 ||
		{ cat "$TMP/jails/said"; return 1; } ;;
	trickster) whole_trickster "$2" >"$2.whole" &&
		"$STILE" check --elsewhere -c "$2.whole" >/dev/null ;;
	*) echo "who checks $1?"; return 1 ;;
	esac
}

for file in $(ls "$TMP" | sort -t . -k 2n); do
	language=${file##*.}
	[ "$language" = yaml ] && continue
	if takes "$language" "$TMP/$file"; then echo "$language: taken"; else echo "$language: refused"; fi
done

# None of the checkers says yes to anything.
for language in nft iptables haproxy nginx fail2ban trickster; do
	rm -rf "$TMP/jails"
	printf 'nonsense {\n' >"$TMP/wrong"
	takes "$language" "$TMP/wrong" >"$TMP/said" 2>&1 && echo "$language: takes nonsense"
done
true
