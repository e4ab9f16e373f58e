/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon's life: killed, restarted, stopped, detached. The limit holds until it is taken away.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20

#define CONFIG                                                                                     \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters:\n"                                                                         \
	"  per-client: {limit: 20, window: 1h}\n"                                                  \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"                                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static const struct live_storm storm = {
	.from = CLIENT_ONE "," CLIENT_TWO,
	.connections = 1000000,
	.concurrency = 8,
};

/* Not one connection beyond the limit, of either client, and every SYN in the books. */
static void check_storm(const struct live *live, const struct engine_result *result)
{
	CHECK_EQ("the limit of both clients got in", result->outcomes[ENGINE_SUCCEEDED], 2 * LIMIT);
	CHECK_EQ("all others were refused", result->outcomes[ENGINE_REFUSED],
		 result->attempts - LIMIT - LIMIT);
	CHECK_EQ("the decisions add up to the SYNs",
		 live_metric_now(live, "stile_ratelimit_decisions_total", ""),
		 (long long)result->attempts + live_counter(live, LIVE_CLIENT, "TcpRetransSegs"));
}

static void test_kill(void)
{
	struct live_background background;
	struct engine_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "kill") || !live_start_web(&live) || !live_start(&live, CONFIG) ||
	    !live_storm_begin(&live, &storm, &background))
		return;
	for (int i = 0; i < 2; i++) {
		CHECK("the storm is under way", live_wait_refused(&live, 200));
		live_stop(&live, SIGKILL);
		CHECK("protection goes on without the daemon", live_wait_refused(&live, 200));
		CHECK("the daemon starts again", live_start_again(&live));
	}
	CHECK("protection goes on with the new daemon", live_wait_refused(&live, 200));
	if (live_storm_end(&background, &result))
		check_storm(&live, &result);
}

static void test_terminate(void)
{
	int status;
	autolive struct live live;

	if (!live_begin(&live, "term") || !live_start_web(&live) || !live_start(&live, CONFIG))
		return;
	CHECK_EQ("the limit gets in", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
	status = live_stop(&live, SIGTERM);
	CHECK("SIGTERM ends it well", WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK("nothing is pinned any more", !live_pinned(&live));
	CHECK_EQ("nobody is limited any more", live_count_served(&live, CLIENT_ONE, 30), 30);
}

static void test_keep(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "keep") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG "on_stop: keep\n"))
		return;
	CHECK_EQ("the limit gets in", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
	live_stop(&live, SIGTERM);
	CHECK("what is pinned stays", live_pinned(&live));
	CHECK_EQ("the limit still holds", live_count_served(&live, CLIENT_ONE, 30), 0);
	CHECK_EQ("a new client has its own", live_count_served(&live, CLIENT_TWO, 30), LIMIT);
	output = live_stile(&live, "status");
	CHECK_EQ("status answers without a daemon", output.code, 0);
	output_release(&output);
	output = live_stile(&live, "detach");
	CHECK_EQ("detach does it", output.code, 0);
	CHECK("nothing is pinned any more", !live_pinned(&live));
	CHECK_EQ("nobody is limited any more", live_count_served(&live, CLIENT_ONE, 30), 30);
}

static void test_second_daemon(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "second") || !live_start_web(&live) || !live_start(&live, CONFIG))
		return;
	output = live_stile(&live, "run -c %s/stile.yaml", live.directory);
	CHECK_EQ("a second daemon of the instance does not start", output.code, 1);
	CHECK("it says why", output.text && strstr(output.text, "another daemon runs already"));
	CHECK_EQ("the first goes on", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
	CHECK_EQ("and answers", live_metric_now(&live, "stile_attached", ""), 1);
}

/* The limit counts on after a stop and a start that kept it. */
static void test_adopt(void)
{
	autolive struct live live;

	if (!live_begin(&live, "adopt") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG "on_stop: keep\n"))
		return;
	CHECK_EQ("some get in", live_count_served(&live, CLIENT_ONE, 15), 15);
	live_stop(&live, SIGTERM);
	if (!live_start_again(&live))
		return;
	CHECK_EQ("the rest of the limit is there", live_count_served(&live, CLIENT_ONE, 15),
		 LIMIT - 15);
	CHECK_EQ("and so are the counters",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", ""), 30);
}

static bool is_served(void *context)
{
	return live_served(context, CLIENT_ONE);
}

/* A daemon that died is noticed by the program, and so is the next one. */
static void test_watchdog(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "watchdog") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG "watchdog: {after: 5s, then: pass}\n"))
		return;
	CHECK_EQ("the limit gets in", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
	live_stop(&live, SIGKILL);
	CHECK("the limit still holds", !live_served(&live, CLIENT_ONE));
	CHECK("after a while it does not", live_wait(is_served, &live));
	CHECK_EQ("for nobody", live_count_served(&live, CLIENT_ONE, 10), 10);
	output = live_stile(&live, "status");
	CHECK("status says so", output.text && strstr(output.text, "THE DAEMON HAS BEEN SILENT"));
	output_release(&output);
	output = live_stile(&live, "explain " CLIENT_ONE);
	CHECK("so does explain", output.text && strstr(output.text, "unattended"));
	if (!live_start_again(&live))
		return;
	CHECK_EQ("a new daemon is heard of", live_count_served(&live, CLIENT_ONE, 10), 0);
	output_release(&output);
	output = live_stile(&live, "status");
	CHECK("all is well", output.text && !strstr(output.text, "SILENT"));
}

CHECK_SUITE(life, { "kill -9 in the middle of a storm", test_kill },
	    { "SIGTERM detaches", test_terminate }, { "on_stop: keep, and detach", test_keep },
	    { "one daemon an instance", test_second_daemon },
	    { "a new daemon adopts buckets and counters", test_adopt },
	    { "the watchdog", test_watchdog });
