/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two threads on one table, in many rounds: together they admit what one would, and leave each set
 * whole. Every thread asks often enough for the whole limit by itself, so that the sum is exact
 * though one of them may wait for a lock in vain.
 */
#include <stdio.h>

#include "check.h"
#include "race.h"
#include "util.h"

/* Each thread in an order of its own. */
static void run_round(struct round *round, unsigned int thread)
{
	const struct host_table table = { round->limiter, round->sets };

	race_lag(round, thread);
	for (unsigned int i = 0; i < round->asks * round->n_keys; i++) {
		const unsigned int turn = i % round->n_keys;
		const unsigned int k = thread ? round->n_keys - 1 - turn : turn;
		const struct table_event event = { round->keys[k], RACE_NOW, i, 0, 0 };
		struct host_work work = {};
		const enum table_answer answer = host_table_charge(&table, &event, &work);

		round->allowed[thread][k] += answer == TABLE_ALLOWED;
		round->claims[thread][k] += work.claims;
		if (round->refunds && answer == TABLE_ALLOWED && i % 2) {
			const struct table_set set =
				host_table_set(&table, key_set(round->limiter, &event.key));

			table_refund(&set, round->limiter, &event);
			round->refunded[thread][k]++;
		}
	}
}

static bool check_exact(const struct round *round)
{
	const unsigned int want = race_budget(round->limiter);
	bool good = true;

	for (unsigned int k = 0; k < round->n_keys && good; k++)
		good = CHECK_EQ("two threads admit together what one would",
				round->allowed[0][k] + round->allowed[1][k], want);
	return good && race_is_whole(round);
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
		const struct table_event event = { round->keys[k], RACE_NOW - 100 * RACE_WINDOW, 0,
						   0, 0 };
		struct host_work work = {};

		(void)host_table_charge(&table, &event, &work); /* admitted: it is new */
	}
}

static void race_for(unsigned int n_keys, unsigned int rounds, void (*prepare)(struct round *))
{
	struct key keys[RACE_KEYS];

	for (size_t kind = 0; kind < RACE_KINDS; kind++) {
		const struct stile_limiter limiter = race_limiter(kind, RACE_SETS);
		struct race race = { .run = run_round,
				     .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = n_keys,
						.asks = race_budget(&limiter) + 2 } };

		race_choose_keys(&limiter, keys, n_keys, STILE_SET_WAYS_WIDE);
		race.rounds = rounds;
		race.prepare = prepare;
		race.check = check_exact;
		race_run(&race);
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
	race_for(RACE_KEYS, 200, prepare_new);
}

static void test_64_known_keys(void)
{
	race_for(RACE_KEYS, 200, prepare_known);
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
		const unsigned int refunded = round->refunded[0][k] + round->refunded[1][k];

		good = CHECK("no more than its buckets have room for",
			     allowed - refunded <= lives * race_budget(round->limiter));
	}
	return good && race_is_whole(round);
}

static void crowd(bool refunds)
{
	struct key keys[9];

	for (size_t kind = 0; kind < RACE_KINDS; kind++) {
		struct stile_limiter limiter = race_limiter(kind, 1);
		struct race race = { .run = run_round,
				     .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = ARRAY_SIZE(keys),
						.asks = 40,
						.refunds = refunds } };

		limiter.full = STILE_FULL_EVICT;
		race_choose_keys(&limiter, keys, ARRAY_SIZE(keys), ARRAY_SIZE(keys));
		race.rounds = 300;
		race.prepare = prepare_new;
		race.check = check_crowd;
		race_run(&race);
	}
}

static void test_crowd(void)
{
	crowd(false);
}

/* What is given back late does not go to whoever has the way by then. */
static void test_crowd_refunds(void)
{
	crowd(true);
}

static struct table_set one_set(struct round *round)
{
	const struct host_table table = { round->limiter, round->sets };

	return host_table_set(&table, 0);
}

static void put_key(const struct table_set *set, uint32_t way, struct key key)
{
	set->key[set->wide ? 2 * way : way] = key.hi;
	if (set->wide)
		set->key[2 * way + 1] = key.lo;
}

