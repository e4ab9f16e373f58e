/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handshakes of clients that have to prove their source, segment by segment: twice, late, out of
 * order, or of a connection that was. Each is charged once, and none is made for nothing.
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
	struct segment segment = {};
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

CHECK_SUITE(prove_segments, { "segments by hand", test_by_hand });
