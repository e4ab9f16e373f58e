/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A service that is slow: it accepts one connection when the test says so, sends a byte and closes.
 * So time is counted in connections served, and nothing depends on how fast the machine is. A heavy
 * client fills whatever place becomes free; without Stile the kernel loses the SYNs of all others.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define PORT 8081
#define BACKLOG 16
#define PLACES (BACKLOG + 1)
#define THRESHOLD 13 /* 80 % of the places, rounded down */
#define HEAVY CLIENT_THREE
#define LIGHTS 10 /* of CLIENT_RANGE */
#define SOCKETS_MAX 1024

#define CONFIG(keys)                                                                               \
	"interfaces: {srv0: {mode: generic}}\n"                                                    \
	"listeners: {slow: {ports: [8081]" keys "}}\n"                                             \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

struct world {
	struct live *live;
	int service;
	int sockets[SOCKETS_MAX]; /* of clients, to be closed at the end */
	unsigned int n_sockets;
	unsigned int served, served_light;
};

static void world_close(struct world *world)
{
	for (unsigned int i = 0; i < world->n_sockets; i++)
		close(world->sockets[i]);
	fd_release(&world->service);
}
#define autoworld __attribute__((cleanup(world_close)))

static bool service_open(struct world *world)
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	live_enter(world->live, LIVE_SERVER);
	world->service = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(world->live);
	return CHECK("the service listens", bind(world->service, (const struct sockaddr *)&address,
						 sizeof(address)) == 0 &&
						    listen(world->service, BACKLOG) == 0);
}

/* Connections that wait: what a listening socket says in these fields (tcp_get_info() in Linux). */
static unsigned int queued(const struct world *world)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	CHECK("the queue can be seen",
	      getsockopt(world->service, IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
	return info.tcpi_unacked;
}

/* Accepts one, if @world has one, and whether it is the heavy client's is counted. */
static void serve(struct world *world)
{
	struct pollfd waiting = { .fd = world->service, .events = POLLIN };
	struct sockaddr_in peer = {}, heavy = {};
	socklen_t size = sizeof(peer);
	int fd = -1;

	(void)inet_pton(AF_INET, HEAVY, &heavy.sin_addr); /* of our own writing */
	if (poll(&waiting, 1, LIVE_BOUND_MS) > 0)
		fd = accept4(world->service, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC);
	if (!CHECK("one is served", fd >= 0 && write(fd, "x", 1) == 1))
		return;
	close(fd);
	world->served++;
	world->served_light += peer.sin_addr.s_addr != heavy.sin_addr.s_addr;
}

/* A connection is begun. */
static int knock(struct world *world, const char *from)
{
	struct sockaddr_in source = { .sin_family = AF_INET };
	struct sockaddr_in service = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd;

	(void)inet_pton(AF_INET, from, &source.sin_addr); /* both are of our own writing */
	(void)inet_pton(AF_INET, SERVER_IPV4, &service.sin_addr);
	live_enter(world->live, LIVE_CLIENT);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	live_leave(world->live);
	if (!CHECK("a client has a socket", fd >= 0 && world->n_sockets < SOCKETS_MAX))
		return fd;
	world->sockets[world->n_sockets++] = fd;
	CHECK("at its own address", bind(fd, (struct sockaddr *)&source, sizeof(source)) == 0);
	(void)connect(fd, (struct sockaddr *)&service, sizeof(service)); /* see outcome() */
	return fd;
}

enum outcome { PENDING, CONNECTED, REFUSED };

static enum outcome outcome(int fd, int timeout_ms)
{
	struct pollfd decided = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);

	if (poll(&decided, 1, timeout_ms) <= 0)
		return PENDING;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
		return REFUSED;
	return CONNECTED;
}

/* A bound is for what must not happen: Stile decides at once. */
static enum outcome try(struct world *world, const char *from)
{
	return outcome(knock(world, from), LIVE_BOUND_MS);
}

struct filling {
	struct world *world;
	unsigned int length;
};

/* Another SYN each time: the kernel loses those that find no place. */
static bool is_filled(void *context)
{
	const struct filling *filling = context;

	if (queued(filling->world) < filling->length)
		(void)knock(filling->world, HEAVY);
	return queued(filling->world) >= filling->length;
}

static bool fill(struct world *world, unsigned int length)
{
	struct filling filling = { world, length };

	return CHECK("the heavy client fills the queue", live_wait(is_filled, &filling));
}

