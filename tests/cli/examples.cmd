# The whole files that the documents show: each is right.
whole() {
	awk -v to="$TMP/$(basename "$1")" '
		/^```yaml$/ || marked && /^\.Bd -literal/ { n++; out = to "." n; next }
		out && (/^```$/ || /^\.Ed$/) { close(out); out = "" }
		out { print >out }
		{ marked = $0 == ".\\\" whole file" }
	' "$1"
}

for document in ../../README.md ../../docs/coming-from.md ../../docs/*.5; do
	whole "$document"
done
for file in "$TMP"/*; do
	echo "-- ${file##*/}"
	(cd "$TMP" && "$STILE" check --elsewhere -c "${file##*/}") 2>&1 | sed -n '1p; /^LISTENER/,/^$/p'
done
