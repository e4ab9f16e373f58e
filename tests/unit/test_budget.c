/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the bucket of answers gives: those of a second at once, then so many a second. */
#include <stdint.h>

#include "budget.h"
#include "check.h"
#include "util.h"

#define SECOND 1000000000ULL
#define NOW (77 * SECOND)
#define TOKEN ((SECOND << STILE_TOKEN_SHIFT) / 5000)

static const struct stile_budget budget = {
	.token = TOKEN, .depth = 5000 * TOKEN, .limit = 5000, .batch = 4
};

/* Draws until there is nothing. */
static uint64_t drain(__u64 *state, uint64_t now)
{
	uint64_t sum = 0;
	__u32 n;

	while ((n = budget_grant(&budget, *state, now, state)) > 0)
		sum += n;
	return sum;
}

static void test_grant(void)
{
	__u64 state = 0, before;

	CHECK_EQ("a new one gives a draw", budget_grant(&budget, state, NOW, &state), 4);
	CHECK_EQ("and in all a second's worth", drain(&state, NOW), 4996);
	before = state;
	CHECK_EQ("then nothing", budget_grant(&budget, state, NOW, &state), 0);
	CHECK_EQ("and is left as it is", state, before);
	CHECK_EQ("a moment before one is due, too", drain(&state, NOW + SECOND / 5000 - 1), 0);
	CHECK_EQ("then the one that there is", drain(&state, NOW + SECOND / 5000), 1);
	CHECK_EQ("half a second later half of them", drain(&state, NOW + SECOND / 2), 2499);
	CHECK_EQ("a minute later no more than a second's", drain(&state, NOW + 60 * SECOND), 5000);
}

static void test_span(void)
{
	__u64 state = 0;
	uint64_t sum = 0;

	for (uint64_t now = NOW; now <= NOW + 10 * SECOND; now += 777777)
		sum += drain(&state, now);
	CHECK("ten seconds of asking get eleven seconds' worth", sum <= 55000);
	CHECK("and hardly less", sum > 54990);
}

static void test_none(void)
{
	const struct stile_budget none = { .token = SECOND << STILE_TOKEN_SHIFT, .batch = 1 };
	__u64 state = 0;

	CHECK_EQ("a budget of none gives none", budget_grant(&none, state, NOW, &state), 0);
	CHECK_EQ("ever", budget_grant(&none, state, NOW + 99 * SECOND, &state), 0);
}

CHECK_SUITE(budget, { "what is given", test_grant }, { "over a span", test_span },
	    { "none", test_none });
