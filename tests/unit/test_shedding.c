/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When shedding begins and ends, what it says then, and that it does not flap. */
#include "check.h"
#include "shedding.h"
#include "util.h"

/* @refused more events are refused. */
static enum shedding_change step(struct shedding *shedding, struct stile_decisions *decisions,
				 uint64_t refused)
{
	decisions->count[STILE_DECISION_LIMITED] += refused;
	decisions->count[STILE_DECISION_ALLOWED] += 3;
	return shedding_step(shedding, decisions, false);
}

/* Steps without a refusal until it ends; 0: it does not. */
static unsigned int run_quiet(struct shedding *shedding, struct stile_decisions *decisions)
{
	for (unsigned int i = 1; i <= 2 * SHEDDING_QUIET_MAX; i++)
		if (step(shedding, decisions, 0) == SHEDDING_ENDS)
			return i;
	return 0;
}

static void test_life(void)
{
	struct stile_decisions decisions = { { [STILE_DECISION_LIMITED] = 1000 } };
	struct shedding shedding = { 0 };

	CHECK_EQ("what was before is no news", step(&shedding, &decisions, 0), SHEDDING_SAME);
	CHECK_EQ("nobody is refused", step(&shedding, &decisions, 0), SHEDDING_SAME);
	CHECK_EQ("the first one begins it", step(&shedding, &decisions, 1), SHEDDING_BEGINS);
	CHECK_EQ("with him", shedding.refused, 1);
	CHECK_EQ("more go on with it", step(&shedding, &decisions, 70), SHEDDING_SAME);
	CHECK_EQ("a pause, too", step(&shedding, &decisions, 0), SHEDDING_SAME);
	CHECK_EQ("until the last", step(&shedding, &decisions, 29), SHEDDING_SAME);
	CHECK_EQ("it ends after a while", run_quiet(&shedding, &decisions), SHEDDING_QUIET_MIN);
	CHECK_EQ("and says how many", shedding.refused, 100);
	CHECK_EQ("and how long", shedding.lasted, 4);
	CHECK_EQ("and ends once", run_quiet(&shedding, &decisions), 0);
}

static void test_counted(void)
{
	static const struct {
		const char *what;
		enum stile_decision decision;
		bool full_refuses;
		enum shedding_change change;
	} rows[] = {
		{ "over the limit", STILE_DECISION_LIMITED, false, SHEDDING_BEGINS },
		{ "allowed", STILE_DECISION_ALLOWED, true, SHEDDING_SAME },
		{ "only counted", STILE_DECISION_COUNTED, true, SHEDDING_SAME },
		{ "exempt", STILE_DECISION_EXEMPT, true, SHEDDING_SAME },
		{ "no room, let in", STILE_DECISION_FULL, false, SHEDDING_SAME },
		{ "no room, refused", STILE_DECISION_FULL, true, SHEDDING_BEGINS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stile_decisions decisions = { 0 };
		struct shedding shedding = { 0 };

		(void)shedding_step(&shedding, &decisions, rows[i].full_refuses);
		decisions.count[rows[i].decision] = 9;
		CHECK_EQ(rows[i].what, shedding_step(&shedding, &decisions, rows[i].full_refuses),
			 rows[i].change);
	}
}

static void test_restart(void)
{
	struct stile_decisions decisions = { { [STILE_DECISION_LIMITED] = 1000 } };
	struct shedding shedding = { 0 };

	(void)step(&shedding, &decisions, 0);
	decisions.count[STILE_DECISION_LIMITED] = 0;
	CHECK_EQ("counters start again", step(&shedding, &decisions, 7), SHEDDING_SAME);
	CHECK_EQ("and go on", step(&shedding, &decisions, 1), SHEDDING_BEGINS);
	CHECK_EQ("from there", shedding.refused, 1);
}

/* How often it begins or ends in a day in which one client is refused every @period seconds. */
static unsigned int count_lines(unsigned int period)
{
	struct stile_decisions decisions = { 0 };
	struct shedding shedding = { 0 };
	unsigned int lines = 0;

	for (unsigned int second = 0; second < 86400; second++)
		lines += step(&shedding, &decisions, second && second % period == 0) !=
			 SHEDDING_SAME;
	return lines;
}

static void test_does_not_flap(void)
{
	struct stile_decisions decisions = { 0 };
	struct shedding shedding = { 0 };

	CHECK_EQ("every four seconds: it begins once", count_lines(4), 1);
	CHECK_EQ("every fifteen: it learns to wait", count_lines(15), 5);
	for (unsigned int period = 5; period < SHEDDING_QUIET_MAX; period += 9)
		CHECK("a few lines, whatever the period", count_lines(period) <= 13);
	CHECK("two lines in five minutes at most",
	      count_lines(SHEDDING_QUIET_MAX + 1) <= 2 * 86400 / SHEDDING_QUIET_MAX);
	(void)step(&shedding, &decisions, 0);
	for (int i = 0; i < 3; i++) {
		(void)step(&shedding, &decisions, 1);
		(void)run_quiet(&shedding, &decisions);
	}
	(void)run_quiet(&shedding, &decisions);
	CHECK_EQ("after a long peace", step(&shedding, &decisions, 1), SHEDDING_BEGINS);
	CHECK_EQ("it is as at first", run_quiet(&shedding, &decisions), SHEDDING_QUIET_MIN);
}

CHECK_SUITE(shedding, { "from its begin to its end", test_life },
	    { "what counts as refused", test_counted },
	    { "counters that start again", test_restart },
	    { "refusals now and then", test_does_not_flap });
