/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client has used goes on where a reload changes what may be used: kept, copied into
 * another table, or forgotten, as the rule says.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

static bool write_config(const struct live *live, const char *limiter)
{
	char config[512];

	snprintf(config, sizeof(config),
		 "interfaces: {srv0: {}}\n"
		 "rate_limiters: {per-client: {%s}}\n"
		 "listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"
		 "metrics: {listen: \"127.0.0.1:9466\"}\n",
		 limiter);
	return live_write(live, "stile.yaml", config);
}

/* @outcome: what the reload says of the table, such as "1 copied". */
static bool reload(const struct live *live, const char *limiter, const char *outcome)
{
	autooutput struct output output = {};

	if (!write_config(live, limiter))
		return false;
	output = live_stile(live, "reload");
	CHECK_EQ("the reload is done", output.code, 0);
	return CHECK(outcome, output.text && strstr(output.text, outcome));
}

static bool begin(struct live *live, const char *name, const char *limiter)
{
	return live_begin(live, name) && live_start_web(live) && write_config(live, limiter) &&
	       live_start_again(live);
}

#define TOKENS "algorithm: token_bucket, window: 1h, "

static void test_tokens(void)
{
	autolive struct live live;

	if (!begin(&live, "history-tokens", TOKENS "limit: 10"))
		return;
	CHECK_EQ("the limit gets in", live_count_served(&live, CLIENT_ONE, 20), 10);
	CHECK_EQ("half of it, of another", live_count_served(&live, CLIENT_TWO, 5), 5);
	if (!reload(&live, TOKENS "limit: 15", "1 copied"))
		return;
	CHECK_EQ("10 of 15 are spent", live_count_served(&live, CLIENT_ONE, 20), 5);
	CHECK_EQ("5 of 15 are spent", live_count_served(&live, CLIENT_TWO, 20), 10);
	if (!reload(&live, TOKENS "limit: 7", "1 copied"))
		return;
	CHECK_EQ("no fresh burst", live_count_served(&live, CLIENT_ONE, 20), 0);
	CHECK_EQ("a new client has the limit", live_count_served(&live, CLIENT_THREE, 20), 7);
	if (!reload(&live, TOKENS "limit: 7, burst: 9", "in force"))
		return;
	CHECK_EQ("7 of 9 are spent", live_count_served(&live, CLIENT_THREE, 20), 2);
}

static void test_size(void)
{
	autolive struct live live;

	if (!begin(&live, "history-size", "window: 1h, limit: 10"))
		return;
	CHECK_EQ("some get in", live_count_served(&live, CLIENT_ONE, 7), 7);
	if (!reload(&live, "window: 1h, limit: 10, max_keys: 500", "1 copied"))
		return;
	CHECK_EQ("the rest of the limit, of a smaller table",
		 live_count_served(&live, CLIENT_ONE, 2), 2);
	if (!reload(&live, "window: 1h, limit: 11, max_keys: 200000", "1 copied"))
		return;
	CHECK_EQ("and of a larger one", live_count_served(&live, CLIENT_ONE, 20), 2);
	if (!reload(&live, "window: 30m, limit: 11, max_keys: 200000", "1 new") ||
	    !reload(&live, "window: 1h, limit: 11", "1 new"))
		return;
	CHECK_EQ("another window starts empty", live_count_served(&live, CLIENT_ONE, 20), 11);
}

/* Limits go up and down in the middle of a storm that spends whatever there is. */
static void test_storm(void)
{
	const struct live_storm storm = {
		.from = CLIENT_ONE "," CLIENT_TWO,
		.connections = 1000000,
		.concurrency = 8,
	};
	static const char *const limiters[] = {
		TOKENS "limit: 30",
		TOKENS "limit: 12, max_keys: 300",
		TOKENS "limit: 40",
		TOKENS "limit: 5",
	};
	struct live_background background;
	struct engine_result result = {};
	autolive struct live live;

	if (!begin(&live, "history-storm", TOKENS "limit: 20") ||
	    !live_storm_begin(&live, &storm, &background))
		return;
	CHECK("the storm is under way", live_wait_refused(&live, 200));
	for (size_t i = 0; i < 3 * ARRAY_SIZE(limiters); i++) {
		(void)reload(&live, limiters[i % ARRAY_SIZE(limiters)], "1 copied");
		CHECK("the storm goes on", live_wait_refused(&live, 20));
	}
	if (!live_storm_end(&background, &result))
		return;
	CHECK_EQ("the highest of the limits got in, of either client",
		 result.outcomes[ENGINE_SUCCEEDED], 2 * 40);
	CHECK_EQ("the decisions add up to the SYNs",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", ""),
		 (long long)result.attempts + live_counter(&live, LIVE_CLIENT, "TcpRetransSegs"));
}

CHECK_SUITE(history, { "tokens that are spent stay spent", test_tokens },
	    { "tables of another size", test_size },
	    { "limits that change in a storm", test_storm });
