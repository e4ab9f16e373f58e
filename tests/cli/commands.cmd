# Words that are no command, and options of the program itself.
for words in hcekc frobnicate '-x check' '--instance' '--instance a/b check' 'help hlep' \
	'help check run'; do
	"$STILE" $words
	echo "exit $?"
done
"$STILE" 2>&1 | sed -n '1p'
"$STILE" --instance=other check --elsewhere -c accept-trickster.yaml | head -n 1
"$STILE" check --elsewhere -c accept-trickster.yaml --instance other | head -n 1
