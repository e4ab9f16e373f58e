/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nginx behind a sliding window: exactly the limit gets in, and every SYN is accounted for. */
#include <stdio.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20
#define CONNECTIONS 100

#define CONFIG(mode, window)                                                                       \
	"interfaces: {srv0: {mode: " mode "}}\n"                                                   \
	"rate_limiters:\n"                                                                         \
	"  per-client: {algorithm: sliding_window, limit: 20, window: " window "}\n"               \
	"listeners:\n"                                                                             \
	"  web: {protocol: tcp, ports: [80], rate_limiter_name: per-client}\n"                     \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

#define DECISIONS "stile_ratelimit_decisions_total"

static void print_latency(const char *name, struct engine_result *result)
{
	printf("%s: refused in p50 %u us, p99 %u us, max %u us\n", name,
	       sample_quantile(&result->refusal, 0.5), sample_quantile(&result->refusal, 0.99),
	       sample_quantile(&result->refusal, 1));
}

static void check_page(const struct live *live)
{
	autofree char *page = live_page(live, "/metrics");

	CHECK_EQ("allowed is what got in", live_metric(page, DECISIONS, "result=\"allowed\""),
		 LIMIT);
	CHECK_EQ("limited is what was refused", live_metric(page, DECISIONS, "result=\"limited\""),
		 CONNECTIONS - LIMIT);
	CHECK_EQ("the decisions add up to the connects",
		 live_metric(page, DECISIONS, "limiter=\"per-client\",listener=\"web\""),
		 CONNECTIONS);
	CHECK_EQ("the packets tell the same",
		 live_metric(page, "stile_packets_total",
			     "interface=\"srv0\",verdict=\"reply\",reason=\"limited\""),
		 CONNECTIONS - LIMIT);
	CHECK_EQ("so do the replies", live_metric(page, "stile_replies_total", "kind=\"reset\""),
		 CONNECTIONS - LIMIT);
	CHECK_EQ("one client is tracked",
		 live_metric(page, "stile_ratelimit_keys", "limiter=\"per-client\""), 1);
}

/* One client's hundred connections; then the same for IPv6 would be another client's. */
static void check_limit(struct live *live)
{
	const struct live_storm storm = { .from = CLIENT_ONE, .connections = CONNECTIONS };
	long long opened = live_counter(live, LIVE_SERVER, "TcpPassiveOpens");
	autoresult struct engine_result result = {};

	if (!live_connect(live, &storm, &result))
		return;
	CHECK_EQ("exactly the limit succeeds", result.outcomes[ENGINE_SUCCEEDED], LIMIT);
	CHECK_EQ("all others are refused", result.outcomes[ENGINE_REFUSED], CONNECTIONS - LIMIT);
	CHECK_EQ("refused at once: no SYN is sent twice",
		 live_counter(live, LIVE_CLIENT, "TcpRetransSegs"), 0);
	CHECK_EQ("the server saw no more",
		 live_counter(live, LIVE_SERVER, "TcpPassiveOpens") - opened, LIMIT);
	print_latency(live->name, &result);
	check_page(live);
	CHECK("a second address is served", live_served(live, CLIENT_TWO));
	CHECK("the first is still refused", !live_served(live, CLIENT_ONE));
}

static void test_generic(void)
{
	autolive struct live live;

	if (live_begin(&live, "window-generic") && live_start_web(&live) &&
	    live_start(&live, CONFIG("generic", "1h")))
		check_limit(&live);
}

static void test_native(void)
{
	autolive struct live live;

	if (live_begin(&live, "window-native") && live_peer_native(&live) &&
	    live_start_web(&live) && live_start(&live, CONFIG("native", "1h")))
		check_limit(&live);
}

static void test_wait(void)
{
	const struct live_storm storm = { .from = CLIENT_ONE, .connections = CONNECTIONS };
	autolive struct live live;
	autoresult struct engine_result result = {};

	if (!live_begin(&live, "window-wait") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("auto", "10s")) || !live_connect(&live, &storm, &result))
		return;
	CHECK_EQ("exactly the limit succeeds", result.outcomes[ENGINE_SUCCEEDED], LIMIT);
	live_check_wait(&live, CLIENT_ONE, SERVER_IPV4 ":80");
}

/* What one storm and ten polite connections left in the books. */
static void check_books(const struct live *live, const struct engine_result *storm,
			unsigned int polite)
{
	long long repeated = live_counter(live, LIVE_CLIENT, "TcpRetransSegs");
	autofree char *page = live_page(live, "/metrics");

	CHECK_EQ("the storm's successes are the limit", storm->outcomes[ENGINE_SUCCEEDED], LIMIT);
	CHECK_EQ("every other one was refused",
		 storm->outcomes[ENGINE_SUCCEEDED] + storm->outcomes[ENGINE_REFUSED],
		 storm->attempts);
	CHECK_EQ("allowed adds up", live_metric(page, DECISIONS, "result=\"allowed\""),
		 LIMIT + polite);
	CHECK_EQ("the decisions add up to all SYNs that were sent",
		 live_metric(page, DECISIONS, "limiter=\"per-client\""),
		 storm->attempts + polite + (unsigned long long)repeated);
}

static void test_second_client(void)
{
	const struct live_storm storm = {
		.from = CLIENT_ONE,
		.connections = 1000000,
		.concurrency = 8,
	};
	struct engine_result result = {};
	struct live_background background;
	autolive struct live live;
	const unsigned int polite = 15;

	if (!live_begin(&live, "window-second") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("auto", "1h")) ||
	    !live_storm_begin(&live, &storm, &background))
		return;
	CHECK("the storm is under way", live_wait_refused(&live, 100));
	for (unsigned int i = 0; i < polite; i++)
		CHECK("the second client is served all the while", live_served(&live, CLIENT_TWO));
	if (live_storm_end(&background, &result))
		check_books(&live, &result, polite);
}

CHECK_SUITE(window, { "generic: 20 of 100 connections succeed", test_generic },
	    { "native: 20 of 100 connections succeed", test_native },
	    { "the wait that explain tells is the wait", test_wait },
	    { "a second client is served during a storm", test_second_client });
