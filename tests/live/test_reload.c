/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is wrong changes nothing and says why; one that is right keeps every bucket. */
#include <signal.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define CONFIG(limit)                                                                              \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters:\n"                                                                         \
	"  per-client: {limit: " limit ", window: 1h}\n"                                           \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"                                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

#define BAD CONFIG("twenty")

struct reloads {
	const struct live *live;
	const char *result;
	long long until;
};

static bool are_counted(void *context)
{
	const struct reloads *reloads = context;

	return live_metric_now(reloads->live, "stile_config_reloads_total", reloads->result) >=
	       reloads->until;
}

/* SIGHUP, and waits until the daemon has counted one more reload with @result. */
static void hang_up(const struct live *live, const char *result)
{
	struct reloads reloads = { live, result, 1 };

	reloads.until += live_metric_now(live, "stile_config_reloads_total", result);
	(void)kill(live->daemon, SIGHUP);
	CHECK("the reload is counted", live_wait(are_counted, &reloads));
}

static void test_bad(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "reload-bad") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("20")) || !live_write(&live, "stile.yaml", BAD))
		return;
	CHECK_EQ("some get in", live_count_served(&live, CLIENT_ONE, 15), 15);
	output = live_stile(&live, "reload");
	CHECK_EQ("the reload is refused", output.code, 1);
	CHECK("with the place of the mistake", output.text && strstr(output.text, "stile.yaml:3:"));
	CHECK_EQ("and is not a success",
		 live_metric_now(&live, "stile_config_last_reload_successful", ""), 0);
	hang_up(&live, "result=\"failed\"");
	CHECK_EQ("nothing has changed", live_count_served(&live, CLIENT_ONE, 15), 5);
}

static void test_good(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "reload-good") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("20")))
		return;
	CHECK_EQ("the limit gets in", live_count_served(&live, CLIENT_ONE, 30), 20);
	if (!live_write(&live, "stile.yaml", CONFIG("25")))
		return;
	output = live_stile(&live, "reload");
	CHECK_EQ("the reload is done", output.code, 0);
	CHECK_EQ("a higher limit admits the difference", live_count_served(&live, CLIENT_ONE, 30),
		 5);
	if (!live_write(&live, "stile.yaml", CONFIG("10")))
		return;
	hang_up(&live, "result=\"ok\"");
	CHECK_EQ("a lower one hands out no fresh burst", live_count_served(&live, CLIENT_ONE, 30),
		 0);
	CHECK_EQ("and holds for others", live_count_served(&live, CLIENT_TWO, 30), 10);
	CHECK_EQ("the last reload was a success",
		 live_metric_now(&live, "stile_config_last_reload_successful", ""), 1);
}

/* Every packet is judged wholly by the old or the new policy: none slips through. */
static void test_storm(void)
{
	const struct live_storm storm = {
		.from = CLIENT_ONE,
		.connections = 1000000,
		.concurrency = 8,
	};
	struct live_background background;
	struct engine_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "reload-storm") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("20")) || !live_storm_begin(&live, &storm, &background))
		return;
	CHECK("the storm is under way", live_wait_refused(&live, 200));
	for (int i = 0; i < 5; i++) {
		autooutput struct output output = live_stile(&live, "reload");

		CHECK_EQ("the reload is done", output.code, 0);
		CHECK("the storm goes on", live_wait_refused(&live, 50));
	}
	if (!live_storm_end(&background, &result))
		return;
	CHECK_EQ("only the limit got in", result.outcomes[ENGINE_SUCCEEDED], 20);
	CHECK_EQ("all others were refused", result.outcomes[ENGINE_REFUSED], result.attempts - 20);
	CHECK_EQ("the decisions add up to the SYNs",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", ""),
		 (long long)result.attempts + live_counter(&live, LIVE_CLIENT, "TcpRetransSegs"));
}

CHECK_SUITE(reload, { "a bad file changes nothing", test_bad },
	    { "a good file keeps the buckets", test_good },
	    { "reloads in the middle of a storm", test_storm });
