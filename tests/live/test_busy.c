/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Refused clients that are told so in their own language, and a service that sees none of it. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "process.h"
#include "util.h"

#define CONFIG_OF(interface, mode, limit)                                                          \
	"interfaces: {" interface ": {mode: " mode "}}\n"                                          \
	"rate_limiters:\n"                                                                         \
	"  one: {algorithm: token_bucket, limit: " limit ", window: 1h}\n"                         \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], app_protocol: http, rate_limiter_name: one}\n"                       \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"
#define CONFIG(interface, mode) CONFIG_OF(interface, mode, "1")

#define BODY "Too Many Requests\n"

#define WRITE "-s -o /dev/null -w '%{http_code} %{size_download} %header{retry-after} %{errormsg}'"

/* What curl says of a request with these @options that is refused. */
static void check_refused(const struct live *live, enum live_side side, const char *what,
			  const char *options)
{
	autooutput struct output output = process_shell(
		live->netns[side], "cd %s && curl -m 5 %s %s", live->directory, WRITE, options);
	unsigned int status = 0, size = 0, wait = 0;
	int end = 0;

	CHECK_EQ(what, output.code, 0);
	if (!CHECK_EQ(what, sscanf(output.text, "%u %u %u %n", &status, &size, &wait, &end), 3))
		return;
	CHECK_EQ(what, status, 429);
	CHECK_EQ(what, size, strncmp(options, "-I", 2) == 0 ? 0 : strlen(BODY));
	CHECK("it is told when to come back", wait > 300 && wait <= 3600);
	CHECK_STR_EQ("and meets no mistake", output.text + end, "");
}

/* Every kind of request; and nothing of any of them at the service's host. */
static void check_requests(const struct live *live, enum live_side side, const char *ipv4,
			   const char *ipv6)
{
	static const struct {
		const char *what, *options;
		bool ipv6;
	} rows[] = {
		{ "GET over IPv4", "", false },
		{ "GET over IPv6", "-g", true },
		{ "HEAD over IPv4", "-I", false },
		{ "HEAD over IPv6", "-I -g", true },
		{ "a request of three segments", "-H X-Long:$(printf %03000d 0)", false },
		{ "POST of ten megabytes", "--data-binary @upload", false },
		{ "POST without a pause", "-H Expect: --data-binary @upload", false },
	};
	char options[256];

	live_shell(live, side, "head -c 10000000 /dev/zero >%s/upload", live->directory);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(options, sizeof(options), "%s http://%s/", rows[i].options,
			 rows[i].ipv6 ? ipv6 : ipv4);
		check_refused(live, side, rows[i].what, options);
	}
}

static void use_up(const struct live *live, enum live_side side, const char *ipv4, const char *ipv6)
{
	live_shell(live, side, "curl -sf -m 5 http://%s/", ipv4);
	live_shell(live, side, "curl -sfg -m 5 http://%s/", ipv6);
}

static void check_from_client(const struct live *live)
{
	long long before;

	use_up(live, LIVE_CLIENT, SERVER_IPV4, "[" SERVER_IPV6 "]");
	before = live_counter(live, LIVE_SERVER, "TcpInSegs");
	check_requests(live, LIVE_CLIENT, SERVER_IPV4, "[" SERVER_IPV6 "]");
	CHECK_EQ("the service's host meets no segment of them",
		 live_counter(live, LIVE_SERVER, "TcpInSegs") - before, 0);
}

static void test_generic(void)
{
	autolive struct live live;

	if (live_begin(&live, "busy-generic") && live_start_web(&live) &&
	    live_start(&live, CONFIG("srv0", "generic")))
		check_from_client(&live);
}

static void test_native(void)
{
	autolive struct live live;

	if (live_begin(&live, "busy-native") && live_peer_native(&live) && live_start_web(&live) &&
	    live_start(&live, CONFIG("srv0", "native")))
		check_from_client(&live);
}

static void test_loopback(void)
{
	autolive struct live live;

	if (!live_begin(&live, "busy-lo") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("lo", "generic")))
		return;
	use_up(&live, LIVE_SERVER, "127.0.0.1", "[::1]");
	check_requests(&live, LIVE_SERVER, "127.0.0.1", "[::1]");
}

static const char proxy_config[] = "defaults\n"
				   "	mode http\n"
				   "	timeout connect 3s\n"
				   "	timeout client 10s\n"
				   "	timeout server 10s\n"
				   "frontend web\n"
				   "	bind 127.0.0.1:8080\n"
				   "	default_backend nodes\n"
				   "backend nodes\n"
				   "	option httpclose\n"
				   "	server one " SERVER_IPV4 ":80\n";

static bool proxy_answers(void *context)
{
	const struct live *live = context;
	autooutput struct output output =
		process_shell(live->netns[LIVE_CLIENT],
			      "curl -s -m 5 -o %s/answer http://127.0.0.1:8080/", live->directory);

	return output.code == 0;
}

