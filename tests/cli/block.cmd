# What the commands that change the lists refuse before they look at anything.
try() {
	echo "\$ stile $*" | cut -c 1-60
	"$STILE" "$@" 2>&1 | head -n 1
}
long=$(printf %0300d 1)
try block
try block 192.0.2.1 192.0.2.2
try block 192.0.2.1/24
try block ::/0
try block "$long"
try trust example.org
try unblock 192.0.2.1 --for 10m
try untrust 192.0.2.1 --for 10m
try block 192.0.2.1 --for
for time in 10 0s 1w "10 m" forever "${long}x" 40000d 99999999999999999999s "9${long}d"; do
	try block 192.0.2.1 --for "$time"
done
