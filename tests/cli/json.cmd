# The same for programs.
"$STILE" check --json -c accept-design.yaml
echo "exit $?"
"$STILE" check --json -c warnings.yaml | sed -n '/"warnings"/,/\]/p'
"$STILE" check --json -c five-mistakes.yaml
echo "exit $?"
printf 'on_stop: "\\xff\\u0000\303\274"\n' | "$STILE" check --json -c -