/* Of clients that nobody asks for. */
static struct key other_key(uint32_t number)
{
	return (struct key){ swap64(0x20020db800000000 + number), 0 };
}

/* Client 0 has the one way that others may take, and one event to be given back. */
static void prepare_late_refund(struct round *round)
{
	const struct table_set set = one_set(round);

	for (uint32_t way = 0; way < set.ways; way++) {
		put_key(&set, way, way ? other_key(way) : round->keys[0]);
		set.meta[way] = way ? META_BACK : 0;
		(void)bucket_charge(round->limiter, 0, RACE_NOW, &set.state[way]);
	}
}

/* Thread 0 gives it back, while thread 1 puts client 1 in its place. */
static void run_late_refund(struct round *round, unsigned int thread)
{
	const struct table_set set = one_set(round);
	const struct table_event event = { round->keys[thread], RACE_NOW, 0, 0, 0 };
	struct host_work work = {};

	race_lag(round, thread);
	if (thread == 0) {
		table_refund(&set, round->limiter, &event);
		return;
	}
	for (unsigned int i = 0; i < round->asks + work.busy; i++)
		round->allowed[1][0] += host_set_charge(&set, round->limiter, &event, &work) ==
					TABLE_ALLOWED;
}

static void test_late_refund(void)
{
	struct key keys[2];

	for (size_t kind = 0; kind < RACE_KINDS; kind++) {
		struct stile_limiter limiter = race_limiter(kind, 1);
		struct race race = { .run = run_late_refund,
				     .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = 1,
						.asks = 2 * race_budget(&limiter) } };

		limiter.full = STILE_FULL_EVICT;
		race_choose_keys(&limiter, keys, ARRAY_SIZE(keys), ARRAY_SIZE(keys));
		race.rounds = 3000;
		race.prepare = prepare_late_refund;
		race.check = check_exact;
		race_run(&race);
	}
}

/*
 * One way is left that is as good as new; its own client comes back at the moment when another
 * wants it. Whoever is first has it, and the other finds no room.
 */
static void prepare_last_way(struct round *round)
{
	const struct table_set set = one_set(round);

	for (uint32_t way = 0; way < set.ways; way++) {
		put_key(&set, way, way ? other_key(way) : round->keys[0]);
		(void)bucket_charge(round->limiter, 0,
				    way ? RACE_NOW : RACE_NOW - 100 * RACE_WINDOW, &set.state[way]);
	}
}

/* Thread 0 asks for its old client first, and thread 1 for the new one. */
static bool check_last_way(const struct round *round)
{
	const unsigned int old = round->allowed[0][0] + round->allowed[1][0];
	const unsigned int new = round->allowed[0][1] + round->allowed[1][1];

	return CHECK_EQ("one of the two is let in, as often as the limit says", old + new,
			race_budget(round->limiter)) &&
	       CHECK("and not both", old == 0 || new == 0) && race_is_whole(round);
}

static void test_last_way(void)
{
	struct key keys[2];

	for (size_t kind = 0; kind < RACE_KINDS; kind++) {
		struct stile_limiter limiter = race_limiter(kind, 1);
		struct race race = { .run = run_round,
				     .round = { .limiter = &limiter,
						.keys = keys,
						.n_keys = ARRAY_SIZE(keys),
						.asks = race_budget(&limiter) + 2 } };

		limiter.full = STILE_FULL_ALLOW;
		race_choose_keys(&limiter, keys, ARRAY_SIZE(keys), ARRAY_SIZE(keys));
		race.rounds = 6000;
		race.prepare = prepare_last_way;
		race.check = check_last_way;
		race_run(&race);
	}
}

CHECK_SUITE(race, { "two threads and one new client", test_new_key },
	    { "two threads and one known client", test_known_key },
	    { "two threads and 64 new clients", test_64_new_keys },
	    { "two threads and 64 known clients", test_64_known_keys },
	    { "two threads and more clients than ways", test_crowd },
	    { "the same with refunds", test_crowd_refunds },
	    { "a refund that comes late", test_late_refund },
	    { "the last way that is as good as new", test_last_way });
