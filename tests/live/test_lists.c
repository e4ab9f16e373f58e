/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients with a rule of their own: trusted, blocked, sources; in the file and by command. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 5

static const char config[] = "interfaces: {srv0: {}}\n"
			     "trusted: [10.77.1.10]\n"
			     "blocked: [10.77.1.11, \"fd77:2::/64\"]\n"
			     "rate_limiters:\n"
			     "  per-client: {limit: 5, window: 1h}\n"
			     "  more: {limit: 8, window: 1h}\n"
			     "listeners:\n"
			     "  web:\n"
			     "    ports: [80]\n"
			     "    rate_limiter_name: per-client\n"
			     "    sources:\n"
			     "      10.77.1.96/27: none\n"
			     "      10.77.1.101: more\n"
			     "metrics: {listen: \"127.0.0.1:9466\"}\n";

#define DECISIONS "stile_ratelimit_decisions_total"

static bool begin(struct live *live, const char *name)
{
	return live_begin(live, name) && live_start_web(live) && live_start(live, config);
}

/* Blocked is silence: 1 where a connection that is given 300 ms gets no answer at all. */
static int is_silent(const struct live *live, const char *from, const char *to)
{
	const struct live_storm storm = {
		.from = from,
		.to = to,
		.connections = 1,
		.timeout_ms = 300,
	};
	autoresult struct engine_result result = {};

	return live_connect(live, &storm, &result) && result.outcomes[ENGINE_TIMED_OUT] == 1;
}

static void test_file(void)
{
	autolive struct live live;

	if (!begin(&live, "lists"))
		return;
	CHECK_EQ("the limit holds", live_count_served(&live, CLIENT_ONE, 20), LIMIT);
	CHECK_EQ("a trusted client is never limited", live_count_served(&live, CLIENT_TWO, 20), 20);
	CHECK("a blocked client meets silence", is_silent(&live, CLIENT_THREE, NULL));
	CHECK("a blocked prefix meets silence",
	      is_silent(&live, CLIENT_SIX_OTHER, "[" SERVER_IPV6 "]:80"));
	CHECK_EQ("a source whose policy is none is not limited",
		 live_count_served(&live, "10.77.1.100", 20), 20);
	CHECK_EQ("the longest source has a limiter of its own",
		 live_count_served(&live, "10.77.1.101", 20), 8);
	CHECK_EQ("the exempt are counted",
		 live_metric_now(&live, DECISIONS, "limiter=\"per-client\",result=\"exempt\""), 40);
	CHECK_EQ("the blocked are counted",
		 live_metric_now(&live, "stile_packets_total",
				 "verdict=\"drop\",reason=\"blocked\""),
		 2);
}

/* Runs a command; its exit code is checked. */
static void do_command(const struct live *live, const char *command, int want)
{
	autooutput struct output output = live_stile(live, "%s", command);

	if (!CHECK_EQ(command, output.code, want) && output.text)
		printf("%s", output.text);
}

static bool is_served(void *context)
{
	return live_served(context, CLIENT_TWO);
}

static void test_block(void)
{
	autooutput struct output status = {};
	autolive struct live live;

	if (!begin(&live, "block"))
		return;
	do_command(&live, "block 10.77.1.9", 0);
	CHECK("a client blocked by hand meets silence", is_silent(&live, CLIENT_ONE, NULL));
	status = live_stile(&live, "status");
	CHECK("status lists it", status.text && strstr(status.text, CLIENT_ONE));
	do_command(&live, "reload", 0);
	CHECK("a reload keeps it", is_silent(&live, CLIENT_ONE, NULL));
	do_command(&live, "unblock 10.77.1.9", 0);
	CHECK("unblocked it is served", live_served(&live, CLIENT_ONE));
	do_command(&live, "unblock 10.77.1.9", 1);
	do_command(&live, "unblock 10.77.1.11", 1);
	CHECK("what the file blocks stays blocked", is_silent(&live, CLIENT_THREE, NULL));
	do_command(&live, "block 10.77.1.10 --for 1s", 0);
	CHECK("a trusted client can be blocked", is_silent(&live, CLIENT_TWO, NULL));
	CHECK("until its time is over", live_wait(is_served, &live));
	do_command(&live, "block 10.77.1.300", 2);
}

static void test_trust(void)
{
	autolive struct live live;

	if (!begin(&live, "trust"))
		return;
	CHECK_EQ("the limit holds", live_count_served(&live, CLIENT_ONE, 20), LIMIT);
	do_command(&live, "trust 10.77.1.8/30 --for 1h", 0);
	CHECK_EQ("trusted by hand it does not", live_count_served(&live, CLIENT_ONE, 20), 20);
	do_command(&live, "untrust 10.77.1.8/30", 0);
	CHECK_EQ("and does again after untrust", live_count_served(&live, CLIENT_ONE, 20), 0);
}

CHECK_SUITE(lists, { "trusted, blocked and sources of the file", test_file },
	    { "block and unblock", test_block }, { "trust and untrust", test_trust });
