/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handshakes of clients that have to prove their source, whose segments get lost, come twice, late,
 * or in another order. Each connection is charged once, and none is made for nothing.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "process.h"
#include "segments.h"
#include "sockets.h"
#include "util.h"

#define CONFIG                                                                                     \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {wide: {limit: 100000, window: 1h}}\n"                                     \
	"listeners:\n"                                                                             \
	"  web: {ports: [80, 83], prove_sources: always, rate_limiter_name: wide}\n"               \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

#define PORT_OUTWARD 83
#define QUIET_MS 50 /* in which an answer would have come */
#define GET "GET / HTTP/1.1\r\nHost: web\r\n\r\n"
#define GET_LAST "GET / HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n"

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
	"    s.sendall(b'POST / HTTP/1.1\\r\\nHost: web\\r\\nContent-Length: %d\\r\\n\\r\\n' % body "
	"+ b'x' * body)\n"
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

struct scene {
	struct live *live;
	struct segments client;
	uint32_t cookie; /* the number of Stile's SYN */
};

/* @at: how far behind its SYN; @theirs: how many bytes of the service's it has. */
static void say(const struct scene *scene, uint8_t flags, uint32_t at, uint32_t theirs,
		const char *body)
{
	const struct segment segment = {
		.flags = flags,
		.sequence = SEGMENTS_ISN + at,
		.acknowledgment = flags & SEGMENT_ACK ? scene->cookie + 1 + theirs : 0,
		.body = body,
	};

	CHECK("a segment is sent", segments_send(&scene->client, &segment));
}

static bool hears(const struct scene *scene, uint8_t flags, int bound_ms,
		  struct segment *ret_segment)
{
	return segments_await(&scene->client, flags, bound_ms, ret_segment);
}

/* The client of @port, whose SYN is answered. */
static bool open_scene(struct scene *scene, uint16_t port)
{
	struct segment segment;

	scene->client = (struct segments){ .from = CLIENT_ONE,
					   .to = SERVER_IPV4,
					   .port = port,
					   .to_port = PORT_WEB,
					   .out = -1,
					   .in = -1 };
	live_enter(scene->live, LIVE_CLIENT);
	CHECK("there are raw sockets", segments_open(&scene->client));
	live_leave(scene->live);
	say(scene, SEGMENT_SYN, 0, 0, NULL);
	if (!CHECK("a SYN is answered",
		   hears(scene, SEGMENT_SYN | SEGMENT_ACK, LIVE_BOUND_MS, &segment)))
		return false;
	scene->cookie = segment.sequence;
	return CHECK_EQ("and acknowledged", segment.acknowledgment, SEGMENTS_ISN + 1);
}

/* Whether all of the request is acknowledged, and something answered. */
static bool is_answered(const struct scene *scene, const char *request)
{
	struct segment segment;

	return hears(scene, SEGMENT_PSH | SEGMENT_ACK, LIVE_BOUND_MS, &segment) &&
	       segment.size > 0 && segment.sequence == scene->cookie + 1 &&
	       segment.acknowledgment == SEGMENTS_ISN + 1 + strlen(request);
}

static void scene_end(struct scene *scene)
{
	segments_close(&scene->client);
}
#define autoscene __attribute__((cleanup(scene_end)))

static void check_twice(struct live *live)
{
	autoscene struct scene scene = { .live = live };
	long long before = charged(live);
	struct segment segment;

	if (!open_scene(&scene, 5000))
		return;
	say(&scene, SEGMENT_SYN, 0, 0, NULL);
	CHECK("a SYN that is sent again is answered again",
	      hears(&scene, SEGMENT_SYN | SEGMENT_ACK, LIVE_BOUND_MS, &segment));
	scene.cookie = segment.sequence;
	for (int i = 0; i < 3; i++)
		say(&scene, SEGMENT_ACK, 1, 0, NULL);
	say(&scene, SEGMENT_ACK | SEGMENT_PSH, 1, 0, GET);
	CHECK("an ACK that comes three times makes a connection", is_answered(&scene, GET));
	CHECK_EQ("one", charged(live) - before, 1);
}

/* The ACK and the first half are late: a connection is not made of the second. */
static void check_order(struct live *live)
{
	autoscene struct scene scene = { .live = live };
	long long before = charged(live), early = packets(live, "unproven");
	struct segment segment;

	if (!open_scene(&scene, 5001))
		return;
	say(&scene, SEGMENT_ACK | SEGMENT_PSH, 11, 0, GET + 10);
	CHECK("the second half is not refused", !hears(&scene, SEGMENT_RST, QUIET_MS, &segment));
	CHECK_EQ("it waits", packets(live, "unproven") - early, 1);
	CHECK_EQ("for nothing", charged(live) - before, 0);
	say(&scene, SEGMENT_ACK, 1, 0, "GET / HTTP");
	say(&scene, SEGMENT_ACK, 1, 0, NULL);
	say(&scene, SEGMENT_ACK | SEGMENT_PSH, 11, 0, GET + 10);
	CHECK("and is taken behind the first", is_answered(&scene, GET));
	CHECK_EQ("and charged once", charged(live) - before, 1);
}

struct wish {
	const struct live *live;
	long long sockets;
};

static bool are_open(void *context)
{
	const struct wish *wish = context;

	return live_ss(wish->live, PORT_WEB) == wish->sockets;
}

