/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A token bucket over IPv6, where a /64 is one client. */
#include "check.h"
#include "live.h"

#define LIMIT 10
#define BURST 20
#define CONNECTIONS 100
#define WEB "[" SERVER_IPV6 "]:80"

static const char config[] =
	"interfaces: {srv0: {}}\n"
	"rate_limiters:\n"
	"  per-client: {algorithm: token_bucket, limit: 10, window: 1s, burst: 20}\n"
	"listeners:\n"
	"  web: {protocol: tcp, ports: [80], rate_limiter_name: per-client}\n"
	"metrics: {listen: \"127.0.0.1:9466\"}\n";

/* The burst, and what the bucket gained during the run and one tick. */
static unsigned int most(double seconds)
{
	return BURST + (unsigned int)((seconds + 0.01) * LIMIT);
}

static void test_shared(void)
{
	const struct live_storm both = {
		.from = CLIENT_SIX_ONE "," CLIENT_SIX_TWO,
		.to = WEB,
		.connections = CONNECTIONS,
	};
	const struct live_storm other = {
		.from = CLIENT_SIX_OTHER,
		.to = WEB,
		.connections = BURST,
	};
	autoresult struct engine_result result = {}, others = {};
	unsigned long long served;
	autolive struct live live;

	if (!live_begin(&live, "token") || !live_start_web(&live) || !live_start(&live, config) ||
	    !live_connect(&live, &both, &result) || !live_connect(&live, &other, &others))
		return;
	served = result.outcomes[ENGINE_SUCCEEDED];
	CHECK("two addresses of one /64 get one burst", served >= BURST);
	CHECK_EQ("and what the bucket gained meanwhile",
		 served > most(result.seconds) ? served : most(result.seconds),
		 most(result.seconds));
	CHECK_EQ("all others are refused", served + result.outcomes[ENGINE_REFUSED], CONNECTIONS);
	CHECK_EQ("an address of another /64 has a bucket of its own",
		 others.outcomes[ENGINE_SUCCEEDED], BURST);
	CHECK_EQ("two clients are tracked",
		 live_metric_now(&live, "stile_ratelimit_keys", "limiter=\"per-client\""), 2);
	CHECK_EQ("the decisions add up",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", ""),
		 CONNECTIONS + BURST);
}

static void test_wait(void)
{
	const struct live_storm storm = {
		.from = CLIENT_SIX_ONE,
		.to = WEB,
		.connections = CONNECTIONS,
	};
	autoresult struct engine_result result = {};
	autolive struct live live;

	if (live_begin(&live, "token-wait") && live_start_web(&live) &&
	    live_start(&live, "interfaces: {srv0: {}}\n"
			      "rate_limiters:\n"
			      "  per-client: {algorithm: token_bucket, limit: 1, window: 2s, "
			      "burst: 3}\n"
			      "listeners:\n"
			      "  web: {ports: [80], rate_limiter_name: per-client}\n") &&
	    live_connect(&live, &storm, &result)) {
		CHECK_EQ("the burst succeeds", result.outcomes[ENGINE_SUCCEEDED], 3);
		live_check_wait(&live, CLIENT_SIX_TWO, WEB);
	}
}

CHECK_SUITE(token, { "two addresses of one /64 share a bucket", test_shared },
	    { "the wait that explain tells is the wait", test_wait });
