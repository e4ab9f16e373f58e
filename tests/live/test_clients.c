/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of the daemon that mean it no good, or do not know better: thousands of them, slow, half,
 * huge. Beside them it answers all others, and does all else.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20
#define CLIENTS 2000
#define HALF "GET /metrics HTTP/1.1\r\nHost: "

#define CONFIG                                                                                     \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {per-client: {limit: 20, window: 1h}}\n"                                   \
	"listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"                         \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static int connect_http(const struct live *live)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT_METRICS),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	autofd int fd = -1;

	live_enter(live, LIVE_SERVER);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(live);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return take_fd(&fd);
}

static int connect_control(const struct live *live)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/run/stile/%s.sock", live->instance);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return take_fd(&fd);
}

/* Connects CLIENTS times and says @half of a request each time; how many could connect. */
static unsigned int crowd(const struct live *live, int (*connect_one)(const struct live *live),
			  const char *half, int fds[CLIENTS])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < CLIENTS; i++) {
		fds[i] = connect_one(live);
		n += fds[i] >= 0;
		(void)send(fds[i], half, strlen(half), MSG_NOSIGNAL); /* it may be closed by now */
	}
	return n;
}

static void disperse(const int fds[CLIENTS])
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		fd_release(&fds[i]);
}

static void check_goes_on(const struct live *live)
{
	autooutput struct output output = live_stile(live, "reload");

	CHECK_EQ("a reload is done", output.code, 0);
	CHECK_EQ("metrics are served",
		 live_metric_now(live, "stile_attached", "interface=\"srv0\""), 1);
}

static bool may_open_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return false;
	if (limit.rlim_cur < 2 * CLIENTS)
		limit.rlim_cur = 2 * CLIENTS;
	return CHECK("the test may open as many files",
		     limit.rlim_cur <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void test_crowd(void)
{
	static const struct {
		const char *what, *half;
		int (*connect_one)(const struct live *live);
	} rows[] = {
		{ "half a page asked for", HALF, connect_http },
		{ "nothing", "", connect_http },
		{ "half a line of control", "relo", connect_control },
	};
	autofree int *fds = calloc(CLIENTS, sizeof(*fds));
	autolive struct live live;

	if (!fds || !may_open_many() || !live_begin(&live, "clients") || !live_start(&live, CONFIG))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(rows[i].what, crowd(&live, rows[i].connect_one, rows[i].half, fds),
			 CLIENTS);
		check_goes_on(&live);
		disperse(fds);
		check_goes_on(&live);
	}
}

/* What a line of shell on the server's side prints. */
static void check_prints(const struct live *live, const char *what, const char *line,
			 const char *want)
{
	autooutput struct output output = process_shell(live->netns[LIVE_SERVER], "%s", line);

	if (!CHECK_STR_EQ(what, output.text, want))
		printf("%s\n", line);
}

static void test_odd(void)
{
	static const struct {
		const char *what, *line, *want;
	} rows[] = {
		{ "a header of 1 MB",
		  "{ printf 'GET /metrics HTTP/1.1\\r\\nX: '; head -c 1000000 /dev/zero | tr "
		  "'\\0' x; } | socat -t 5 - TCP:127.0.0.1:9466 2>/dev/null | head -n 1",
		  "HTTP/1.1 431 Request Header Fields Too Large\r\n" },
		{ "a client that says no more after its request",
		  "printf 'GET /healthz HTTP/1.1\\r\\n\\r\\n' | socat -t 5 - TCP:127.0.0.1:9466 | "
		  "tail -n 1",
		  "ok\n" },
		{ "two requests at once: the first is answered, and the connection closed",
		  "printf 'GET /healthz HTTP/1.1\\r\\n\\r\\nGET /healthz HTTP/1.1\\r\\n\\r\\n' | "
		  "socat -t 5 - TCP:127.0.0.1:9466 | grep -c -e '^ok' -e '^Connection: close'",
		  "2\n" },
		{ "bytes that are no request",
		  "head -c 20000 /dev/urandom | socat -t 5 - TCP:127.0.0.1:9466 2>/dev/null | "
		  "grep -c '^HTTP/1.1 4'",
		  "1\n" },
		{ "half a request, and the end",
		  "printf 'GET /hea' | socat -t 5 - TCP:127.0.0.1:9466 | wc -c", "0\n" },
	};
	autolive struct live live;

	if (!live_begin(&live, "odd") || !live_start(&live, CONFIG))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_prints(&live, rows[i].what, rows[i].line, rows[i].want);
	check_goes_on(&live);
}

CHECK_SUITE(clients, { "thousands that are slow", test_crowd },
	    { "huge, half, and many requests in one", test_odd });
