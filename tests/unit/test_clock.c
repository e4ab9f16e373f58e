/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tick clock may cost: over any interval it admits no more than the precise clock does
 * over the same interval and one tick, and where ticks stand still, and as long as they do, no more
 * than over the interval and that long. Everybody asks all the time, so that what could be let in
 * is.
 */
#include <stdint.h>

#include "bucket.h"
#include "check.h"
#include "random.h"
#include "util.h"

#define S 1000000000ULL
#define ASKS_PER_TICK 4

struct world {
	struct stile_limiter limiter;
	uint64_t random;
	uint64_t tick, base; /* of the clock */
	uint64_t from, to;   /* the interval */
	/* Ticks stand still for so long from then on: every CPU's, or only one's. */
	uint64_t still_at, still_for;
	bool one_cpu;
};

static void choose_limiter(struct world *world)
{
	static const uint64_t limits[] = { 1, 2, 3, 20, 500 };
	static const uint64_t bursts[] = { 2, 20, 400 };
	struct stile_limiter *limiter = &world->limiter;

	*limiter = (struct stile_limiter){
		.algorithm = random_below(&world->random, STILE_ALGORITHM_CONCURRENCY),
		.limit = limits[random_below(&world->random, ARRAY_SIZE(limits))],
		.window = S + random_below(&world->random, 2) * random_below(&world->random, S),
	};
	if (limiter->algorithm != STILE_ALGORITHM_TOKEN_BUCKET)
		return;
	limiter->burst = bursts[random_below(&world->random, ARRAY_SIZE(bursts))];
	limiter->token =
		((limiter->window << STILE_TOKEN_SHIFT) + limiter->limit - 1) / limiter->limit;
	limiter->depth = limiter->burst * limiter->token;
}

static struct world make_world(uint64_t seed)
{
	struct world world = { .random = seed };

	choose_limiter(&world);
	world.tick = random_chance(&world.random, 50) ? 4000000 : 10000000;
	world.base = random_below(&world.random, world.tick);
	world.from = 1000 * S + random_below(&world.random, 2 * S);
	world.to = world.from + random_below(&world.random, 4 * S);
	return world;
}

static uint64_t tick_clock(const struct world *world, uint64_t time)
{
	return time - (time - world->base) % world->tick;
}

/* As a CPU sees it whose ticks may stand still. */
static uint64_t still_clock(const struct world *world, uint64_t time)
{
	if (time >= world->still_at && time < world->still_at + world->still_for)
		time = world->still_at;
	return tick_clock(world, time);
}

static uint64_t ask(const struct stile_limiter *limiter, __u64 *state, uint64_t now)
{
	uint64_t n = 0;
	__u64 charged;

	while (bucket_charge(limiter, *state, now, &charged)) {
		*state = charged;
		n++;
	}
	return n;
}

/* What is admitted by the precise clock to whoever begins at @from. */
static uint64_t precise_total(const struct world *world, uint64_t from)
{
	uint64_t n = 0, time;
	__u64 state = 0;

	for (time = from; time < world->to; time += world->tick / ASKS_PER_TICK)
		n += ask(&world->limiter, &state, time);
	return n + ask(&world->limiter, &state, world->to);
}

/* And by ticks. Where only one CPU's stand still, both ask, each by its own clock. */
static uint64_t tick_total(const struct world *world)
{
	uint64_t n = 0, time;
	__u64 state = 0;

	for (time = world->from; time <= world->to; time += world->tick / ASKS_PER_TICK) {
		if (world->one_cpu && (time / world->tick) % 2)
			n += ask(&world->limiter, &state, tick_clock(world, time));
		n += ask(&world->limiter, &state, still_clock(world, time));
	}
	return n;
}

static void test_ticks(void)
{
	unsigned int more = 0, as_many = 0;

	for (uint64_t seed = 1; seed <= 1500; seed++) {
		const struct world world = make_world(seed);
		const uint64_t most = precise_total(&world, world.from - world.tick);
		const uint64_t got = tick_total(&world);

		more += got > most;
		as_many += got == most;
	}
	CHECK_EQ("runs that admitted more than the precise clock and one tick", more, 0);
	CHECK("mostly it is the same number", as_many > 1000);
}

static void check_still(bool one_cpu)
{
	unsigned int more = 0;
	uint64_t admitted = 0;

	for (uint64_t seed = 1; seed <= 700; seed++) {
		struct world world = make_world(seed);

		world.one_cpu = one_cpu;
		world.still_at = world.from + random_below(&world.random, S);
		world.still_for = random_below(&world.random, 3 * S);
		admitted += tick_total(&world);
		more += tick_total(&world) >
			precise_total(&world, world.from - world.tick - world.still_for);
	}
	CHECK("something was admitted", admitted > 700);
	CHECK_EQ("runs that admitted more than the precise clock and the time that stood still",
		 more, 0);
}

static void test_ticks_stand_still(void)
{
	check_still(false);
}

static void test_one_cpu_stands_still(void)
{
	check_still(true);
}

/* While time stands still, nothing trickles in, however long it is. */
static void test_frozen(void)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		const struct world world = make_world(seed);
		const uint64_t budget = world.limiter.burst ? world.limiter.burst
							    : world.limiter.limit;
		__u64 state = 0, charged;
		uint64_t n = 0;

		for (int i = 0; i < 1000; i++) {
			if (bucket_charge(&world.limiter, state, world.from, &charged)) {
				state = charged;
				n++;
			}
		}
		if (!CHECK_EQ("a frozen clock admits once what fits", n, budget))
			return;
	}
}

/* Any arrivals, any interval: GCRA's own bound, with one tick more. */
static void test_token_intervals(void)
{
	unsigned int more = 0, intervals = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct world world = make_world(seed);
		uint64_t admitted[400], time = world.from;
		__u64 state = 0, charged;
		size_t n = 0;

		if (world.limiter.algorithm != STILE_ALGORITHM_TOKEN_BUCKET)
			continue;
		while (n < ARRAY_SIZE(admitted)) {
			time += random_below(&world.random, world.limiter.token >> 5) *
				random_below(&world.random, 2);
			if (!bucket_charge(&world.limiter, state, tick_clock(&world, time),
					   &charged)) {
				time++;
				continue;
			}
			state = charged;
			admitted[n++] = time;
		}
		for (size_t i = 0; i < n; i++)
			for (size_t j = i; j < n; j++) {
				uint64_t length = admitted[j] - admitted[i] + world.tick;

				intervals++;
				more += (j - i + 1) * world.limiter.token >
					world.limiter.depth + (length << STILE_TOKEN_SHIFT);
			}
	}
	CHECK("intervals", intervals > 1000000);
	CHECK_EQ("of them with more than burst and rate allow", more, 0);
}

CHECK_SUITE(clock, { "ticks against the precise clock", test_ticks },
	    { "ticks that stand still", test_ticks_stand_still },
	    { "one CPU whose ticks stand still", test_one_cpu_stands_still },
	    { "a frozen clock", test_frozen }, { "any interval of tokens", test_token_intervals });
