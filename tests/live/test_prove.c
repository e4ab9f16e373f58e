/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections of clients that had to prove their source: ss(8) tells of either end what it tells of
 * one that the stack alone has made.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/mptcp.h>

#include "check.h"
#include "live.h"
#include "process.h"
#include "util.h"

#define SOL_MULTIPATH 284 /* SOL_MPTCP: Linux 5.16 */
#define PORT_MULTIPATH 82
#define GET "GET / HTTP/1.1\r\nHost: web\r\n\r\n"

#define CONFIG(proves)                                                                             \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {wide: {limit: 100000, window: 1h}}\n"                                     \
	"listeners:\n"                                                                             \
	"  web: {ports: [80, 82], prove_sources: " proves ", rate_limiter_name: wide}\n"           \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

#define WEB_IPV4 SERVER_IPV4 ":80"
#define WEB_IPV6 "[" SERVER_IPV6 "]:80"

static void reload(const struct live *live, const char *config)
{
	autooutput struct output output = {};

	if (!live_write(live, "stile.yaml", config))
		return;
	output = live_stile(live, "reload");
	CHECK_EQ("it is reloaded", output.code, 0);
}

static long long challenged(const struct live *live)
{
	return live_metric_now(live, "stile_packets_total", "reason=\"challenged\"");
}

/* A connection over @protocol, made in the namespace that the test is in, or -1. */
static int connect_to(const char *from, const char *to, int protocol)
{
	struct endpoint source, target;
	autofd int fd = -1;

	(void)endpoint_parse_address(from, &source);
	(void)endpoint_parse(to, &target);
	fd = socket(target.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, protocol);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&source.address, source.length) < 0 ||
	    connect(fd, (const struct sockaddr *)&target.address, target.length) < 0)
		return -1;
	return take_fd(&fd);
}

/* Whether the service answers a request; @sent: it was asked already. */
static bool is_served(int fd, bool sent)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	char answer[1024] = "";

	if (!sent && send(fd, GET, strlen(GET), MSG_NOSIGNAL) < 0)
		return false;
	return poll(&readable, 1, LIVE_BOUND_MS) == 1 &&
	       recv(fd, answer, sizeof(answer) - 1, 0) > 0 && strstr(answer, "200 OK") &&
	       strstr(answer, "the service");
}

/* What ss(8) says of the ends of all connections with the web server, but for what varies. */
static struct output describe(const struct live *live, enum live_side side)
{
	return process_shell(
		live->netns[side],
		"ss -tionHO state established '( sport = :80 or dport = :80 )' | "
		"tr ' \\t' '\\n\\n' | "
		"grep -E '^(ts|sack|ecn|ecnseen|fastopen|wscale:.*|(|adv|rcv)mss:.*|pmtu:.*|"
		"cwnd:.*|bbr|cubic|reno)$' | sort | tr '\\n' ' '");
}

#define SYSCTL "sysctl -qw net.ipv4."

/* What a client is told to do otherwise, and back. */
static const struct way {
	const char *what, *shows, *begin, *end; /* it shows in what ss(8) says */
	int protocol;				/* 0: TCP */
} ways[] = {
	{ "as it is", "sack sack ts ts wscale:7,7", "", "", 0 },
	{ "ECN", "ecn ecn ", SYSCTL "tcp_ecn=1", SYSCTL "tcp_ecn=2", 0 },
	{ "no time stamps", "mss:1460", SYSCTL "tcp_timestamps=0", SYSCTL "tcp_timestamps=1", 0 },
	{ "no SACK", "ts ts wscale", SYSCTL "tcp_sack=0", SYSCTL "tcp_sack=1", 0 },
	{ "no SACK, no time stamps", "rcvmss:536 wscale",
	  SYSCTL "tcp_sack=0 net.ipv4.tcp_timestamps=0",
	  SYSCTL "tcp_sack=1 net.ipv4.tcp_timestamps=1", 0 },
	{ "windows are not scaled", "sack sack ts ts ", SYSCTL "tcp_window_scaling=0",
	  SYSCTL "tcp_window_scaling=1", 0 },
	{ "another window scale", "wscale:", SYSCTL "tcp_rmem='4096 131072 1000000'",
	  SYSCTL "tcp_rmem='4096 131072 6291456'", 0 },
	{ "no options but the segment size", "rcvmss:536 ",
	  SYSCTL "tcp_sack=0 net.ipv4.tcp_timestamps=0 net.ipv4.tcp_window_scaling=0",
	  SYSCTL "tcp_sack=1 net.ipv4.tcp_timestamps=1 net.ipv4.tcp_window_scaling=1", 0 },
	{ "a small segment size", "mss:",
	  "ip route change 10.77.1.0/24 dev cli0 advmss 1337; "
	  "ip -6 route change fd77:1::/64 dev cli0 proto kernel metric 256 advmss 1277",
	  "ip route change 10.77.1.0/24 dev cli0; "
	  "ip -6 route change fd77:1::/64 dev cli0 proto kernel metric 256",
	  0 },
	{ "a segment size that is clamped on the way", "mss:",
	  "nft 'add table inet clamp; "
	  "add chain inet clamp out { type filter hook output priority 0; }; "
	  "add rule inet clamp out tcp dport 80 tcp flags syn tcp option maxseg size set 1301'",
	  "nft delete table inet clamp", 0 },
	{ "Multipath TCP, which the service does not speak", "sack sack ts ts wscale:7,7", "", "",
	  IPPROTO_MPTCP },
};

