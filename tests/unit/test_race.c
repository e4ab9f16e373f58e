/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two threads on one table, in many rounds with a frozen clock: together they admit what one would,
 * and leave each set whole. Every thread asks often enough for the whole limit by itself, so that
 * the sum is exact though one of them may wait for a lock in vain.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "host_table.h"
#include "random.h"
#include "util.h"

#define THREADS 2
#define KEYS 64
#define SETS 16
#define WINDOW 1000000000ULL
#define NOW (1000 * WINDOW + 1)
#define SPINS 200 /* looks at the other thread before it is given the CPU */

struct round {
	const struct stile_limiter *limiter;
	union host_set sets[SETS];
	const struct key *keys;
	unsigned int n_keys;
	unsigned int asks; /* of each thread, for each key */
	unsigned int allowed[THREADS][KEYS], claims[THREADS][KEYS];
	unsigned int full[THREADS][KEYS];
};

/* Two threads that wait for each other, go through a round, and wait again. */
struct race {
	struct round round;
	atomic_uint arrived;
	bool over;
};

struct racer {
	struct race *race;
	unsigned int index;
};

static const struct stile_limiter limiters[] = {
	{ .algorithm = STILE_ALGORITHM_SLIDING_WINDOW, .limit = 7, .window = WINDOW },
	{ .algorithm = STILE_ALGORITHM_FIXED_WINDOW, .limit = 1, .window = WINDOW },
	{ .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	  .limit = 10,
	  .window = WINDOW,
	  .burst = 7,
	  .token = WINDOW * 64 / 10,
	  .depth = 7 * (WINDOW * 64 / 10) },
};

static struct stile_limiter limiter_of(size_t kind, bool wide, uint32_t sets)
{
	struct stile_limiter limiter = limiters[kind];

	limiter.action = STILE_ACTION_DROP;
	limiter.keyed = 1;
	limiter.wide = wide;
	limiter.ipv4_prefix = 32;
	limiter.ipv6_prefix = wide ? 128 : 64;
	limiter.sets = sets;
	limiter.seen_shift = 19;
	limiter.seed[0] = 0x0123456789abcdef;
	limiter.seed[1] = 0xfedcba9876543211;
	return limiter;
}

/* What one thread would admit for one new client. */
static unsigned int budget(const struct stile_limiter *limiter)
{
	return limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET ? limiter->burst : limiter->limit;
}

/* @n clients, so chosen that no set has more than @most of them. */
static void choose_keys(const struct stile_limiter *limiter, struct key *keys, unsigned int n,
			unsigned int most)
{
	unsigned int in_set[SETS] = {};
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

/* Each thread in an order of its own. */
static void run_round(struct round *round, unsigned int thread)
{
	const struct host_table table = { round->limiter, round->sets };

	for (unsigned int i = 0; i < round->asks * round->n_keys; i++) {
		const unsigned int turn = i % round->n_keys;
		const unsigned int k = thread ? round->n_keys - 1 - turn : turn;
		const struct table_event event = { round->keys[k], NOW, i };
		struct host_work work = {};
		const enum table_answer answer = host_table_charge(&table, &event, &work);

		round->allowed[thread][k] += answer == TABLE_ALLOWED;
		round->full[thread][k] += answer == TABLE_FULL;
		round->claims[thread][k] += work.claims;
	}
}

/* Both threads have come here as often as @times says. */
static void meet(struct race *race, unsigned int times)
{
	atomic_fetch_add(&race->arrived, 1);
	for (unsigned int i = 0; atomic_load(&race->arrived) < THREADS * times; i++)
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
		run_round(&racer->race->round, racer->index);
		meet(racer->race, ++times);
	}
}

/*
 * Runs rounds until @check is not content; @prepare makes a new round. The calling thread is one of
 * the two.
 */
static void run_race(struct race *race, unsigned int rounds, void (*prepare)(struct round *),
		     bool (*check)(const struct round *))
{
	struct racer other = { .race = race, .index = 1 };
	unsigned int times = 0;
	pthread_t thread;
	bool good = true;

	if (!CHECK_EQ("a thread starts", pthread_create(&thread, NULL, run_racer, &other), 0))
		return;
	for (unsigned int i = 0; i < rounds && good; i++) {
		memset(race->round.sets, 0, sizeof(race->round.sets));
		memset(race->round.allowed, 0, sizeof(race->round.allowed));
		memset(race->round.claims, 0, sizeof(race->round.claims));
		memset(race->round.full, 0, sizeof(race->round.full));
		prepare(&race->round);
		meet(race, ++times);
		run_round(&race->round, 0);
		meet(race, ++times);
		good = check(&race->round);
	}
	race->over = true;
	meet(race, ++times);
	CHECK_EQ("it ends", pthread_join(thread, NULL), 0);
}

