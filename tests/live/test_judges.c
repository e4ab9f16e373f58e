/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several limiters for one event: in which order, and that a refusal charges none of them. */
#include "check.h"
#include "live.h"
#include "util.h"

#define DECISIONS "stile_ratelimit_decisions_total"

static void test_edge(void)
{
	autofree char *page = NULL;
	autolive struct live live;

	if (!live_begin(&live, "edge") || !live_start_web(&live) ||
	    !live_start(&live, "interfaces: {srv0: {rate_limiter_name: edge}}\n"
			       "rate_limiters:\n"
			       "  edge: {limit: 10, window: 1h, algorithm: fixed_window}\n"
			       "  per-client: {limit: 20, window: 1h}\n"
			       "listeners:\n"
			       "  web: {ports: [80], rate_limiter_name: per-client}\n"
			       "metrics: {listen: \"127.0.0.1:9466\"}\n"))
		return;
	CHECK_EQ("the interface's limit holds", live_count_served(&live, CLIENT_ONE, 30), 10);
	page = live_page(&live, "/metrics");
	CHECK_EQ("it refused the rest",
		 live_metric(page, DECISIONS, "limiter=\"edge\",result=\"limited\""), 20);
	CHECK_EQ("it decided every event", live_metric(page, DECISIONS, "limiter=\"edge\""), 30);
	CHECK_EQ("the listener's decided those that were left",
		 live_metric(page, DECISIONS, "limiter=\"per-client\""), 10);
}

/* Sixteen clients, two connections each, where all of them together may have ten. */
static void test_shared(void)
{
	autofree char *page = NULL;
	autolive struct live live;

	if (!live_begin(&live, "shared") || !live_start_web(&live) ||
	    !live_start(&live, "interfaces: {srv0: {}}\n"
			       "rate_limiters:\n"
			       "  per-client: {limit: 2, window: 1h}\n"
			       "  all-of-web: {keys: [], limit: 10, window: 1h}\n"
			       "listeners:\n"
			       "  web:\n"
			       "    ports: [80]\n"
			       "    rate_limiter_name: [per-client, all-of-web]\n"
			       "metrics: {listen: \"127.0.0.1:9466\"}\n"))
		return;
	CHECK_EQ("all together get the shared limit", live_count_served(&live, CLIENT_RANGE, 32),
		 10);
	page = live_page(&live, "/metrics");
	CHECK_EQ("the shared limiter refused the rest",
		 live_metric(page, DECISIONS, "limiter=\"all-of-web\",result=\"limited\""), 22);
	CHECK_EQ("no client was over its own limit",
		 live_metric(page, DECISIONS, "limiter=\"per-client\",result=\"limited\""), 0);
	CHECK_EQ("only what was admitted was charged to clients",
		 live_metric(page, "stile_ratelimit_keys", "limiter=\"per-client\""), 10);
	CHECK_EQ("and to the one bucket of all",
		 live_metric(page, "stile_ratelimit_keys", "limiter=\"all-of-web\""), 1);
}

CHECK_SUITE(judges, { "the interface's limiter before the listener's", test_edge },
	    { "what one limiter refuses is charged to none", test_shared });
