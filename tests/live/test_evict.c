/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* on_limit: evict-idle: a client's longest idle connection makes room for its new one. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 3
#define REQUEST "GET / HTTP/1.1\r\nHost: web\r\n\r\n"

#define CONFIG(more)                                                                               \
	"interfaces: {srv0: {mode: generic}}\n"                                                    \
	"rate_limiters: {held: {algorithm: concurrency, limit: 3}}\n"                              \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: held, on_limit: evict-idle" more "}\n"            \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

/* A connection of @from to the web server, begun where it is not to be waited for; -1: none. */
static int connect_from(const struct live *live, const char *from, bool wait)
{
	struct timeval bound = { .tv_sec = LIVE_BOUND_MS / 1000 };
	struct endpoint source, target;
	autofd int fd = -1;

	if (endpoint_parse_address(from, &source) < 0 ||
	    endpoint_parse(SERVER_IPV4 ":80", &target) < 0)
		return -1;
	live_enter(live, LIVE_CLIENT);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(live);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof(bound)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof(bound)) < 0 ||
	    bind(fd, (struct sockaddr *)&source.address, source.length) < 0 ||
	    fcntl(fd, F_SETFL, wait ? 0 : O_NONBLOCK) < 0 ||
	    (connect(fd, (struct sockaddr *)&target.address, target.length) < 0 &&
	     errno != EINPROGRESS))
		return -1;
	return take_fd(&fd);
}

/* Data both ways. */
static bool works(int fd)
{
	char answer[512];

	return send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) == (ssize_t)strlen(REQUEST) &&
	       recv(fd, answer, sizeof(answer), 0) > 0;
}

static bool is_reset(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
}

/* The new one, and those that work meanwhile. */
struct crowd {
	int more, at_work[2];
};

static bool is_in(void *context)
{
	const struct crowd *crowd = context;
	struct pollfd more = { .fd = crowd->more, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);

	for (size_t i = 0; i < ARRAY_SIZE(crowd->at_work); i++)
		if (!works(crowd->at_work[i]))
			return false;
	return poll(&more, 1, 50) == 1 &&
	       getsockopt(crowd->more, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0 &&
	       fcntl(crowd->more, F_SETFL, 0) == 0;
}

static void check_longest_idle(const char *name, const char *config)
{
	int fds[LIMIT], other;
	struct crowd crowd;
	autolive struct live live;

	if (!live_begin(&live, name) || !live_start_web(&live) || !live_start(&live, config))
		return;
	other = connect_from(&live, CLIENT_TWO, true);
	for (int i = 0; i < LIMIT; i++) {
		fds[i] = connect_from(&live, CLIENT_ONE, true);
		CHECK("there is a place", fds[i] >= 0);
	}
	live_check_explained(&live, CLIENT_ONE, "evicting");
	live_check_explained(&live, CLIENT_TWO, "allowed");
	crowd = (struct crowd){ connect_from(&live, CLIENT_ONE, false), { fds[0], fds[2] } };
	CHECK("one more than the limit gets in", live_wait(is_in, &crowd) && works(crowd.more));
	CHECK("for the one that is idle, which is closed", is_reset(fds[1]));
	CHECK("one that works stays", works(fds[0]));
	CHECK("and so does the other", works(fds[2]));
	CHECK("and another client's, however idle", works(other));
	CHECK_EQ("it is counted",
		 live_metric_now(&live, "stile_connections_evicted_total", "listener=\"web\""), 1);
	for (int i = 0; i < LIMIT; i++)
		close(fds[i]);
	close(other);
	close(crowd.more);
}

static void test_longest_idle(void)
{
	check_longest_idle("evict", CONFIG(""));
}

/* A client that could be told that it is refused proves itself all the same: it may get in. */
static void test_proven(void)
{
	check_longest_idle("evict-proven", CONFIG(", app_protocol: http, prove_sources: always"));
}

CHECK_SUITE(evict, { "the longest idle one", test_longest_idle },
	    { "where sources are proven", test_proven });
