# What top refuses; there is no terminal here.
for words in '--interval 10ms' '--interval 2h' '--interval soon' '--sort refusd' '--sort xyz' \
	'--filter 0123456789012345678901234567890123456789012345678901234567890123' '--interval' 'now' \
	''; do
	"$STILE" --instance cli-top-none top $words
	echo "exit $?"
done
"$STILE" help top
