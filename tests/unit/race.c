/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The threads wait for each other without sleeping, so that they start at the same moment, but give
 * the CPU away where the other does not come: there may be only one.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "race.h"
#include "random.h"

#define MOST_LAG 200 /* steps of an empty loop */
#define SPINS 200    /* looks at the other thread before it is given the CPU */

struct racer {
	struct race *race;
	unsigned int index;
};

static const struct stile_limiter limiters[] = {
	{ .algorithm = STILE_ALGORITHM_SLIDING_WINDOW, .limit = 7, .window = RACE_WINDOW },
	{ .algorithm = STILE_ALGORITHM_FIXED_WINDOW, .limit = 1, .window = RACE_WINDOW },
	{ .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	  .limit = 10,
	  .window = RACE_WINDOW,
	  .burst = 7,
	  .token = RACE_WINDOW * 64 / 10,
	  .depth = 7 * (RACE_WINDOW * 64 / 10) },
	{ .algorithm = STILE_ALGORITHM_CONCURRENCY, .limit = 7, .window = RACE_WINDOW },
};

struct stile_limiter race_limiter(size_t kind, uint32_t sets)
{
	struct stile_limiter limiter = limiters[kind / 2];

	limiter.action = STILE_ACTION_DROP;
	limiter.keyed = 1;
	limiter.wide = kind % 2;
	limiter.ipv4_prefix = 32;
	limiter.ipv6_prefix = limiter.wide ? 128 : 64;
	limiter.sets = sets;
	limiter.seen_shift = 19;
	limiter.seed[0] = 0x0123456789abcdef;
	limiter.seed[1] = 0xfedcba9876543211;
	return limiter;
}

unsigned int race_budget(const struct stile_limiter *limiter)
{
	return limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET ? limiter->burst : limiter->limit;
}

void race_choose_keys(const struct stile_limiter *limiter, struct key *keys, unsigned int n,
		      unsigned int most)
{
	unsigned int in_set[RACE_SETS] = {};
	unsigned int found = 0;

	for (uint32_t i = 0; found < n; i++) {
		const struct address address = { { swap64(0x20010db800000000 + i),
						   swap64(i + 1) } };
		const struct key key = key_of(limiter, &address);
		const uint32_t set = key_set(limiter, &key);

		if (in_set[set] < most) {
			in_set[set]++;
			keys[found++] = key;
		}
	}
}

void race_lag(const struct round *round, unsigned int thread)
{
	uint64_t random = 2 * round->number + thread;
	volatile unsigned int n = (unsigned int)random_below(&random, MOST_LAG);

	while (n)
		n--;
}

bool race_is_whole(const struct round *round)
{
	union host_set copy[RACE_SETS];
	const struct host_table table = { round->limiter, copy };
	unsigned int locks = 0, doubles = 0;

	memcpy(copy, round->sets, sizeof(copy));
	for (uint32_t i = 0; i < round->limiter->sets; i++) {
		const struct table_set set = host_table_set(&table, i);

		locks += *set.lock != 0;
		for (uint32_t way = 0; way < set.ways; way++) {
			const struct key key = host_set_key(&set, way);

			for (uint32_t other = 0; other < way && (key.hi | key.lo); other++)
				doubles += table_differs(&set, other, &key) == 0;
		}
	}
	return CHECK_EQ("locks held after a round", locks, 0) &&
	       CHECK_EQ("ways with a key that another has too", doubles, 0);
}

/* Both threads have come here as often as @times says. */
static void meet(struct race *race, unsigned int times)
{
	atomic_fetch_add(&race->arrived, 1);
	for (unsigned int i = 0; atomic_load(&race->arrived) < RACE_THREADS * times; i++)
		if (i % SPINS == SPINS - 1)
			sched_yield();
}

static void *run_racer(void *argument)
{
	const struct racer *racer = argument;
	unsigned int times = 0;

	for (;;) {
		meet(racer->race, ++times);
		if (racer->race->over)
			return NULL;
		racer->race->run(&racer->race->round, racer->index);
		meet(racer->race, ++times);
	}
}

static void clear(struct round *round)
{
	memset(round->sets, 0, sizeof(round->sets));
	memset(round->allowed, 0, sizeof(round->allowed));
	memset(round->claims, 0, sizeof(round->claims));
	memset(round->refunded, 0, sizeof(round->refunded));
}

void race_run(struct race *race)
{
	struct racer other = { .race = race, .index = 1 };
	unsigned int times = 0;
	pthread_t thread;
	bool good = true;

	if (!CHECK_EQ("a thread starts", pthread_create(&thread, NULL, run_racer, &other), 0))
		return;
	for (unsigned int i = 0; i < race->rounds && good; i++) {
		clear(&race->round);
		race->round.number = i;
		race->prepare(&race->round);
		meet(race, ++times);
		race->run(&race->round, 0);
		meet(race, ++times);
		good = race->check(&race->round);
	}
	race->over = true;
	meet(race, ++times);
	CHECK_EQ("it ends", pthread_join(thread, NULL), 0);
}
