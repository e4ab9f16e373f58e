/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The storm of bench_abuser.c at a twentieth of its size: as many forged sources for each set, so
 * that a table forgets as easily. What a flood must not buy is more than a twentieth for abusers,
 * nor one refusal of a client that keeps its rate.
 */
#include <stdbool.h>
#include <stdio.h>

#include "abuser.h"
#include "check.h"
#include "util.h"

#define TICK 4000000 /* ns: HZ=250 */
#define NSEC_PER_SEC 1000000000ULL

static const char tokens[] = "algorithm: token_bucket, limit: 10, window: 1s, burst: 20, "
			     "max_keys: 5000";
static const char windows[] = "algorithm: sliding_window, limit: 10, window: 1s, max_keys: 5000";

static void check_storm(const char *settings, struct abuser_plan plan, unsigned int most)
{
	struct stile_limiter limiter;
	struct abuser_result result = {};
	char what[160];

	if (!CHECK("the configuration makes a limiter",
		   abuser_limiter(settings, plan.tick, &limiter)))
		return;
	plan.limiter = &limiter;
	plan.duration = NSEC_PER_SEC;
	plan.seed = 1;
	plan.flood = 500000;
	plan.clients = 50;
	plan.client_rate = 5;
	plan.abusers = 50;
	plan.abuser_rate = 100;
	if (!CHECK("memory", abuser_run(&plan, &result)))
		return;
	snprintf(what, sizeof(what),
		 "%s, %u packets of each source, %u others between: %llu admitted, exact %llu",
		 plan.tick ? "tick" : "precise", plan.packets, plan.between,
		 (unsigned long long)result.abuser_admitted,
		 (unsigned long long)result.abuser_exact);
	CHECK(what, result.abuser_admitted * 100 <= result.abuser_exact * most);
	CHECK(what, result.abuser_admitted >= result.abuser_exact);
	CHECK_EQ(what, result.client_refused, 0);
	CHECK(what, plan.packets > 2 || result.evictions > result.flood_sent / 4);
	CHECK_EQ("everybody came", result.client_sent + result.abuser_sent, 50 * (5 + 100));
	CHECK("a third of what abusers sent is let in, or less",
	      result.abuser_exact * 3 <= result.abuser_sent);
}

static void test_back_to_back(void)
{
	for (unsigned int packets = 1; packets <= 64; packets *= 2) {
		const struct abuser_plan ticks = { .tick = TICK, .packets = packets };
		const struct abuser_plan precise = { .packets = packets };

		check_storm(tokens, ticks, 105);
		check_storm(tokens, precise, 105);
		check_storm(windows, ticks, 105);
	}
}

/*
 * Every source shows up in another tick again, and so looks like a client that came back: as many
 * at a time as the table is made for. What room there is then goes by who was seen last.
 */
static void test_coming_back(void)
{
	for (unsigned int packets = 2; packets <= 32; packets *= 4) {
		const struct abuser_plan plan = { .tick = TICK,
						  .packets = packets,
						  .between = 4999 };

		check_storm(tokens, plan, 110);
	}
}

CHECK_SUITE(abuser, { "a flood of sources back to back", test_back_to_back },
	    { "a flood of sources that come back", test_coming_back });
