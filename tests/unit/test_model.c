/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf/bucket.h and bpf/table.h against the reference model over millions of random steps: random
 * limiters, clocks near every wrap, many clients in a table with hardly any room. A failure prints
 * the seed and the step; the same seed makes the same steps again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "host_table.h"
#include "model.h"
#include "random.h"
#include "util.h"

#define NSEC_PER_SEC 1000000000ULL
#define RUNS 1200
#define STEPS 6000 /* of each run */
#define SETS 3
#define LEAP_MAX (1ULL << 53) /* ns, 104 days: less than 2^24 of any window */
#define CLIENTS 26	      /* the ways of three sets are 18, or 12 */

_Static_assert(offsetof(struct stile_set, meta) == offsetof(struct stile_set_wide, meta),
	       "keys and states come first in both kinds");

struct client {
	struct key key;
	uint32_t set;
	bool resident; /* has a way */
	struct model_bucket bucket;
};

struct run {
	uint64_t seed, random;
	unsigned int step;
	unsigned int pace; /* of a hundred steps, those at which time goes on */
	struct stile_limiter limiter;
	uint64_t tick, tick_base; /* 0: the precise clock */
	uint64_t now;
	union host_set sets[SETS];
	struct client clients[CLIENTS];
	/* How often things happened that a run should see. */
	unsigned int admitted, refused, evicted, full, reused, behind;
	char failure[256]; /* empty: none */
};

static void fail(struct run *run, const char *what, uint64_t got, uint64_t want)
{
	const char *const algorithms[] = { "sliding_window", "token_bucket", "fixed_window",
					   "concurrency" };

	if (*run->failure)
		return;
	snprintf(run->failure, sizeof(run->failure),
		 "seed %" PRIu64 " step %u: %s: got %" PRIu64 ", want %" PRIu64
		 " (%s, limit %" PRIu64 ", window %" PRIu64 ", burst %" PRIu64 ", now %" PRIu64 ")",
		 run->seed, run->step, what, got, want, algorithms[run->limiter.algorithm],
		 (uint64_t)run->limiter.limit, (uint64_t)run->limiter.window,
		 (uint64_t)run->limiter.burst, run->now);
}

static uint64_t pick(struct run *run, const uint64_t *values, size_t n)
{
	return values[random_below(&run->random, n)];
}

/* From the lowest limit to the highest, from the shortest window to the longest. */
static void choose_limiter(struct run *run)
{
	const uint64_t limits[] = { 1, 1, 2, 3, 7, 60, 999, 70000, STILE_WINDOW_LIMIT_MAX };
	const uint64_t windows[] = { STILE_WINDOW_NS_MIN,     STILE_WINDOW_NS_MIN + 1,
				     10 * NSEC_PER_SEC,	      59999999999,
				     60 * NSEC_PER_SEC,	      2718281828459,
				     STILE_WINDOW_NS_MAX - 1, STILE_WINDOW_NS_MAX };
	struct stile_limiter *limiter = &run->limiter;
	uint64_t bursts[4] = { 1, 2, 20 };

	limiter->algorithm = random_below(&run->random, STILE_ALGORITHM_CONCURRENCY);
	limiter->action = random_chance(&run->random, 25) ? STILE_ACTION_COUNT : STILE_ACTION_DROP;
	limiter->full = random_below(&run->random, _STILE_FULL_MAX);
	limiter->limit = pick(run, limits, ARRAY_SIZE(limits));
	limiter->window = pick(run, windows, ARRAY_SIZE(windows));
	limiter->wide = random_chance(&run->random, 30);
	limiter->keyed = 1;
	limiter->ipv4_prefix = 32;
	limiter->ipv6_prefix = limiter->wide ? 128 : 64;
	limiter->sets = SETS;
	limiter->seed[0] = random_next(&run->random);
	limiter->seed[1] = random_next(&run->random) | 1;
	limiter->seen_shift = 30;
	if (limiter->algorithm != STILE_ALGORITHM_TOKEN_BUCKET)
		return;
	if (random_chance(&run->random, 10)) /* the fastest that there is */
		limiter->limit = STILE_TOKEN_RATE_MAX * (limiter->window / NSEC_PER_SEC);
	bursts[3] = limiter->limit;
	limiter->burst = pick(run, bursts, ARRAY_SIZE(bursts));
	limiter->token =
		((limiter->window << STILE_TOKEN_SHIFT) + limiter->limit - 1) / limiter->limit;
	limiter->depth = limiter->burst * limiter->token;
}

