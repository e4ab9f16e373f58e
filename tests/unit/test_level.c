/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels: what a load is worth, how it falls and rises, and what of a snapshot it is of. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "level.h"
#include "policy_text.h"
#include "snapshot.h"
#include "util.h"

static void test_worth(void)
{
	static const struct {
		const char *what;
		struct level_input input;
		uint8_t want;
	} rows[] = {
		{ "nothing known: all is well", {}, 255 },
		{ "a quarter of the events refused", { .events = 400, .refused = 100 }, 191 },
		{ "all events refused: still a little", { .events = 9, .refused = 9 }, 1 },
		{ "no event at all", { .events = 0, .refused = 0 }, 255 },
		{ "half of the connections held", { .held = 10, .limit = 20 }, 127 },
		{ "one of a million held", { .held = 1, .limit = 1000000 }, 254 },
		{ "one place left of 20", { .held = 19, .limit = 20 }, 12 },
		{ "no place left", { .held = 20, .limit = 20 }, 1 },
		{ "more held than the limit of now", { .held = 30, .limit = 20 }, 1 },
		{ "the accept queue is full to a quarter",
		  { .queued = 128, .queue_limit = 512 },
		  191 },
		{ "the worst counts",
		  { .events = 10,
		    .refused = 1,
		    .held = 1,
		    .limit = 2,
		    .queued = 3,
		    .queue_limit = 4 },
		  63 },
		{ "nobody listens", { .service = LEVEL_SERVICE_NONE }, 0 },
		{ "numbers as large as they get",
		  { .held = UINT64_MAX / 2, .limit = UINT64_MAX },
		  127 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what, level_of(&rows[i].input), rows[i].want);
}

/* A second with @held of 255 places held: worth 255 - held. */
static uint8_t second(struct level *level, unsigned int held)
{
	const struct level_input input = { .held = held, .limit = LEVEL_MAX };

	level_step(level, &input);
	return level->value;
}

static void test_hysteresis(void)
{
	static const struct {
		const char *what;
		unsigned int held;
		uint8_t want;
	} rows[] = {
		{ "the first one counts as it is", 5, 250 },
		{ "it falls at once", 155, 100 },
		{ "and again", 200, 55 },
		{ "better for a second: not yet", 0, 55 },
		{ "two", 0, 55 },
		{ "worse in between", 201, 54 },
		{ "from there one", 0, 54 },
		{ "two", 0, 54 },
		{ "three", 100, 54 },
		{ "four", 0, 54 },
		{ "five in a row: a step", 0, 86 },
		{ "and a step each second", 0, 118 },
		{ "not past what there is", 130, 125 },
		{ "the same again is not better", 130, 125 },
		{ "and better is to last again", 0, 125 },
	};
	struct level level = {};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what, second(&level, rows[i].held), rows[i].want);
}

static void test_restart(void)
{
	const struct level_input deaf = { .service = LEVEL_SERVICE_NONE };
	const struct level_input well = { .service = LEVEL_SERVICE_LISTENS };
	struct level level = {};

	level_step(&level, &deaf);
	CHECK_EQ("nobody ever listened: it may be another host", level.value, 255);
	level_step(&level, &well);
	level_step(&level, &deaf);
	CHECK_EQ("nobody listens: nothing", level.value, 0);
	level_step(&level, &well);
	CHECK_EQ("somebody does: asked again at once, a little", level.value, 1);
	for (int i = 0; i < LEVEL_QUIET - 2; i++)
		level_step(&level, &well);
	CHECK_EQ("until it has lasted", level.value, 1);
	level_step(&level, &well);
	CHECK_EQ("and then by steps", level.value, 1 + LEVEL_STEP);
}

/* The wait that is told is the one that it takes when all goes well from now on. */
static void test_wait(void)
{
	for (unsigned int held = 0; held <= LEVEL_MAX; held += 5) {
		for (int quiet = 0; quiet < LEVEL_QUIET + 3; quiet++) {
			struct level level = {};
			unsigned int told, n = 0;

			second(&level, held);
			for (int i = 0; i < quiet; i++)
				second(&level, 0);
			told = level_wait(&level, 200);
			while (level.value < 200) {
				second(&level, 0);
				n++;
			}
			if (!CHECK_EQ("as long as was told", n, told))
				return;
		}
	}
}

static void test_percent(void)
{
	CHECK_EQ("all", level_percent(255), 100);
	CHECK_EQ("nothing", level_percent(0), 0);
	CHECK_EQ("hardly anything is not nothing", level_percent(1), 1);
	CHECK_EQ("half", level_percent(127), 50);
	CHECK_EQ("all is all only", level_percent(254), 100);
}

static const char config[] = "rate_limiters:\n"
			     "  all: {keys: [], limit: 100}\n"
			     "  more: {keys: [], limit: 100}\n"
			     "  each: {limit: 10}\n"
			     "  new: {keys: [], limit: 10}\n"
			     "  places: {keys: [], algorithm: concurrency, limit: 20}\n"
			     "  few: {keys: [], algorithm: concurrency, limit: 10}\n"
			     "listeners:\n"
			     "  web: {ports: [80], rate_limiter_name: [each, all, more],\n"
			     "        new_sources_rate_limiter_name: new}\n"
			     "  ssh: {ports: [22], rate_limiter_name: all}\n"
			     "  sql: {ports: [5432], rate_limiter_name: [places, few],\n"
			     "        accept_queue_limit: 50%}\n";