/* HAProxy is the refused client, and hands on what it is told. */
static void test_proxy(void)
{
	char path[128], log[128];
	char *argv[] = { "haproxy", "-db", "-f", path, NULL };
	autolive struct live live;
	struct process process = { .log = log, .argv = argv };
	pid_t pid;

	if (!live_begin(&live, "busy-proxy") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0", "generic")) ||
	    !live_write(&live, "haproxy.cfg", proxy_config))
		return;
	snprintf(path, sizeof(path), "%s/haproxy.cfg", live.directory);
	snprintf(log, sizeof(log), "%s/haproxy.log", live.directory);
	process.netns = live.netns[LIVE_CLIENT];
	pid = process_start(&process);
	if (!CHECK("HAProxy starts", pid > 0))
		return;
	live.others[live.n_others++] = pid;
	if (!CHECK("and answers", live_wait(proxy_answers, &live)))
		return;
	for (int i = 0; i < 3; i++)
		check_refused(&live, LIVE_CLIENT, "through HAProxy", "http://127.0.0.1:8080/");
}

#define KEPT 10 /* connections that are open before the client is refused */

/* A request on a connection that is kept, and whether the service answers it. */
static bool is_served(int fd)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: web\r\n\r\n";
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char answer[1024] = "";

	if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0 ||
	    poll(&poll_fd, 1, LIVE_BOUND_MS) != 1)
		return false;
	return recv(fd, answer, sizeof(answer) - 1, 0) > 0 && strstr(answer, "200 OK") &&
	       strstr(answer, "the service");
}

static void test_kept(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(PORT_WEB),
					.sin_addr.s_addr = inet_addr(SERVER_IPV4) };
	int fds[KEPT];
	autolive struct live live;

	if (!live_begin(&live, "busy-kept") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG_OF("srv0", "generic", "10")))
		return;
	live_shell(&live, LIVE_CLIENT, "sysctl -qw net.ipv4.tcp_timestamps=0");
	live_enter(&live, LIVE_CLIENT);
	for (int i = 0; i < KEPT; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK_EQ("up to the limit it connects",
			 connect(fds[i], (const struct sockaddr *)&to, sizeof(to)), 0);
	}
	live_leave(&live);
	for (int round = 0; round < 20; round++) {
		check_refused(&live, LIVE_CLIENT, "a new connection is refused",
			      "http://" SERVER_IPV4 "/");
		for (int i = 0; i < KEPT; i++)
			CHECK("what is open goes on", is_served(fds[i]));
	}
	for (int i = 0; i < KEPT; i++)
		close(fds[i]);
}

/* Every third packet is lost, each way; who speaks first repeats what got no answer. */
static void test_lossy(void)
{
	autolive struct live live;

	if (!live_begin(&live, "busy-lossy") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0", "generic")))
		return;
	live_shell(&live, LIVE_CLIENT, "curl -sf -m 5 http://" SERVER_IPV4 "/");
	live_shell(&live, LIVE_CLIENT,
		   "nft 'add table inet lossy; "
		   "add chain inet lossy in { type filter hook input priority 0; }; "
		   "add chain inet lossy out { type filter hook output priority 0; }; "
		   "add rule inet lossy in tcp sport 80 numgen inc mod 3 == 2 drop; "
		   "add rule inet lossy out tcp dport 80 numgen inc mod 3 == 1 drop'");
	for (int i = 0; i < 5; i++) {
		autooutput struct output output = process_shell(
			live.netns[LIVE_CLIENT], "curl -m 9 %s http://" SERVER_IPV4 "/", WRITE);

		CHECK("it is told in the end", output.text && strncmp(output.text, "429", 3) == 0);
	}
}

#define CLIENTS "4"
#define REQUESTS "2500" /* of each */

/* Requests one after the other, from several at a time; what each of them got is in the log. */
static pid_t start_requests(const struct live *live, char log[128])
{
	char *const argv[] = { "sh",
			       "-c",
			       "for i in $(seq " CLIENTS "); do curl -s -m 5 -o /dev/null "
			       "-H 'Connection: close' -w '%{http_code} %{errormsg}\\n' "
			       "'http://" SERVER_IPV4 "/[1-" REQUESTS "]' >\"$1.$i\" & done; "
			       "wait; cat \"$1\".*",
			       "sh",
			       log,
			       NULL };
	const struct process process = {
		.netns = live->netns[LIVE_CLIENT],
		.log = log,
		.argv = argv,
	};

	snprintf(log, 128, "%s/requests.log", live->directory);
	return process_start(&process);
}

/* Reloads, one after the other, in the midst of conversations: each goes on. */
static void test_reloaded(void)
{
	autolive struct live live;
	unsigned int reloads = 0;
	int status = -1;
	char log[128];
	pid_t pid;

	if (!live_begin(&live, "busy-reloaded") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0", "generic")))
		return;
	live_shell(&live, LIVE_CLIENT, "curl -sf -m 5 http://" SERVER_IPV4 "/");
	pid = start_requests(&live, log);
	if (!CHECK("there are requests", pid > 0))
		return;
	do {
		autooutput struct output output = live_stile(&live, "reload");

		CHECK_EQ("a reload", output.code, 0);
		reloads++;
	} while (!process_wait(pid, 0, &status) && reloads < 1000);
	CHECK_EQ("all requests came to their end", status, 0);
	CHECK("there were some reloads", reloads > 1);
	live_shell(&live, LIVE_CLIENT,
		   "test $(grep -c '^429 $' %s) = $((" CLIENTS " * " REQUESTS "))", log);
}
CHECK_SUITE(busy, { "curl, generic", test_generic }, { "curl, native", test_native },
	    { "curl, loopback", test_loopback }, { "HAProxy with a shed backend", test_proxy },
	    { "open connections of who is refused", test_kept }, { "lost packets", test_lossy },
	    { "reloads in their midst", test_reloaded });