static const struct host {
	const char *begin, *end;
	size_t n_ways; /* that clients of it are tried in */
} hosts[] = {
	{ "", "", ARRAY_SIZE(ways) },
	/* ECN cannot be kept then. */
	{ SYSCTL "tcp_timestamps=0", SYSCTL "tcp_timestamps=1", 1 },
	{ SYSCTL "tcp_sack=0 net.ipv4.tcp_window_scaling=0",
	  SYSCTL "tcp_sack=1 net.ipv4.tcp_window_scaling=1", 1 },
	{ SYSCTL "tcp_ecn=1 net.ipv4.tcp_rmem='4096 131072 3000000'",
	  SYSCTL "tcp_ecn=2 net.ipv4.tcp_rmem='4096 131072 6291456'", 2 },
};

/* What ss(8) says on each side: of a connection over IPv4, and of one over IPv6. */
struct told {
	struct output of[2];
};

static void look(const struct live *live, const struct way *way, struct told *told)
{
	autofd int ipv4 = -1, ipv6 = -1;

	if (*way->begin)
		live_shell(live, LIVE_CLIENT, "%s", way->begin);
	live_enter(live, LIVE_CLIENT);
	ipv4 = connect_to(CLIENT_ONE, WEB_IPV4, way->protocol);
	ipv6 = connect_to(CLIENT_SIX_ONE, WEB_IPV6, way->protocol);
	live_leave(live);
	CHECK(way->what, ipv4 >= 0 && is_served(ipv4, false));
	CHECK(way->what, ipv6 >= 0 && is_served(ipv6, false));
	for (int side = LIVE_CLIENT; side <= LIVE_SERVER; side++)
		told->of[side] = describe(live, side);
	if (*way->end)
		live_shell(live, LIVE_CLIENT, "%s", way->end);
}

static void compare(const char *what, const char *shows, struct told *want, struct told *got)
{
	for (int side = LIVE_CLIENT; side <= LIVE_SERVER; side++) {
		if (!CHECK(what, want->of[side].text && strstr(want->of[side].text, shows)))
			printf("%s is not in %s\n", shows, want->of[side].text);
		CHECK_STR_EQ(what, got->of[side].text, want->of[side].text);
		output_release(&want->of[side]);
		output_release(&got->of[side]);
	}
}

static void check_host(const struct live *live, const struct host *host)
{
	struct told want[ARRAY_SIZE(ways)] = {}, got[ARRAY_SIZE(ways)] = {};
	long long before;

	live_shell(live, LIVE_SERVER, "%s", host->begin);
	reload(live, CONFIG("never"));
	before = challenged(live);
	for (size_t i = 0; i < host->n_ways; i++)
		look(live, &ways[i], &want[i]);
	CHECK_EQ("nobody is challenged", challenged(live) - before, 0);
	reload(live, CONFIG("always"));
	for (size_t i = 0; i < host->n_ways; i++)
		look(live, &ways[i], &got[i]);
	CHECK_EQ("all are challenged", challenged(live) - before, host->n_ways * 2);
	for (size_t i = 0; i < host->n_ways; i++)
		compare(ways[i].what, *host->begin ? "mss:" : ways[i].shows, &want[i], &got[i]);
	live_shell(live, LIVE_SERVER, "%s", host->end);
}