/* No lock is held, and no client has two ways. True where that is so. */
static bool is_whole(const struct round *round)
{
	union host_set copy[SETS];
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

static bool check_exact(const struct round *round)
{
	const unsigned int want = budget(round->limiter);
	bool good = true;

	for (unsigned int k = 0; k < round->n_keys && good; k++)
		good = CHECK_EQ("two threads admit together what one would",
				round->allowed[0][k] + round->allowed[1][k], want);
	return good && is_whole(round);
}

static void prepare_new(struct round *round)
{
	(void)round; /* an empty table: every client is new */
}

/* Every client has a way, as good as new. */
static void prepare_known(struct round *round)
{
	const struct host_table table = { round->limiter, round->sets };

	for (unsigned int k = 0; k < round->n_keys; k++) {
		const struct table_event event = { round->keys[k], NOW - 100 * WINDOW, 0 };
		struct host_work work = {};

		(void)host_table_charge(&table, &event, &work); /* admitted: it is new */
	}
}

static void race_for(unsigned int n_keys, unsigned int rounds, void (*prepare)(struct round *))
{
	struct key keys[KEYS];

	for (size_t kind = 0; kind < 2 * ARRAY_SIZE(limiters); kind++) {
		const struct stile_limiter limiter = limiter_of(kind / 2, kind % 2, SETS);
		struct race race = { .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = n_keys,
						.asks = budget(&limiter) + 2 } };

		choose_keys(&limiter, keys, n_keys, STILE_SET_WAYS_WIDE);
		run_race(&race, rounds, prepare, check_exact);
	}
}

static void test_new_key(void)
{
	race_for(1, 3000, prepare_new);
}

static void test_known_key(void)
{
	race_for(1, 3000, prepare_known);
}

static void test_64_new_keys(void)
{
	race_for(KEYS, 200, prepare_new);
}

static void test_64_known_keys(void)
{
	race_for(KEYS, 200, prepare_known);
}

/*
 * More clients than ways in one set, so that buckets make room all the time: a client that lost
 * its bucket is new, but is never let in more often than its buckets allow.
 */
static bool check_crowd(const struct round *round)
{
	bool good = true;

	for (unsigned int k = 0; k < round->n_keys && good; k++) {
		const unsigned int lives = round->claims[0][k] + round->claims[1][k];
		const unsigned int allowed = round->allowed[0][k] + round->allowed[1][k];

		good = CHECK("no more than its buckets have room for",
			     allowed <= lives * budget(round->limiter));
	}
	return good && is_whole(round);
}

static void test_crowd(void)
{
	struct key keys[9];

	for (size_t kind = 0; kind < 2 * ARRAY_SIZE(limiters); kind++) {
		struct stile_limiter limiter = limiter_of(kind / 2, kind % 2, 1);
		struct race race = { .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = ARRAY_SIZE(keys),
						.asks = 40 } };

		limiter.full = STILE_FULL_EVICT;
		choose_keys(&limiter, keys, ARRAY_SIZE(keys), ARRAY_SIZE(keys));
		run_race(&race, 300, prepare_new, check_crowd);
	}
}

/*
 * One way is left that is as good as new; its own client comes back at the moment when another
 * wants it. Whoever is first has it, and the other finds no room.
 */
static void prepare_last_way(struct round *round)
{
	struct table_set set = round->limiter->wide ? table_set_wide(&round->sets[0].wide)
						    : table_set(&round->sets[0].narrow);

	for (uint32_t way = 0; way < set.ways; way++) {
		const struct key key = { way ? swap64(0x20020db8ULL << 32 | way)
					     : round->keys[0].hi,
					 set.wide && !way ? round->keys[0].lo : 0 };

		set.key[set.wide ? 2 * way : way] = key.hi;
		if (set.wide)
			set.key[2 * way + 1] = key.lo;
		(void)bucket_charge(round->limiter, 0, way ? NOW : NOW - 100 * WINDOW,
				    &set.state[way]);
	}
}

/* Thread 0 asks for its old client first, and thread 1 for the new one. */
static bool check_last_way(const struct round *round)
{
	const unsigned int old = round->allowed[0][0] + round->allowed[1][0];
	const unsigned int new = round->allowed[0][1] + round->allowed[1][1];

	return CHECK_EQ("one of the two is let in, as often as the limit says", old + new,
			budget(round->limiter)) &&
	       CHECK("and not both", old == 0 || new == 0) && is_whole(round);
}

static void test_last_way(void)
{
	struct key keys[2];

	for (size_t kind = 0; kind < 2 * ARRAY_SIZE(limiters); kind++) {
		struct stile_limiter limiter = limiter_of(kind / 2, kind % 2, 1);
		struct race race = { .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = ARRAY_SIZE(keys),
						.asks = budget(&limiter) + 2 } };

		limiter.full = STILE_FULL_ALLOW;
		choose_keys(&limiter, keys, ARRAY_SIZE(keys), ARRAY_SIZE(keys));
		run_race(&race, 3000, prepare_last_way, check_last_way);
	}
}

CHECK_SUITE(race, { "two threads and one new client", test_new_key },
	    { "two threads and one known client", test_known_key },
	    { "two threads and 64 new clients", test_64_new_keys },
	    { "two threads and 64 known clients", test_64_known_keys },
	    { "two threads and more clients than ways", test_crowd },
	    { "the last way that is as good as new", test_last_way });