/* Soon after the machine started, at any time, or shortly before something wraps. */
static void choose_start(struct run *run)
{
	const uint64_t window = run->limiter.window;
	const uint64_t numbers = (BUCKET_NUMBER_MASK + 1) * window; /* of 1h: never reached */

	switch (random_below(&run->random, 3)) {
	case 0:
		run->now = random_below(&run->random, 3 * window);
		break;
	case 1:
		run->now = random_below(&run->random, 1ULL << 57);
		break;
	default:
		run->now = 1ULL << (64 - STILE_TOKEN_SHIFT);
		if (run->limiter.algorithm != STILE_ALGORITHM_TOKEN_BUCKET &&
		    window < LEAP_MAX >> 22)
			run->now = numbers * (1 + random_below(&run->random, 3));
		run->now -= random_below(&run->random, 40 * window);
	}
	if (random_chance(&run->random, 50)) {
		run->tick = random_chance(&run->random, 50) ? 4000000 : 10000000;
		run->tick_base = random_below(&run->random, run->tick);
	}
}

static struct address client_address(const struct run *run, unsigned int id)
{
	struct address address;

	if (id % 2 == 0)
		return (struct address){ { 0, swap64(KEY_MAPPED << 32 | (0x0a4d0100 + id)) } };
	address.word[0] = swap64(0x20010db800000000 + (run->limiter.wide ? 0 : id));
	address.word[1] = swap64(0x1234000000000000 + id);
	return address;
}

static void begin(struct run *run, uint64_t seed)
{
	*run = (struct run){ .seed = seed, .random = seed };
	run->pace = 1 + random_below(&run->random, 2) * random_below(&run->random, 60);
	choose_limiter(run);
	choose_start(run);
	for (unsigned int id = 0; id < CLIENTS; id++) {
		const struct address address = client_address(run, id);

		run->clients[id].key = key_of(&run->limiter, &address);
		run->clients[id].set = key_set(&run->limiter, &run->clients[id].key);
	}
}

static struct table_set set_of(struct run *run, const struct client *client)
{
	const struct host_table table = { &run->limiter, run->sets };

	return host_table_set(&table, client->set);
}

