/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table is left for another while a thread charges without a pause, with a frozen clock: nothing
 * is lost and nothing is charged twice, and what is let in beyond the limit is no more than what
 * the table before had let in since the fill.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "carry.h"
#include "check.h"
#include "host_table.h"
#include "util.h"

#define KEYS 24
#define SETS 16
#define ROUNDS 400
#define NOW (1000 * 1000000000ULL)
#define TOKEN_BEFORE (100ULL << STILE_TOKEN_SHIFT)
#define TOKEN_NOW (70ULL << STILE_TOKEN_SHIFT)
#define BURST_BEFORE 300
#define BURST_NOW 40

struct world {
	struct stile_limiter before, now;
	union host_set from[SETS], seen[SETS], to[SETS];
	struct key keys[KEYS];
	/* The thread. */
	atomic_bool swapped; /* told to use the next table */
	atomic_bool noticed; /* and does so: nothing runs in the one before */
	atomic_bool over;
	atomic_uint turns; /* through all clients */
	unsigned int admitted_before[KEYS], admitted_now[KEYS];
};

static struct stile_limiter make_limiter(uint64_t token, uint64_t burst, uint32_t sets)
{
	return (struct stile_limiter){
		.algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
		.action = STILE_ACTION_DROP,
		.limit = 1,
		.window = token >> STILE_TOKEN_SHIFT,
		.token = token,
		.burst = burst,
		.depth = burst * token,
		.keyed = 1,
		.ipv6_prefix = 64,
		.sets = sets,
		.seen_shift = 19,
		.seed = { 0x0123456789abcdef, 0xfedcba9876543211 },
	};
}

/* So that every client has a way in either table. */
static void choose_keys(struct world *world)
{
	unsigned int before[SETS] = {}, now[SETS] = {}, n = 0;

	for (uint32_t i = 0; n < KEYS; i++) {
		const struct address address = { { swap64(0x20010db8ULL << 32 | i), 0 } };
		const struct key key = key_of(&world->before, &address);
		unsigned int *one = &before[key_set(&world->before, &key)];
		unsigned int *other = &now[key_set(&world->now, &key)];

		if (*one == STILE_SET_WAYS || *other == STILE_SET_WAYS)
			continue;
		++*one;
		++*other;
		world->keys[n++] = key;
	}
}

static void turn(struct world *world, const struct host_table *table, unsigned int *admitted)
{
	for (unsigned int k = 0; k < KEYS; k++) {
		const struct table_event event = { world->keys[k], NOW, k, 0, 0 };
		struct host_work work = {};

		admitted[k] += host_table_charge(table, &event, &work) == TABLE_ALLOWED;
	}
	atomic_fetch_add(&world->turns, 1);
}

static void *run_thread(void *argument)
{
	struct world *world = argument;
	const struct host_table before = { &world->before, world->from };
	const struct host_table now = { &world->now, world->to };

	while (!atomic_load(&world->swapped))
		turn(world, &before, world->admitted_before);
	atomic_store(&world->noticed, true);
	while (!atomic_load(&world->over))
		turn(world, &now, world->admitted_now);
	return NULL;
}

static void wait_for_turns(struct world *world, unsigned int more)
{
	unsigned int until = atomic_load(&world->turns) + more;

	while (atomic_load(&world->turns) < until)
		sched_yield();
}

/* What a client has spent, by the table after it all. */
static uint64_t spent(struct world *world, unsigned int k)
{
	const struct host_table now = { &world->now, world->to };
	const struct table_set set = host_table_set(&now, key_set(&world->now, &world->keys[k]));
	uint32_t way = table_find(&set, &world->keys[k]);

	if (way >= set.ways)
		return 0;
	return bucket_lack(set.state[way], NOW << STILE_TOKEN_SHIFT) / TOKEN_NOW;
}

static void run_round(struct world *world, unsigned int round)
{
	const struct carry carry = {
		.before = &world->before,
		.now = &world->now,
		.from = world->from,
		.seen = world->seen,
		.to = world->to,
	};
	pthread_t thread;

	if (!CHECK_EQ("a thread starts", pthread_create(&thread, NULL, run_thread, world), 0))
		return;
	wait_for_turns(world, 1); /* nobody is new from here on */
	(void)carry_fill(&carry, NOW);
	wait_for_turns(world, round % 8);
	(void)carry_fill(&carry, NOW);
	atomic_store(&world->swapped, true);
	(void)carry_catch_up(&carry, NOW);
	while (!atomic_load(&world->noticed))
		sched_yield();
	CHECK_EQ("everybody has a bucket", carry_catch_up(&carry, NOW), 0);
	wait_for_turns(world, 2 * BURST_NOW);
	atomic_store(&world->over, true);
	CHECK_EQ("it ends", pthread_join(thread, NULL), 0);
}

static bool check_client(struct world *world, unsigned int k)
{
	unsigned int before = world->admitted_before[k], now = world->admitted_now[k];
	bool good = CHECK_EQ("what was admitted is what is owed", spent(world, k), before + now);

	good = CHECK("not more than the new limit after the swap", now <= BURST_NOW) && good;
	return CHECK("nor is it less than what was left", before + now >= BURST_NOW) && good;
}

static void test_race(void)
{
	struct world *world __attribute__((cleanup(free_release))) =
		aligned_alloc(sizeof(union host_set), (sizeof(*world) + 127) / 128 * 128);
	bool good = CHECK("there is memory", world);

	for (unsigned int round = 0; round < ROUNDS && good; round++) {
		memset(world, 0, sizeof(*world));
		world->before = make_limiter(TOKEN_BEFORE, BURST_BEFORE, SETS);
		world->now = make_limiter(TOKEN_NOW, BURST_NOW, SETS - 3);
		choose_keys(world);
		run_round(world, round);
		for (unsigned int k = 0; k < KEYS && good; k++)
			good = check_client(world, k);
	}
}

CHECK_SUITE(carry_race, { "a table is left while it is charged", test_race });
