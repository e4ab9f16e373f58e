/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A UDP echo service whose datagrams are limited: silence, or an ICMP port unreachable. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "traffic/ping.h"
#include "util.h"

#define LIMIT 20
#define DATAGRAMS 50
#define ECHO_IPV4 SERVER_IPV4 ":7"
#define ECHO_IPV6 "[" SERVER_IPV6 "]:7"

#define CONFIG(action)                                                                             \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters:\n"                                                                         \
	"  echo-client: {limit: 20, window: 1h, unit: datagrams, action: " action "}\n"            \
	"listeners:\n"                                                                             \
	"  echo: {protocol: udp, ports: [7], rate_limiter_name: echo-client}\n"                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static bool ping(const struct live *live, const char *from, const char *to,
		 struct ping_result *ret_result)
{
	struct ping_plan plan = { .count = DATAGRAMS, .timeout_ms = 500 };
	int r = endpoint_parse(to, &plan.target);

	if (r == 0)
		r = sources_parse(from, &plan.sources);
	live_enter(live, LIVE_CLIENT);
	if (r == 0)
		r = ping_run(&plan, ret_result);
	live_leave(live);
	return CHECK_EQ("the client can send", r, 0);
}

static void test_drop(void)
{
	struct ping_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "udp-drop") || !live_start_echo(&live) ||
	    !live_start(&live, CONFIG("reject")) || !ping(&live, CLIENT_ONE, ECHO_IPV4, &result))
		return;
	CHECK_EQ("exactly the limit is answered", result.answered, LIMIT);
	CHECK_EQ("the others are met with silence", result.lost, DATAGRAMS - LIMIT);
	CHECK_EQ("they are counted",
		 live_metric_now(&live, "stile_ratelimit_decisions_total",
				 "limiter=\"echo-client\",listener=\"echo\",result=\"limited\""),
		 DATAGRAMS - LIMIT);
	CHECK_EQ("the decisions add up to the datagrams",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", ""), DATAGRAMS);
	ping_release(&result);
}

/* A plain connected socket over the limit: the error that an application sees. */
static int error_seen(const struct live *live, const char *from, const char *to)
{
	struct endpoint target, source;
	struct pollfd poll_fd = { .events = POLLIN };
	autofd int fd = -1;
	char byte = 0;

	(void)endpoint_parse(to, &target);
	(void)endpoint_parse_address(from, &source);
	live_enter(live, LIVE_CLIENT);
	fd = endpoint_socket(&target, &source, SOCK_DGRAM);
	live_leave(live);
	if (fd < 0 || connect(fd, (struct sockaddr *)&target.address, target.length) < 0 ||
	    send(fd, &byte, 1, 0) != 1)
		return -1;
	poll_fd.fd = fd;
	if (poll(&poll_fd, 1, LIVE_BOUND_MS) != 1)
		return 0;
	return recv(fd, &byte, 1, 0) < 0 ? errno : 0;
}

static void check_reset(const struct live *live, const char *from, const char *to)
{
	struct ping_result result = {};

	if (!ping(live, from, to, &result))
		return;
	CHECK_EQ("exactly the limit is answered", result.answered, LIMIT);
	CHECK_EQ("the others are refused by ICMP", result.refused, DATAGRAMS - LIMIT);
	CHECK_EQ("none is lost", result.lost, 0);
	CHECK_EQ("a plain connected socket sees ECONNREFUSED", error_seen(live, from, to),
		 ECONNREFUSED);
	ping_release(&result);
}

static void test_reset(void)
{
	autolive struct live live;

	if (!live_begin(&live, "udp-reset") || !live_start_echo(&live) ||
	    !live_start(&live, CONFIG("reset")))
		return;
	check_reset(&live, CLIENT_ONE, ECHO_IPV4);
	check_reset(&live, CLIENT_SIX_ONE, ECHO_IPV6);
	CHECK_EQ("the replies are counted",
		 live_metric_now(&live, "stile_replies_total", "kind=\"icmp\""),
		 2 * (DATAGRAMS - LIMIT + 1));
}

static void test_reset_native(void)
{
	autolive struct live live;

	if (!live_begin(&live, "udp-native") || !live_peer_native(&live) ||
	    !live_start_echo(&live) ||
	    !live_start(&live, "interfaces: {srv0: {mode: native}}\n"
			       "rate_limiters:\n"
			       "  echo-client: {limit: 20, window: 1h, unit: datagrams, "
			       "action: reset}\n"
			       "listeners:\n"
			       "  echo: {protocol: udp, ports: [7], "
			       "rate_limiter_name: echo-client}\n"))
		return;
	check_reset(&live, CLIENT_ONE, ECHO_IPV4);
	check_reset(&live, CLIENT_SIX_ONE, ECHO_IPV6);
}

static void check_sessions(const struct live *live, const char *what)
{
	CHECK_EQ(what, live_metric_now(live, "stile_sessions", "state=\"open\""), 1);
	CHECK_EQ(what, live_metric_now(live, "stile_sessions", "state=\"held\""), 1);
}

/* They live through a reload, and through the daemon's death. */
static void check_they_stay(struct live *live)
{
	autooutput struct output output = live_stile(live, "reload");

	CHECK_EQ("the configuration is loaded again", output.code, 0);
	check_sessions(live, "one is open and one is held after a reload");
	(void)live_stop(live, SIGKILL);
	if (live_start_again(live))
		check_sessions(live, "one is open and one is held after the daemon's death");
}

/* Datagrams of one socket are one session; those of another one are refused and held. */
static void test_sessions(void)
{
	const char config[] =
		"interfaces: {srv0: {}}\n"
		"rate_limiters: {echo-client: {limit: 1, window: 1h}}\n"
		"listeners:\n"
		"  echo: {protocol: udp, ports: [7], rate_limiter_name: echo-client}\n"
		"metrics: {listen: \"127.0.0.1:9466\"}\n";
	struct ping_result first = {}, second = {};
	autolive struct live live;

	if (!live_begin(&live, "udp-sessions") || !live_start_echo(&live) ||
	    !live_start(&live, config) || !ping(&live, CLIENT_ONE, ECHO_IPV4, &first) ||
	    !ping(&live, CLIENT_ONE, ECHO_IPV4, &second))
		return;
	CHECK_EQ("every datagram of the session is answered", first.answered, DATAGRAMS);
	CHECK_EQ("none of another one is", second.answered, 0);
	CHECK_EQ("one is let in",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", "result=\"allowed\""),
		 1);
	CHECK_EQ("one is refused",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", "result=\"limited\""),
		 1);
	CHECK_EQ("the others of the first are no events",
		 live_metric_now(&live, "stile_packets_total", "reason=\"session\""),
		 DATAGRAMS - 1);
	CHECK_EQ("nor are those of the second",
		 live_metric_now(&live, "stile_packets_total", "reason=\"held\""), DATAGRAMS - 1);
	check_sessions(&live, "one is open and one is held");
	check_they_stay(&live);
	ping_release(&first);
	ping_release(&second);
}

CHECK_SUITE(udp, { "reject: silence past the limit", test_drop },
	    { "reset: port unreachable past the limit", test_reset },
	    { "reset in native mode", test_reset_native }, { "sessions", test_sessions });