/* A whole conversation, in which either side closes first. */
static void converse(const struct scene *scene, const char *request, bool client_closes)
{
	const uint32_t end = 1 + (uint32_t)strlen(request);
	struct segment segment = {};

	say(scene, SEGMENT_ACK, 1, 0, NULL);
	say(scene, SEGMENT_ACK | SEGMENT_PSH, 1, 0, request);
	if (client_closes) {
		CHECK("it is served", hears(scene, SEGMENT_PSH, LIVE_BOUND_MS, &segment));
		say(scene, SEGMENT_ACK | SEGMENT_FIN, end, segment.size, NULL);
	}
	CHECK("the service closes", hears(scene, SEGMENT_FIN, LIVE_BOUND_MS, &segment));
	say(scene, client_closes ? SEGMENT_ACK : SEGMENT_ACK | SEGMENT_FIN, end + client_closes,
	    segment.sequence + segment.size - scene->cookie, NULL);
}

/* Who closes first keeps the tuple for a while; who does not has nothing that would know it. */
static void check_replay(struct live *live, uint16_t port, bool client_closes)
{
	autoscene struct scene scene = { .live = live };
	struct wish wish = { live, live_ss(live, PORT_WEB) };
	struct segment segment;
	long long before;

	if (!open_scene(&scene, port))
		return;
	converse(&scene, client_closes ? GET : GET_LAST, client_closes);
	CHECK("the connection has ended", live_wait(are_open, &wish));
	before = charged(live);
	say(&scene, SEGMENT_ACK, 1, 0, NULL);
	if (client_closes) {
		CHECK_EQ("an ACK of before is charged", charged(live) - before, 1);
		say(&scene, SEGMENT_RST, 1, 0, NULL);
	} else {
		CHECK("an ACK of before is out of date",
		      hears(&scene, SEGMENT_ACK, LIVE_BOUND_MS, &segment));
		CHECK_EQ("and charged to nobody", charged(live) - before, 0);
	}
	CHECK("no connection is left of it", live_wait(are_open, &wish));
}

/* A RST between the SYN and the ACK changes nothing: nothing is kept that it could end. */
static void check_reset(struct live *live)
{
	autoscene struct scene scene = { .live = live };
	long long before = charged(live);
	struct wish wish = { live, live_ss(live, PORT_WEB) };

	if (!open_scene(&scene, 5004))
		return;
	say(&scene, SEGMENT_RST, 1, 0, NULL);
	CHECK_EQ("it costs nothing", charged(live) - before, 0);
	say(&scene, SEGMENT_ACK, 1, 0, NULL);
	say(&scene, SEGMENT_ACK | SEGMENT_PSH, 1, 0, GET);
	CHECK("who goes on in spite of it is served", is_answered(&scene, GET));
	CHECK_EQ("and charged", charged(live) - before, 1);
	say(&scene, SEGMENT_RST, 1 + (uint32_t)strlen(GET), 0, NULL);
	CHECK("and may end it so", live_wait(are_open, &wish));
}

/* A connection that begins here, from a port that proves. */
static int open_outward(const struct live *live, uint16_t port)
{
	struct endpoint from, to;
	char text[64];
	autofd int fd = -1;

	snprintf(text, sizeof(text), CLIENT_ONE ":%u", port);
	(void)endpoint_parse(text, &to);
	(void)endpoint_parse(SERVER_IPV4 ":83", &from);
	live_enter(live, LIVE_SERVER);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	live_leave(live);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&from.address, from.length) < 0 ||
	    (connect(fd, (const struct sockaddr *)&to.address, to.length) < 0 &&
	     errno != EINPROGRESS))
		return -1;
	return take_fd(&fd);
}

/* Both sides begin at once (RFC 9293, 3.5): there is a socket here, and Stile lets it be. */
static void check_simultaneous(struct live *live)
{
	autoscene struct scene scene = { .live = live };
	struct pollfd writable = { .fd = -1, .events = POLLOUT };
	struct segment segment;
	autofd int fd = -1;
	int error = -1;
	socklen_t size = sizeof(error);

	scene.client = (struct segments){ CLIENT_ONE, SERVER_IPV4, 5005, PORT_OUTWARD, -1, -1 };
	live_enter(live, LIVE_CLIENT);
	CHECK("there are raw sockets", segments_open(&scene.client));
	live_leave(live);
	fd = open_outward(live, 5005);
	CHECK("the host's SYN arrives",
	      fd >= 0 && hears(&scene, SEGMENT_SYN, LIVE_BOUND_MS, &segment));
	scene.cookie = segment.sequence;
	say(&scene, SEGMENT_SYN, 0, 0, NULL);
	CHECK("the client's is answered by the host itself",
	      hears(&scene, SEGMENT_SYN | SEGMENT_ACK, LIVE_BOUND_MS, &segment));
	CHECK_EQ("with the number of its own", segment.sequence, scene.cookie);
	say(&scene, SEGMENT_SYN | SEGMENT_ACK, 0, 0, NULL);
	writable.fd = fd;
	CHECK("they are connected",
	      poll(&writable, 1, LIVE_BOUND_MS) == 1 &&
		      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
}

static void test_by_hand(void)
{
	autolive struct live live;

	if (!begin(&live, "prove-hand"))
		return;
	live_shell(&live, LIVE_CLIENT, "%s", segments_quiet);
	check_twice(&live);
	check_order(&live);
	check_replay(&live, 5002, true);
	check_replay(&live, 5003, false);
	check_reset(&live);
	check_simultaneous(&live);
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

CHECK_SUITE(prove_segments, { "lost segments", test_lost }, { "segments by hand", test_by_hand },
	    { "TIME_WAIT", test_time_wait });
