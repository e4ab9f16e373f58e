# The same for programs.
"$STILE" check --elsewhere --json -c accept-design.yaml
echo "exit $?"
"$STILE" check --elsewhere --json -c warnings.yaml | sed -n '/"warnings"/,/\]/p'
"$STILE" check --elsewhere --json -c five-mistakes.yaml
echo "exit $?"
printf 'on_stop: "\\xff\\u0000\303\274"\n' | "$STILE" check --elsewhere --json -c -
