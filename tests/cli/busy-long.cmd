# An answer has 4096 bytes at most, headers and all.
cd "$TMP" || exit 1
look() {
	echo "-- a body of $1 bytes"
	body=$(head -c "$1" /dev/zero | tr '\0' x)
	cat >stile.yaml <<Y
rate_limiters:
  a:
    limit: 1
    response: {body: $body}
listeners: {web: {ports: 80, app_protocol: http, rate_limiter_name: a}}
Y
	"$STILE" check --elsewhere -c stile.yaml 2>&1 | head -2
}
look 3936
look 3937
