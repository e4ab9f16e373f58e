# What is no capture, and what the command line may be. Nothing of it takes a privilege.
cat >"$TMP/web.yaml" <<'EOF'
interfaces: {eth0: {}}
rate_limiters: {per-client: {limit: 10, window: 1s}}
listeners: {web: {ports: [80], rate_limiter_name: per-client}}
EOF
cd "$TMP" || exit 1
: >empty
echo 'this is no capture, and it has more than a few bytes' >text
printf '\241\262\303\324\000\002\000\004\000\000\000\000\000\000\000\000\000\000\377\377\000\000\000\011' >ppp
for file in empty text ppp missing; do
	"$STILE" replay "$file" -c web.yaml
	echo "exit $?"
done
"$STILE" replay ppp -c missing.yaml
for words in '' 'a b' '--top x a' '--server 10.0.0.256 a' '-c - -'; do
	"$STILE" replay $words
	echo "exit $?"
done
"$STILE" replay --help
