/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flood of SYNs from forged addresses, of which one is a real client's. Where sources are not
 * proven it is locked out; where they are, it does not even notice.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "faults.h"
#include "live.h"
#include "process.h"
#include "util.h"

#define CONNECTIONS 200
#define FLOODED 200000 /* SYNs that came before it begins */

#define CONFIG(proves)                                                                             \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {one: {limit: 200, window: 1h}}\n"                                         \
	"listeners: {web: {ports: [80], prove_sources: " proves ", rate_limiter_name: one}}\n"     \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

/* 10.77.0.0/22, with 10.77.1.9. */
static const struct live_forged forged = { .first = 0x0a4d0000, .sources = 1024, .port = PORT_WEB };

/* Requests of the real client, one after the other. */
static struct engine_result ask(const struct live *live, enum live_side side, unsigned int n)
{
	struct engine_plan plan = {
		.connections = n, .concurrency = 1, .seconds = 60, .timeout_ms = 5000, .path = "/"
	};
	struct engine_result result = {};

	(void)endpoint_parse(side == LIVE_SERVER ? "127.0.0.1:80" : SERVER_IPV4 ":80",
			     &plan.target);
	if (side == LIVE_CLIENT)
		(void)sources_parse(CLIENT_ONE, &plan.sources);
	live_enter(live, side);
	CHECK_EQ("the client can connect", engine_run(&plan, &result), 0);
	live_leave(live);
	return result;
}

static bool is_locked_out(void *context)
{
	autoresult struct engine_result result = ask(context, LIVE_CLIENT, 1);

	return result.outcomes[ENGINE_SUCCEEDED] == 0;
}

/* All sources have spent what they may. */
static bool are_refused(void *context)
{
	return live_metric_now(context, "stile_ratelimit_decisions_total", "result=\"limited\"") >
	       20 * (long long)forged.sources;
}

static bool begin(struct live *live, const char *name, const char *config)
{
	if (!live_begin(live, name) || !live_start_web(live) || !live_start(live, config))
		return false;
	live_shell(live, LIVE_SERVER, "ip route add 10.77.0.0/22 via " CLIENT_ONE);
	return true;
}

static void test_never(void)
{
	struct live_background background;
	struct live_flooded flooded = {};
	autolive struct live live;

	if (!begin(&live, "forged-never", CONFIG("never")) ||
	    !live_forge_begin(&live, &forged, &background))
		return;
	CHECK("the flood is there", live_wait(are_refused, &live));
	CHECK("the real client is locked out, though it has sent nothing", is_locked_out(&live));
	live_flood_end(&background, &flooded);
	CHECK("whoever was forged has a bucket",
	      live_metric_now(&live, "stile_ratelimit_keys", "limiter=\"one\"") > 1000);
	printf("forged-never: locked out by %llu SYNs\n", (unsigned long long)flooded.syns);
}

static bool is_flooded(void *context)
{
	return live_metric_now(context, "stile_packets_total", "reason=\"challenged\"") > FLOODED;
}

/* What the stack notices of handshakes and of cookies. */
static const char *const counters[] = {
	"TcpPassiveOpens",	 "TcpExtSyncookiesSent",       "TcpExtSyncookiesFailed",
	"TcpExtTCPReqQFullDrop", "TcpExtTCPReqQFullDoCookies", "TcpExtListenOverflows",
	"TcpExtListenDrops",
};

static void count(const struct live *live, long long ret_counts[])
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		ret_counts[i] = live_counter(live, LIVE_SERVER, counters[i]);
}

static void check_client(const struct live *live, struct engine_result *idle)
{
	long long before[ARRAY_SIZE(counters)], after[ARRAY_SIZE(counters)];
	autoresult struct engine_result result = {};

	count(live, before);
	result = ask(live, LIVE_CLIENT, CONNECTIONS);
	CHECK_EQ("all connections of the real client succeed", result.outcomes[ENGINE_SUCCEEDED],
		 CONNECTIONS);
	live_shell(live, LIVE_SERVER, "test -z \"$(ss -Htn state syn-recv)\"");
	count(live, after);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		CHECK_EQ(counters[i], after[i] - before[i], i == 0 ? CONNECTIONS : 0);
	printf("forged-always: the real client waits for %u us in the median, at most %u us; "
	       "%u us and %u us without Stile and a flood\n",
	       sample_quantile(&result.success, 0.5), sample_quantile(&result.success, 1),
	       sample_quantile(&idle->success, 0.5), sample_quantile(&idle->success, 1));
}

static void test_always(void)
{
	autoresult struct engine_result idle = {};
	struct live_background background;
	struct live_flooded flooded = {};
	autolive struct live live;

	if (!begin(&live, "forged-always", CONFIG("always")))
		return;
	idle = ask(&live, LIVE_SERVER, CONNECTIONS);
	if (!live_forge_begin(&live, &forged, &background))
		return;
	CHECK("the flood is there", live_wait(is_flooded, &live));
	check_client(&live, &idle);
	live_flood_end(&background, &flooded);
	CHECK("not one more than it may", is_locked_out(&live));
	CHECK_EQ("it alone has a bucket",
		 live_metric_now(&live, "stile_ratelimit_keys", "limiter=\"one\""), 1);
	printf("forged-always: %llu forged SYNs\n", (unsigned long long)flooded.syns);
}

CHECK_SUITE(prove_flood, { "forged sources, which are charged", test_never },
	    { "forged sources, which have to be proven", test_always });