static bool has_byte(int fd)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&readable, 1, 0) > 0 && recv(fd, &byte, 1, 0) == 1;
}

/* The kernel alone: whoever fills the queue again keeps it. */
static void test_without(void)
{
	autolive struct live live;
	autoworld struct world world = { .live = &live, .service = -1 };
	int light;

	if (!live_begin(&live, "accept-without") || !service_open(&world) ||
	    !live_start(&live, CONFIG("")) || !fill(&world, PLACES))
		return;
	light = knock(&world, CLIENT_ONE);
	for (int i = 0; i < 2 * PLACES; i++) {
		serve(&world);
		fill(&world, PLACES);
	}
	CHECK_EQ("two queues later the light client is not even connected", outcome(light, 0),
		 PENDING);
	CHECK_EQ("all that the service did was for the heavy one", world.served_light, 0);
	printf("accept-without: %u served, a light client not\n", world.served);
}

/* @n SYNs of the heavy client, and how many of them were let in. */
static unsigned int storm(struct world *world, unsigned int n)
{
	unsigned int in = 0;

	while (n-- > 0)
		in += try(world, HEAVY) == CONNECTED;
	return in;
}

static void check_explained(const struct live *live, const char *client, const char *want)
{
	json_t *explained = live_json(live, "explain %s --listener slow", client);
	json_t *first = json_array_get(json_object_get(explained, "explanations"), 0);

	CHECK_STR_EQ("explain says so", json_string_value(json_object_get(first, "reason")), want);
	json_decref(explained);
}

static void test_with(void)
{
	autolive struct live live;
	autoworld struct world world = { .live = &live, .service = -1 };
	unsigned int before;
	int light;

	if (!live_begin(&live, "accept-with") || !service_open(&world) ||
	    !live_start(&live, CONFIG(", accept_queue_limit: 80%")))
		return;
	CHECK_EQ("the heavy client is shed from the limit on", storm(&world, 100), THRESHOLD);
	CHECK_EQ("so that places are left", queued(&world), THRESHOLD);
	light = knock(&world, CLIENT_ONE);
	CHECK_EQ("for a light one", outcome(light, LIVE_BOUND_MS), CONNECTED);
	before = world.served;
	while (!has_byte(light) && world.served - before <= PLACES) {
		serve(&world);
		storm(&world, 10);
	}
	CHECK("who is served when those before it are", world.served - before <= THRESHOLD + 1);
	CHECK_EQ("once", world.served_light, 1);
	printf("accept-with: a light client served after %u others\n", world.served - before - 1);
	check_explained(&live, HEAVY, "accept_queue");
	check_explained(&live, CLIENT_TWO, "unlimited");
	CHECK("status tells of the queue", live_metric_now(&live, "stile_accept_queue_length",
							   "listener=\"slow\"") == queued(&world));
	CHECK("and metrics of who was shed",
	      live_metric_now(&live, "stile_packets_total",
			      "reason=\"accept_queue\",verdict=\"reply\"") > 0);
}

/* The heavy client asks four times as often as all of the ten together. */
static void test_ten(void)
{
	autolive struct live live;
	autoworld struct world world = { .live = &live, .service = -1 };
	unsigned int in = 0, heavy_in = 0, above = 0;
	char from[32];

	if (!live_begin(&live, "accept-ten") || !service_open(&world) ||
	    !live_start(&live, CONFIG(", accept_queue_limit: 80%")))
		return;
	storm(&world, 100);
	for (int i = 0; i < LIGHTS; i++) {
		snprintf(from, sizeof(from), "10.77.1.%d", 100 + i);
		in += try(&world, from) == CONNECTED;
		above += storm(&world, 4);
		serve(&world);
		heavy_in += storm(&world, 4);
	}
	CHECK_EQ("each of ten light clients is let in at its first SYN", in, LIGHTS);
	CHECK_EQ("the heavy one never above the limit", above, 0);
	CHECK_EQ("nor while each that is served makes place for a light one", heavy_in, 0);
	while (queued(&world) > 0)
		serve(&world);
	CHECK_EQ("and all are served", world.served_light, LIGHTS);
	CHECK_EQ("the heavy one, too, once there is room", storm(&world, 1), 1);
}

CHECK_SUITE(accept, { "a slow service without a limit", test_without },
	    { "with one, a light client is served in its turn", test_with },
	    { "one heavy client and ten light ones", test_ten });
