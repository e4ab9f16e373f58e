/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a client that is over its limit meets, by action; and a SYN sent twice, charged once. */
#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 5
#define CONNECTIONS 12

#define CONFIG(action)                                                                             \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters:\n"                                                                         \
	"  per-client: {limit: 5, window: 1h, action: " action "}\n"                               \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"                                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

#define DECISIONS "stile_ratelimit_decisions_total"

static void test_drop(void)
{
	/* All at once, and given up before the kernel sends a SYN again. */
	const struct live_storm storm = {
		.from = CLIENT_ONE,
		.connections = CONNECTIONS,
		.concurrency = CONNECTIONS,
		.timeout_ms = 700,
	};
	autoresult struct engine_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "drop") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("drop")) || !live_connect(&live, &storm, &result))
		return;
	CHECK_EQ("the limit gets in", result.outcomes[ENGINE_SUCCEEDED], LIMIT);
	CHECK_EQ("the others hear nothing", result.outcomes[ENGINE_TIMED_OUT], CONNECTIONS - LIMIT);
	CHECK_EQ("they are counted as dropped",
		 live_metric_now(&live, "stile_packets_total",
				 "verdict=\"drop\",reason=\"limited\""),
		 CONNECTIONS - LIMIT);
	CHECK_EQ("nothing is answered",
		 live_metric_now(&live, "stile_replies_total", "kind=\"reset\""), 0);
}

static void test_count(void)
{
	const struct live_storm storm = { .from = CLIENT_ONE, .connections = CONNECTIONS };
	autoresult struct engine_result result = {};
	autofree char *page = NULL;
	autolive struct live live;

	if (!live_begin(&live, "count") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("count")) || !live_connect(&live, &storm, &result))
		return;
	page = live_page(&live, "/metrics");
	CHECK_EQ("everybody gets in", result.outcomes[ENGINE_SUCCEEDED], CONNECTIONS);
	CHECK_EQ("the limit is allowed", live_metric(page, DECISIONS, "result=\"allowed\""), LIMIT);
	CHECK_EQ("what is over it is counted", live_metric(page, DECISIONS, "result=\"counted\""),
		 CONNECTIONS - LIMIT);
}

static bool is_repeated(void *context)
{
	return live_metric_now(context, "stile_packets_total", "reason=\"repeated\"") > 0;
}

/* The client's side loses every SYN-ACK until the client has sent its SYN again. */
static void test_repeated(void)
{
	const struct live_storm storm = {
		.from = CLIENT_ONE,
		.connections = 1,
		.timeout_ms = LIVE_BOUND_MS,
	};
	struct live_background background;
	struct engine_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "repeated") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("reject")))
		return;
	live_shell(&live, LIVE_CLIENT,
		   "nft 'table inet lossy { chain in { type filter hook input priority 0; "
		   "tcp flags & (syn|ack) == (syn|ack) counter drop; }; }'");
	if (!live_storm_begin(&live, &storm, &background))
		return;
	CHECK("the SYN that is sent again is known", live_wait(is_repeated, &live));
	live_shell(&live, LIVE_CLIENT, "nft delete table inet lossy");
	CHECK("the connection is made in the end", live_storm_wait(&background, &result));
	CHECK_EQ("it succeeded", result.outcomes[ENGINE_SUCCEEDED], 1);
	CHECK_EQ("one event was charged", live_metric_now(&live, DECISIONS, "result=\"allowed\""),
		 1);
	CHECK_EQ("the rest of the limit is there", live_count_served(&live, CLIENT_ONE, 20),
		 LIMIT - 1);
}

CHECK_SUITE(actions, { "drop: silence past the limit", test_drop },
	    { "count: let through and recorded", test_count },
	    { "a SYN sent again is charged once", test_repeated });
