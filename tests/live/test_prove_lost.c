/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernels as clients that have to prove their source, whose segments get lost, or who come again
 * from the port of a connection that the host still keeps.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "process.h"
#include "util.h"

#define CONFIG                                                                                     \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {wide: {limit: 100000, window: 1h}}\n"                                     \
	"listeners:\n"                                                                             \
	"  web: {ports: [80, 83], prove_sources: always, rate_limiter_name: wide}\n"               \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static long long charged(const struct live *live)
{
	return live_metric_now(live, "stile_ratelimit_decisions_total", "result=\"allowed\"");
}

static long long packets(const struct live *live, const char *reason)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "reason=\"%s\"", reason);
	return live_metric_now(live, "stile_packets_total", labels);
}

static bool begin(struct live *live, const char *name)
{
	return live_begin(live, name) && live_start_web(live) && live_start(live, CONFIG);
}

/* What is lost of which client, and what each of them asks. */
static const struct loss {
	bool out;
	const char *which;  /* segments, */
	unsigned int first; /* so many of them */
	unsigned int body;
} losses[] = {
	{ true, "tcp flags & (syn|ack) == syn", 1, 0 },
	{ false, "tcp flags & (syn|ack) == (syn|ack)", 1, 0 },
	{ true, "tcp flags & (syn|psh) == 0", 1, 0 },
	{ true, "tcp flags & syn == 0", 2, 0 },
	{ true, "tcp flags & syn == 0", 3, 0 },
	{ true, "tcp flags & syn == 0", 1, 100000 },
	{ true, "tcp flags & syn == 0", 2, 100000 },
	{ true, "tcp flags & syn == 0", 3, 100000 },
	{ true, "tcp flags & syn == 0", 5, 100000 },
};

/* From one port each, over IPv4 and over IPv6, all at once; what is lost is lost by the port. */
static const char lost_clients[] =
	"import socket, sys, threading\n"
	"def ask(family, host, port, body):\n"
	"    s = socket.socket(family)\n"
	"    s.settimeout(14)\n"
	"    s.bind(('', port))\n"
	"    s.connect((host, 80))\n"
	"    head = b'POST / HTTP/1.1\\r\\nHost: web\\r\\nContent-Length: %d\\r\\n\\r\\n'\n"
	"    s.sendall(head % body + b'x' * body)\n"
	"    answer = s.recv(4096)\n"
	"    if b'200 OK' in answer and b'the service' in answer:\n"
	"        served.append(port)\n"
	"served = []\n"
	"threads = []\n"
	"for i, body in enumerate(sys.argv[3:]):\n"
	"    for family, host, port in ((socket.AF_INET, sys.argv[1], 4000 + i),\n"
	"                               (socket.AF_INET6, sys.argv[2], 4100 + i)):\n"
	"        threads.append(threading.Thread(target=ask, args=(family, host, port, "
	"int(body))))\n"
	"[t.start() for t in threads]\n"
	"[t.join() for t in threads]\n"
	"print(*sorted(served))\n";

/*
 * What is sent goes astray to the loopback: of what was dropped at its own end a sender would know,
 * and send no more of them.
 */
static bool lose(const struct live *live)
{
	char rules[4096] = "table netdev lost {\n"
			   "chain out { type filter hook egress device cli0 priority 0; }\n"
			   "chain in { type filter hook ingress device cli0 priority 0; }\n"
			   "}\n";
	size_t length = strlen(rules);

	for (unsigned int i = 0; i < ARRAY_SIZE(losses); i++) {
		const struct loss *loss = &losses[i];

		for (unsigned int port = 4000 + i; port <= 4100 + i; port += 100)
			length += (size_t)snprintf(
				rules + length, sizeof(rules) - length,
				"add rule netdev lost %s %s %u %s numgen inc mod 1000000 < %u "
				"counter fwd to lo\n",
				loss->out ? "out" : "in", loss->out ? "tcp sport" : "tcp dport",
				port, loss->which, loss->first);
	}
	return CHECK("the rules fit", length < sizeof(rules)) &&
	       live_write(live, "lost.nft", rules);
}

/* The ports of all, as the clients print them. */
static void print_ports(char *text, size_t size)
{
	size_t length = 0;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(losses); i++)
		length += (size_t)snprintf(text + length, size - length, "%s%zu", i ? " " : "",
					   4000 + i % ARRAY_SIZE(losses) +
						   i / ARRAY_SIZE(losses) * 100);
	snprintf(text + length, size - length, "\n");
}

static void test_lost(void)
{
	autooutput struct output output = {};
	char bodies[256] = "", ports[512];
	autolive struct live live;
	size_t length = 0;

	if (!begin(&live, "prove-lost") || !lose(&live) ||
	    !live_write(&live, "clients.py", lost_clients))
		return;
	/* Every segment is a packet of its own. */
	live_shell(&live, LIVE_CLIENT, "ip link set cli0 gso_max_segs 1; nft -f %s/lost.nft",
		   live.directory);
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		length += (size_t)snprintf(bodies + length, sizeof(bodies) - length, " %u",
					   losses[i].body);
	output = process_shell(live.netns[LIVE_CLIENT],
			       "python3 %s/clients.py " SERVER_IPV4 " " SERVER_IPV6 "%s 2>&1",
			       live.directory, bodies);
	print_ports(ports, sizeof(ports));
	CHECK_STR_EQ("all are served", output.text, ports);
	CHECK_EQ("each is charged once", charged(&live), 2 * ARRAY_SIZE(losses));
	CHECK("some segments came too early", packets(&live, "unproven") > 0);
	live_shell(&live, LIVE_CLIENT,
		   "test $(nft list table netdev lost | grep -c 'packets [1-9].* fwd') = %zu",
		   2 * ARRAY_SIZE(losses));
}

/* The same port again and again, while the host still keeps it of the time before. */
static const char same_port[] = "import socket, sys\n"
				"n = 0\n"
				"for i in range(30):\n"
				"    s = socket.socket()\n"
				"    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
				"    s.settimeout(9)\n"
				"    s.bind(('', 6000))\n"
				"    s.connect((sys.argv[1], 80))\n"
				"    s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
				"    n += b'the service' in s.makefile('rb').read()\n"
				"    s.close()\n"
				"print(n)\n";

static void test_time_wait(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!begin(&live, "prove-tw") || !live_write(&live, "same.py", same_port))
		return;
	output = process_shell(live.netns[LIVE_CLIENT], "python3 %s/same.py " SERVER_IPV4 " 2>&1",
			       live.directory);
	CHECK_STR_EQ("30 connections from one port are served", output.text, "30\n");
	CHECK_EQ("and charged", charged(&live), 30);
	CHECK_EQ("of which one met no connection before it", packets(&live, "challenged"), 1);
}

CHECK_SUITE(prove_lost, { "lost segments", test_lost }, { "TIME_WAIT", test_time_wait });
