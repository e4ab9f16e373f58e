/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The map from ticks to nanoseconds never runs ahead of the clock it stands for, and lags as little
 * as the samples allow.
 */
#include <stddef.h>

#include "check.h"
#include "tick.h"
#include "util.h"

#define TICK 4000000ULL
#define FIRST 4294892296ULL /* the kernel counts from -300 s, modulo 2^32, at HZ=250 */

/* What the samples see of a counter whose first tick is at @base, read every @step ns. */
static void observe(struct tick_fit *fit, uint64_t base, uint64_t step, uint64_t latency)
{
	tick_begin(fit, TICK);
	for (uint64_t time = base + TICK / 3; time < base + 6 * TICK; time += step) {
		/* An interrupt that comes late moves the counter late. */
		struct tick_sample sample = { time, FIRST + (time - latency - base) / TICK };

		tick_add(fit, &sample);
	}
}

static void test_base(void)
{
	static const struct {
		const char *what;
		uint64_t base, step, latency;
		int64_t lag_max; /* ns */
	} rows[] = {
		{ "edges at multiples of the tick are found exactly", 1000 * TICK, 1500, 0, 0 },
		{ "and so with interrupts that come late", 1000 * TICK, 1500, 20000, 0 },
		{ "edges in the middle are found to the last sample", 1000 * TICK + TICK / 2, 1500,
		  0, 1500 },
		{ "a little above a multiple lags an eighth of a tick at most",
		  1000 * TICK + TICK / 10, 1500, 0, TICK / 8 },
		{ "samples far apart lag by their distance at most", 1000 * TICK + TICK / 2, 900000,
		  0, 900000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t want = rows[i].base - FIRST * TICK;
		struct tick_fit fit;
		int64_t lag;

		observe(&fit, rows[i].base, rows[i].step, rows[i].latency);
		CHECK_EQ(rows[i].what, fit.edges, 5);
		lag = (int64_t)(want - tick_base(&fit));
		CHECK(rows[i].what, lag >= 0);
		CHECK(rows[i].what, lag <= rows[i].lag_max);
	}
}

static void test_no_edge(void)
{
	const struct tick_sample samples[] = { { 5000, 7 }, { 6000, 7 }, { 7000, 7 } };
	struct tick_fit fit;

	tick_begin(&fit, TICK);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		tick_add(&fit, &samples[i]);
	CHECK_EQ("a counter that stands still has no edge", fit.edges, 0);
}

CHECK_SUITE(tick, { "the base is never ahead, and close", test_base },
	    { "no edge, no base", test_no_edge });