static void test_options(void)
{
	autolive struct live live;

	if (!live_begin(&live, "prove") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("never")))
		return;
	for (int side = LIVE_CLIENT; side <= LIVE_SERVER; side++)
		live_shell(&live, side, SYSCTL "tcp_rmem='4096 131072 6291456'");
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		check_host(&live, &hosts[i]);
}

/* A request in the SYN, where the client has a cookie of TCP Fast Open, or asks for one. */
static bool is_served_fast(const struct live *live)
{
	struct endpoint target;
	autofd int fd = -1;

	(void)endpoint_parse(WEB_IPV4, &target);
	live_enter(live, LIVE_CLIENT);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(live);
	return sendto(fd, GET, strlen(GET), MSG_FASTOPEN | MSG_NOSIGNAL,
		      (const struct sockaddr *)&target.address,
		      target.length) == (ssize_t)strlen(GET) &&
	       is_served(fd, true);
}

static void test_fast_open(void)
{
	autolive struct live live;
	long long before, fast;

	if (!live_begin(&live, "prove-fast"))
		return;
	live_shell(&live, LIVE_CLIENT, "sysctl -qw net.ipv4.tcp_fastopen=3");
	/* 0x400: of sockets that have not asked for it, too (ip-sysctl.rst) */
	live_shell(&live, LIVE_SERVER, "sysctl -qw net.ipv4.tcp_fastopen=1027");
	if (!live_start_web(&live) || !live_start(&live, CONFIG("always")))
		return;
	before = challenged(&live);
	CHECK("a client that asks for a cookie of Fast Open is served", is_served_fast(&live));
	CHECK_EQ("once it has proven who it is", challenged(&live) - before, 1);
	reload(&live, CONFIG("never"));
	CHECK("without, it gets one", is_served_fast(&live));
	CHECK("and uses it", is_served_fast(&live));
	fast = live_counter(&live, LIVE_SERVER, "TcpExtTCPFastOpenPassive");
	CHECK_EQ("the data came with the SYN", fast, 1);
	reload(&live, CONFIG("always"));
	before = challenged(&live);
	CHECK("a SYN with data is served", is_served_fast(&live));
	CHECK_EQ("once it has proven who it is", challenged(&live) - before, 1);
	CHECK_EQ("and by its second segment",
		 live_counter(&live, LIVE_SERVER, "TcpExtTCPFastOpenPassive"), fast);
}

static int listen_multipath(const struct live *live)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT_MULTIPATH) };
	autofd int fd = -1;

	live_enter(live, LIVE_SERVER);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP);
	live_leave(live);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ||
	    listen(fd, 16) < 0)
		return -1;
	return take_fd(&fd);
}

/* A service that speaks Multipath TCP goes on to: its SYNs are charged, as without proofs. */
static void test_multipath(void)
{
	struct mptcp_info info = {};
	socklen_t size = sizeof(info);
	autofd int listening = -1, client = -1, server = -1;
	autolive struct live live;
	long long before;

	if (!live_begin(&live, "prove-mptcp"))
		return;
	listening = listen_multipath(&live);
	if (listening < 0 && (errno == EPROTONOSUPPORT || errno == ENOPROTOOPT)) {
		printf("prove-mptcp: this kernel has no Multipath TCP\n");
		return;
	}
	if (!CHECK("a service of Multipath TCP listens", listening >= 0) ||
	    !live_start(&live, CONFIG("always")))
		return;
	before = live_metric_now(&live, "stile_ratelimit_decisions_total", "result=\"allowed\"");
	live_enter(&live, LIVE_CLIENT);
	client = connect_to(CLIENT_ONE, SERVER_IPV4 ":82", IPPROTO_MPTCP);
	live_leave(&live);
	server = client < 0 ? -1 : accept(listening, NULL, NULL);
	CHECK("it is reached", server >= 0 && send(server, GET, 1, MSG_NOSIGNAL) == 1);
	CHECK("over Multipath TCP, from end to end",
	      getsockopt(client, SOL_MULTIPATH, MPTCP_INFO, &info, &size) == 0 &&
		      !(info.mptcpi_flags & MPTCP_INFO_FLAG_FALLBACK));
	CHECK_EQ("it is not challenged", challenged(&live), 0);
	CHECK_EQ("but charged",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", "result=\"allowed\"") -
			 before,
		 1);
}

CHECK_SUITE(prove, { "options of TCP", test_options },
	    { "TCP Fast Open, and data in the SYN", test_fast_open },
	    { "Multipath TCP", test_multipath });
