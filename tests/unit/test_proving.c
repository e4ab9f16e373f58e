/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prove_sources: auto: what it begins for, how long it goes on, and what does not move it. */
#include "check.h"
#include "proving.h"
#include "util.h"

/* Counters of a listener, and what they rise by in each step. */
struct traffic {
	struct proving_input input;
	uint64_t asked, opened, proven;
};

/* Runs for @steps. The step in which it switched first, from 1; 0: it did not. */
static unsigned int run(struct proving *proving, struct traffic *traffic, unsigned int steps)
{
	unsigned int first = 0;

	for (unsigned int step = 1; step <= steps; step++) {
		traffic->input.asked += traffic->asked;
		traffic->input.opened += traffic->opened;
		traffic->input.proven += traffic->proven;
		if (proving_step(proving, &traffic->input) && first == 0)
			first = step;
	}
	return first;
}

static void test_begins(void)
{
	static const struct {
		const char *what;
		struct traffic traffic;
		unsigned int begins;
		enum proving_reason reason;
	} rows[] = {
		{ "nothing happens", { .input = { .counted = true } }, 0, PROVING_NONE },
		{ "a busy service",
		  { .input = { .counted = true }, .asked = 5000, .opened = 5000 },
		  0,
		  PROVING_NONE },
		{ "half of the SYNs are lost, or refused by the service",
		  { .input = { .counted = true }, .asked = 200, .opened = 100 },
		  0,
		  PROVING_NONE },
		{ "a trickle that comes to nothing",
		  { .input = { .counted = true }, .asked = 12 },
		  0,
		  PROVING_NONE },
		{ "a flood: the second step knows how many came",
		  { .input = { .counted = true }, .asked = 1000 },
		  2,
		  PROVING_HANDSHAKES },
		{ "a flood beside clients that are served",
		  { .input = { .counted = true }, .asked = 1000, .opened = 100 },
		  2,
		  PROVING_HANDSHAKES },
		{ "nobody counts connections, or the service is elsewhere",
		  { .input = { .counted = false }, .asked = 100000 },
		  0,
		  PROVING_NONE },
		{ "a table is full",
		  { .input = { .counted = true, .table = true } },
		  1,
		  PROVING_TABLE },
		{ "a queue is full", { .input = { .queue = true } }, 1, PROVING_QUEUE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct traffic traffic = rows[i].traffic;
		struct proving proving = { 0 };

		CHECK_EQ(rows[i].what, run(&proving, &traffic, 300), rows[i].begins);
		CHECK_EQ(rows[i].what, proving.on, rows[i].begins != 0);
		CHECK_EQ(rows[i].what, proving.reason, rows[i].reason);
	}
}

/* Counters that were there before it looked are no traffic. */
static void test_first_look(void)
{
	struct traffic traffic = { .input = { .asked = 1000000, .counted = true } };
	struct proving proving = { 0 };

	CHECK_EQ("what was before is not counted", run(&proving, &traffic, 50), 0);
	traffic.input.asked = 7; /* another table */
	CHECK_EQ("nor is a counter that starts again", run(&proving, &traffic, 50), 0);
}

static void test_ends(void)
{
	struct traffic flood = { .input = { .counted = true }, .asked = 100000 };
	struct proving proving = { 0 };
	unsigned int step;

	CHECK_EQ("begins", run(&proving, &flood, 2), 2);
	CHECK_EQ("goes on", run(&proving, &flood, 6000), 0);
	flood.proven = 100; /* good clients bring their cookies back */
	CHECK_EQ("beside good clients, too", run(&proving, &flood, 6000), 0);
	flood.asked = flood.opened = flood.proven;
	step = run(&proving, &flood, 300);
	CHECK_EQ("ends when it has been quiet for ten seconds", step > PROVING_QUIET_STEPS, true);
	CHECK_EQ("however large the flood was", step < 2 * PROVING_QUIET_STEPS, true);
	CHECK_EQ("and is off", proving.on, false);
	CHECK_EQ("for as long as all is well", run(&proving, &flood, 300), 0);
}

static void test_does_not_flap(void)
{
	struct traffic gusts = { .input = { .counted = true } };
	struct proving proving = { 0 };
	unsigned int switches = 0;

	for (unsigned int gust = 0; gust < 20; gust++) {
		gusts.asked = 1000;
		switches += run(&proving, &gusts, 5) != 0;
		gusts.asked = 0;
		switches += run(&proving, &gusts, 60) != 0;
	}
	CHECK_EQ("a gust every six seconds: it begins once", switches, 1);
	gusts.input.table = true;
	CHECK_EQ("a full table keeps it on", run(&proving, &gusts, 1000), 0);
	gusts.input.table = false;
	CHECK_EQ("until it is not", run(&proving, &gusts, 1000), PROVING_QUIET_STEPS);
}

CHECK_SUITE(proving, { "what it begins for", test_begins }, { "the first look", test_first_look },
	    { "how it ends", test_ends }, { "gusts", test_does_not_flap });
