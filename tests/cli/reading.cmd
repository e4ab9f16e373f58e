# What commands that only read refuse before they look at anything.
try() {
	echo "\$ stile $*"
	"$STILE" "$@"
	echo "= $?"
}
try clients --sort refusd
try clients --sort x
try clients --top -1
try clients --top 3x
try clients --limiter
try clients web
try explain
try explain 192.0.2.1 192.0.2.2
try explain 192.0.2
try explain 192.0.2.0/24
try explain 192.0.2.1 --listner web
try explain 192.0.2.1 --port udp/0
try explain 192.0.2.1 --port 65536
try explain 192.0.2.1 --to 10.0.0.1
try explain 192.0.2.1 --port 80 --to host
try explain 192.0.2.1 --port 80 --listener web
try status --jsn
try status now