/* A limiter's own grain: what most steps of time are compared to. */
static uint64_t grain(const struct run *run)
{
	if (run->limiter.algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return run->limiter.token >> STILE_TOKEN_SHIFT;
	return run->limiter.window / run->limiter.limit;
}

/* The moment when some client would be let in, or just before. */
static uint64_t until_admitted(struct run *run)
{
	const struct client *client = &run->clients[random_below(&run->random, CLIENTS)];
	struct table_set set = set_of(run, client);
	uint32_t way = table_find(&set, &client->key);
	uint64_t wait;

	if (way >= set.ways)
		return 0;
	wait = bucket_wait(&run->limiter, set.state[way], run->now);
	return wait ? wait - random_below(&run->random, 2) : 0;
}

static void advance(struct run *run)
{
	const uint64_t window = run->limiter.window;
	const uint64_t edge = window - run->now % window;
	const unsigned int dice = (unsigned int)random_below(&run->random, 1000);

	if (!random_chance(&run->random, run->pace))
		return;
	if (dice < 400)
		run->now += random_below(&run->random, 2 * grain(run) + 1);
	else if (dice < 550)
		run->now += random_below(&run->random, window);
	else if (dice < 700) /* around the window's edge */
		run->now += edge - 1 + random_below(&run->random, 3);
	else if (dice < 900)
		run->now += until_admitted(run);
	else if (dice < 995)
		run->now += random_below(&run->random, 4 * window);
	else
		run->now += random_below(&run->random, LEAP_MAX);
}

/* The time as some CPU sees it: its clock may be behind by a little, or by all of a window. */
static uint64_t event_clock(struct run *run)
{
	const unsigned int dice = (unsigned int)random_below(&run->random, 100);
	uint64_t now = run->now, lag = 0;

	if (dice < 8)
		lag = random_below(&run->random, 1000);
	else if (dice < 12)
		lag = random_below(&run->random, run->limiter.window + 1);
	if (lag && lag <= now) {
		run->behind++;
		now -= lag;
	}
	if (run->tick && now >= run->tick_base)
		now -= (now - run->tick_base) % run->tick;
	return now;
}

/* How many ways of the set hold clients that the model remembers something of. */
static uint32_t live_in(const struct run *run, uint32_t set, uint64_t now)
{
	uint32_t live = 0;

	for (unsigned int id = 0; id < CLIENTS; id++) {
		const struct client *client = &run->clients[id];

		live += client->set == set && client->resident &&
			!model_is_new(&run->limiter, &client->bucket, now);
	}
	return live;
}

/* After a way changed hands: who lost it, and whether that cost a live bucket. */
static void note_lost(struct run *run, uint32_t set, uint64_t now, bool evicted)
{
	unsigned int live_lost = 0;

	for (unsigned int id = 0; id < CLIENTS; id++) {
		struct client *client = &run->clients[id];
		const struct table_set ways = set_of(run, client);

		if (client->set != set || !client->resident ||
		    table_find(&ways, &client->key) != TABLE_NONE)
			continue;
		live_lost += !model_is_new(&run->limiter, &client->bucket, now);
		client->resident = false;
		client->bucket = (struct model_bucket){};
		run->reused++;
	}
	run->evicted += live_lost;
	if (live_lost != evicted)
		fail(run, "live buckets lost", live_lost, evicted);
}

/* Whether the client has no way, and every way is live. */
static bool is_crowded(struct run *run, const struct client *client, uint64_t now)
{
	const struct table_set set = set_of(run, client);

	return !client->resident && live_in(run, client->set, now) == set.ways;
}

/* What is to be answered; the model is charged. */
static enum table_answer expect(struct run *run, struct client *client, uint64_t now,
				bool *ret_evicts)
{
	const struct stile_limiter *limiter = &run->limiter;
	bool crowded = is_crowded(run, client, now);
	bool admits;

	*ret_evicts = crowded && limiter->full == STILE_FULL_EVICT;
	if (crowded && !*ret_evicts)
		return TABLE_FULL;
	admits = model_admits(limiter, &client->bucket, now);
	if (admits || limiter->action == STILE_ACTION_COUNT)
		model_charge(limiter, &client->bucket, now);
	if (admits)
		return TABLE_ALLOWED;
	return limiter->action == STILE_ACTION_COUNT ? TABLE_COUNTED : TABLE_LIMITED;
}

static void charge(struct run *run, struct client *client, uint64_t now)
{
	const struct table_event event = { client->key, now, (uint32_t)run->random, 0, 0 };
	const struct table_set set = set_of(run, client);
	struct host_work work = {};
	enum table_answer got, want;
	bool evicts;

	want = expect(run, client, now, &evicts);
	got = host_set_charge(&set, &run->limiter, &event, &work);
	if (got != want)
		fail(run, "answer", got, want);
	if (work.evictions != evicts)
		fail(run, "evictions", work.evictions, evicts);
	run->admitted += got == TABLE_ALLOWED;
	run->refused += got == TABLE_LIMITED || got == TABLE_COUNTED;
	run->full += got == TABLE_FULL;
	if (work.claims) {
		note_lost(run, client->set, now, evicts);
		client->resident = true;
	}
	/* An over-limit charge may be less than a token: only what was admitted is given back. */
	if (got == TABLE_ALLOWED && random_chance(&run->random, 10)) {
		table_refund(&set, &run->limiter, &event);
		model_refund(&run->limiter, &client->bucket);
	}
}

static void peek(struct run *run, struct client *client, uint64_t now)
{
	const struct table_event event = { .key = client->key, .now = now };
	const struct table_set set = set_of(run, client);
	const union host_set before = run->sets[client->set];
	bool admits = model_admits(&run->limiter, &client->bucket, now);
	bool full = run->limiter.full != STILE_FULL_EVICT && is_crowded(run, client, now);
	enum table_answer answer = table_peek(&set, &run->limiter, &event);

	if ((answer == TABLE_FULL) != full)
		fail(run, "a look for room", answer, full);
	if ((answer == TABLE_MISSING) != (!client->resident && !full))
		fail(run, "a look for the client", answer, client->resident);
	if (!full && (answer == TABLE_ALLOWED || answer == TABLE_MISSING) != admits)
		fail(run, "a look", answer, admits);
	/* A refusal is noted in the meta words, which come next. */
	if (memcmp(&before, &run->sets[client->set], offsetof(struct stile_set, meta)) != 0)
		fail(run, "a look changed the set", 1, 0);
}

/* bucket_wait() is true to the nanosecond, and bucket_debt() to the last event. */
static void foretell(struct run *run, const struct client *client, uint64_t now)
{
	const struct stile_limiter *limiter = &run->limiter;
	const struct table_set set = set_of(run, client);
	uint32_t way = table_find(&set, &client->key);
	uint64_t state = way < set.ways ? set.state[way] : 0;
	uint64_t wait = bucket_wait(limiter, state, now);
	bool is_new = model_is_new(limiter, &client->bucket, now);

	if ((way < set.ways) != client->resident)
		fail(run, "has a way", way < set.ways, client->resident);
	if (!model_admits(limiter, &client->bucket, now + wait))
		fail(run, "admitted after the wait", 0, 1);
	if (wait && model_admits(limiter, &client->bucket, now + wait - 1))
		fail(run, "admitted 1 ns before", 1, 0);
	if ((bucket_debt(limiter, state, now) == 0) != is_new)
		fail(run, "as good as new", bucket_debt(limiter, state, now) == 0, is_new);
}

static void step(struct run *run)
{
	const unsigned int dice = (unsigned int)random_below(&run->random, 100);
	/* Some clients come often. */
	const uint64_t n = random_chance(&run->random, 60) ? 3 : CLIENTS;
	struct client *client = &run->clients[random_below(&run->random, n)];
	uint64_t now;

	advance(run);
	now = event_clock(run);
	if (dice < 85)
		charge(run, client, now);
	else if (dice < 93)
		peek(run, client, now);
	else
		foretell(run, client, now);
}

static void test_decisions(void)
{
	unsigned int admitted = 0, refused = 0, evicted = 0, full = 0, reused = 0, behind = 0;
	static struct run run;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		begin(&run, seed);
		for (run.step = 0; run.step < STEPS && !*run.failure; run.step++)
			step(&run);
		CHECK_STR_EQ("the table decides as the model does", run.failure, "");
		admitted += run.admitted;
		refused += run.refused;
		evicted += run.evicted;
		full += run.full;
		reused += run.reused;
		behind += run.behind;
	}
	CHECK("a part of the events is admitted", admitted > RUNS * STEPS / 20);
	CHECK("a part is refused", refused > RUNS * STEPS / 20);
	CHECK("live buckets make room", evicted > RUNS * STEPS / 100);
	CHECK("sets are full", full > RUNS * STEPS / 100);
	CHECK("buckets as good as new make room", reused - evicted > RUNS * STEPS / 100);
	CHECK("clocks are behind", behind > RUNS * STEPS / 20);
}

CHECK_SUITE(model, { "decisions are the reference model's, step by step", test_decisions });