static struct snapshot *snapshot_of_text(void)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct policy policy;

	if (snapshot && policy_text_compile(config, NULL, &policy)) {
		snapshot->policy = policy.kernel;
		policy_release(&policy);
	}
	return snapshot;
}

static void count(struct snapshot *snapshot, const char *limiter, uint64_t allowed,
		  uint64_t limited)
{
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &snapshot->policy.attachments[i];

		if (strcmp(snapshot->policy.limiters[at->limiter].name, limiter) != 0 ||
		    strcmp(snapshot->policy.listeners[at->listener].name, "web") != 0)
			continue;
		snapshot->decisions[i].count[STILE_DECISION_ALLOWED] += allowed;
		snapshot->decisions[i].count[STILE_DECISION_LIMITED] += limited;
	}
}

static uint32_t slot_of(const struct snapshot *snapshot, const char *listener)
{
	uint32_t slot = 1;

	while (slot < STILE_LISTENERS_MAX - 1 &&
	       strcmp(snapshot->policy.listeners[slot].name, listener) != 0)
		slot++;
	return slot;
}

static void test_gather(void)
{
	autofree struct snapshot *before = snapshot_of_text();
	autofree struct snapshot *now = snapshot_of_text();
	struct level_input input;

	if (!before || !now) {
		CHECK("there is memory", false);
		return;
	}
	count(before, "all", 1000, 1000);
	count(now, "all", 1000, 1000);
	level_gather(now, before->decisions, slot_of(now, "web"), &input);
	CHECK_EQ("what was refused long ago is of the past", input.refused, 0);
	count(now, "each", 1, 1000000);
	level_gather(now, before->decisions, slot_of(now, "web"), &input);
	CHECK_EQ("a client's own limit says nothing of the service", input.refused, 0);
	count(now, "new", 1, 1000000);
	level_gather(now, before->decisions, slot_of(now, "web"), &input);
	CHECK_EQ("nor does one for clients that are new", input.refused, 0);
	count(now, "all", 90, 10);
	count(now, "more", 60, 30);
	level_gather(now, before->decisions, slot_of(now, "web"), &input);
	CHECK_EQ("the limit that refused most", input.refused, 30);
	CHECK_EQ("of the events that it judged", input.events, 90);
	level_gather(now, before->decisions, slot_of(now, "ssh"), &input);
	CHECK_EQ("and of no other listener", input.refused, 0);
	count(before, "all", 5000, 5000);
	level_gather(now, before->decisions, slot_of(now, "web"), &input);
	CHECK_EQ("counters that began anew", input.events, 2100);
}

static uint32_t limiter_of(const struct snapshot *snapshot, const char *limiter)
{
	uint32_t slot = 1;

	while (slot < STILE_LIMITERS_MAX - 1 &&
	       strcmp(snapshot->policy.limiters[slot].name, limiter) != 0)
		slot++;
	return slot;
}

static void test_gather_held(void)
{
	autofree struct snapshot *snapshot = snapshot_of_text();
	struct level_input input;

	if (!snapshot) {
		CHECK("there is memory", false);
		return;
	}
	snapshot->limiters[limiter_of(snapshot, "places")].held = 6;
	snapshot->limiters[limiter_of(snapshot, "few")].held = 5;
	level_gather(snapshot, snapshot->decisions, slot_of(snapshot, "sql"), &input);
	CHECK_EQ("the fullest limit of connections", input.held, 5);
	CHECK_EQ("and what it is", input.limit, 10);
	snapshot->limiters[limiter_of(snapshot, "places")].held = 11;
	level_gather(snapshot, snapshot->decisions, slot_of(snapshot, "sql"), &input);
	CHECK_EQ("as a part of each", input.held, 11);
	level_gather(snapshot, snapshot->decisions, slot_of(snapshot, "web"), &input);
	CHECK_EQ("another listener has none", input.limit, 0);
}

static void test_gather_queue(void)
{
	autofree struct snapshot *snapshot = snapshot_of_text();
	struct level_input input;
	uint32_t sql, web;

	if (!snapshot) {
		CHECK("there is memory", false);
		return;
	}
	sql = slot_of(snapshot, "sql");
	web = slot_of(snapshot, "web");
	level_gather(snapshot, snapshot->decisions, sql, &input);
	CHECK_EQ("the kernel does not tell", input.service, LEVEL_SERVICE_UNKNOWN);
	snapshot->has_queues = true;
	snapshot->queues[sql] = snapshot->queues[web] = (struct snapshot_queue){
		.sockets = 2,
		.fullest_length = 3,
		.fullest_backlog = 7,
	};
	level_gather(snapshot, snapshot->decisions, sql, &input);
	CHECK_EQ("somebody listens", input.service, LEVEL_SERVICE_LISTENS);
	CHECK_EQ("so many wait", input.queued, 3);
	CHECK_EQ("of those that accept_queue_limit lets wait", input.queue_limit, 4);
	level_gather(snapshot, snapshot->decisions, web, &input);
	CHECK_EQ("or else of those that the queue takes", input.queue_limit, 8);
	level_gather(snapshot, snapshot->decisions, slot_of(snapshot, "ssh"), &input);
	CHECK_EQ("nobody listens", input.service, LEVEL_SERVICE_NONE);
}

CHECK_SUITE(level, { "what a load is worth", test_worth },
	    { "falls at once, rises by steps", test_hysteresis }, { "a restart", test_restart },
	    { "the wait is true", test_wait }, { "hundredths", test_percent },
	    { "refused, from a snapshot", test_gather },
	    { "connections, from a snapshot", test_gather_held },
	    { "accept queues, from a snapshot", test_gather_queue });
