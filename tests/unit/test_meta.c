/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Last-seen ticks and tallies: exact while small, then true on average, and never over the top. */
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "meta.h"
#include "random.h"
#include "util.h"

#define MANTISSAS 2
#define TICK (1ULL << 19)

static const uint32_t mantissas[MANTISSAS] = { META_REFUSED_MANTISSA, META_ADMITTED_MANTISSA };

static void test_exact(void)
{
	static const uint64_t exact[MANTISSAS] = { 127, 63 };

	for (int i = 0; i < MANTISSAS; i++) {
		uint32_t tally = 0;

		for (uint64_t n = 1; n <= exact[i] + 1; n++) {
			/* A random number that is against every step that is not certain. */
			tally = tally_next(tally, mantissas[i], ~0U);
			CHECK_EQ("small numbers are exact", tally_value(tally, mantissas[i]), n);
		}
		CHECK_EQ("the next step is not certain", tally_next(tally, mantissas[i], ~0U),
			 tally);
	}
}

/* What was counted and given back was not there; where steps are uncertain, it stays. */
static void test_refund(void)
{
	for (uint32_t tally = 0; tally < 63; tally++) {
		uint32_t meta = META_BACK | 7U << META_REFUSED_OFFSET | tally;

		CHECK_EQ("one more and one less", meta_refund(meta + 1), meta);
	}
	CHECK_EQ("nothing to give back", meta_refund(META_BACK | 7U << META_REFUSED_OFFSET),
		 META_BACK | 7U << META_REFUSED_OFFSET);
	CHECK_EQ("many", meta_refund(64), 64);
}

/* Each step stands for what its chance is one of. */
static void test_steps(void)
{
	for (int i = 0; i < MANTISSAS; i++) {
		const uint32_t top = (1U << (mantissas[i] + META_EXPONENT)) - 1;

		for (uint32_t tally = 0; tally < top; tally++) {
			uint64_t step = tally_value(tally + 1, mantissas[i]) -
					tally_value(tally, mantissas[i]);
			uint64_t taken = 0;

			for (uint32_t random = 0; random < 1U << META_EXPONENT << 11; random++)
				taken += tally_next(tally, mantissas[i], random) == tally + 1;
			if (!CHECK_EQ("a step's chance is one of its size", taken * step,
				      1U << META_EXPONENT << 11))
				return;
		}
		CHECK_EQ("at the top it stays", tally_next(top, mantissas[i], 0), top);
	}
}

/*
 * Counts to @events @trials times. The mean may be off by five times its standard error, which a
 * true one is in a run of two millions; the seed is always the same.
 */
static void check_unbiased(uint32_t mantissa, uint32_t events, uint64_t trials)
{
	uint64_t random = events;
	double sum = 0, squares = 0, mean, error;

	for (uint64_t i = 0; i < trials; i++) {
		uint32_t tally = 0;
		double value;

		for (uint32_t n = 0; n < events; n++)
			tally = tally_next(tally, mantissa, (uint32_t)random_next(&random));
		value = (double)tally_value(tally, mantissa);
		sum += value;
		squares += value * value;
	}
	mean = sum / (double)trials;
	error = (squares / (double)trials - mean * mean) / (double)trials; /* squared */
	CHECK("the mean is true", (mean - events) * (mean - events) <= 25 * error);
	CHECK("a single tally is within a fifth, mostly",
	      error * (double)trials <= events * 0.2 * (events * 0.2));
}

static void test_unbiased(void)
{
	for (int i = 0; i < MANTISSAS; i++) {
		check_unbiased(mantissas[i], 200, 20000);
		check_unbiased(mantissas[i], 1000, 4000);
		check_unbiased(mantissas[i], 20000, 300);
	}
}

static void test_tallies_apart(void)
{
	uint32_t meta = 0;

	for (int i = 0; i < 100000000 && meta_refused_tally(meta) < 1023; i++)
		meta = meta_next(meta, 0, false, 0);
	CHECK_EQ("refused at its top", meta_refused(meta), 127 << 14);
	CHECK_EQ("leaves the rest alone", meta, 1023U << META_REFUSED_OFFSET);
	for (int i = 0; i < 100000000 && meta_admitted_tally(meta) < 511; i++)
		meta = meta_next(meta, 0, true, 0);
	CHECK_EQ("admitted at its top", meta_admitted(meta), 63 << 14);
	meta = meta_next(meta_next(meta, 0, true, 0), 0, false, 0);
	CHECK_EQ("both stay there, and nothing else changes", meta, (1U << META_SEEN_OFFSET) - 1);
}

static void test_seen(void)
{
	const struct stile_limiter limiter = { .seen_shift = 19 };
	uint32_t meta = meta_new(&limiter, 5 * TICK + 1);

	CHECK_EQ("new: not back, nothing tallied", meta, 5U << META_SEEN_OFFSET);
	CHECK_EQ("in the same tick again: not back",
		 meta_next(meta, meta_tick(&limiter, 6 * TICK - 1), true, 0) & META_BACK, 0);
	meta = meta_next(meta, meta_tick(&limiter, 6 * TICK), false, 0);
	CHECK_EQ("in the next one: back", meta & META_BACK, META_BACK);
	CHECK_EQ("and seen then", meta_age(meta, meta_tick(&limiter, 6 * TICK)), 0);
	meta = meta_next(meta, meta_tick(&limiter, 6 * TICK), true, 0);
	CHECK_EQ("it stays back", meta & META_BACK, META_BACK);
	CHECK_EQ("age in ticks", meta_age(meta, meta_tick(&limiter, 4000 * TICK)), 3994);
	CHECK_EQ("across the wrap of the tick",
		 meta_age(meta, meta_tick(&limiter, (4096 + 3) * TICK)), 4093);
	meta = meta_next(meta, meta_tick(&limiter, (4096 + 3) * TICK), true, 0);
	CHECK_EQ("seen after the wrap", meta_age(meta, meta_tick(&limiter, (4096 + 4) * TICK)), 1);
	CHECK_EQ("the tallies went on", meta_admitted(meta) * 10 + meta_refused(meta), 21);
}

CHECK_SUITE(meta, { "tallies are exact while small", test_exact },
	    { "steps of tallies", test_steps }, { "tallies given back", test_refund },
	    { "tallies are true on average", test_unbiased },
	    { "tallies at their top", test_tallies_apart }, { "when it was seen", test_seen });
