/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One set of buckets, narrow and wide: who makes room for whom, what is left as it was, and what a
 * set looks like afterwards. test_race.c has two threads on it, test_model.c a random walk.
 */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "host_table.h"
#include "util.h"

#define S 1000000000ULL
#define TICK (1ULL << 29) /* of last-seen times: 0.54 s */
#define NOW (3000 * TICK)
#define KINDS 4

/* A limiter for each kind of state word, and one with wide keys. */
static struct stile_limiter limiter_of(int kind)
{
	struct stile_limiter limiter = {
		.algorithm = STILE_ALGORITHM_SLIDING_WINDOW,
		.limit = 20,
		.window = 1000 * S,
		.action = STILE_ACTION_DROP,
		.full = STILE_FULL_EVICT,
		.keyed = 1,
		.wide = kind == 3,
		.sets = 1,
		.seen_shift = 29,
	};

	if (kind == 1)
		limiter.algorithm = STILE_ALGORITHM_FIXED_WINDOW;
	if (kind == 2) {
		limiter.algorithm = STILE_ALGORITHM_TOKEN_BUCKET;
		limiter.burst = 20;
		limiter.token = 50 * S << STILE_TOKEN_SHIFT;
		limiter.depth = limiter.burst * limiter.token;
	}
	return limiter;
}

static struct table_set set_of(const struct stile_limiter *limiter, union host_set *memory)
{
	const struct host_table table = { limiter, memory };

	return host_table_set(&table, 0);
}

static struct key key_number(const struct stile_limiter *limiter, uint32_t number)
{
	return (struct key){ swap64(0x20010db800000000 + number), limiter->wide ? number : 0 };
}

/* What a test says of a way. */
struct way {
	bool empty;
	unsigned int debt; /* events; 0: as good as new */
	unsigned int age;  /* ticks since it was last seen */
	bool back;
};

static void put(const struct stile_limiter *limiter, const struct table_set *set, uint32_t way,
		const struct way *what)
{
	const struct key key = key_number(limiter, way);
	const uint32_t tick = meta_tick(limiter, NOW) - what->age;

	if (what->empty)
		return;
	set->key[set->wide ? 2 * way : way] = key.hi;
	if (set->wide)
		set->key[2 * way + 1] = key.lo;
	for (unsigned int i = 0; i < what->debt; i++)
		(void)bucket_charge(limiter, set->state[way], NOW, &set->state[way]);
	set->meta[way] = (what->back ? META_BACK : 0) | (tick & META_SEEN_MASK) << META_SEEN_OFFSET;
}

/* The worth of all ways that a row does not speak of: the most there is. */
static const struct way treasure = { .debt = 20, .age = 0, .back = true };

/* Whether @goes makes room and not @stays, wherever they are. */
static bool makes_room(const struct stile_limiter *limiter, const struct way *goes,
		       const struct way *stays, enum table_room want)
{
	struct table_event event = { key_number(limiter, 100), NOW, 0, 0, 0 };
	bool good = true;

	for (uint32_t place = 0; place < 12 && good; place++) {
		union host_set memory = {};
		const struct table_set set = set_of(limiter, &memory);
		const uint32_t first = place % set.ways, other = (first + 1) % set.ways;

		for (uint32_t way = 0; way < set.ways; way++)
			put(limiter, &set, way,
			    way == first   ? goes
			    : way == other ? stays
					   : &treasure);
		event.home = (first + 2) % set.ways; /* a treasure */
		good = CHECK_EQ("room", table_claim(&set, limiter, &event), want) &&
		       CHECK_EQ("the way of", table_find(&set, &event.key), first) &&
		       CHECK_EQ("the lock afterwards", *set.lock, 0);
	}
	return good;
}

static void test_victims(void)
{
	static const struct {
		const char *what;
		struct way goes, stays;
		enum table_room want;
	} rows[] = {
		{ "an empty way before one as good as new",
		  { .empty = true },
		  { .debt = 0, .age = 4000 },
		  TABLE_ROOM_FREE },
		{ "one as good as new before a live one",
		  { .debt = 0, .age = 0, .back = true },
		  { .debt = 1, .age = 4000 },
		  TABLE_ROOM_FREE },
		{ "one seen in a single tick before one that came back",
		  { .debt = 20, .age = 0 },
		  { .debt = 1, .age = 4000, .back = true },
		  TABLE_ROOM_EVICTED },
		{ "the longest unseen before the least indebted",
		  { .debt = 20, .age = 2 },
		  { .debt = 1, .age = 1 },
		  TABLE_ROOM_EVICTED },
		{ "the same where both came back",
		  { .debt = 20, .age = 4000, .back = true },
		  { .debt = 1, .age = 3999, .back = true },
		  TABLE_ROOM_EVICTED },
		{ "seen in the same tick: the least indebted",
		  { .debt = 1, .age = 1 },
		  { .debt = 2, .age = 1 },
		  TABLE_ROOM_EVICTED },
		{ "the same where both came back",
		  { .debt = 19, .age = 0, .back = true },
		  { .debt = 20, .age = 0, .back = true },
		  TABLE_ROOM_EVICTED },
		{ "a CPU whose clock is a tick ahead has just seen it",
		  { .debt = 20, .age = 0 },
		  { .debt = 1, .age = -1U },
		  TABLE_ROOM_EVICTED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows) * KINDS; i++) {
		const struct stile_limiter limiter = limiter_of((int)(i % KINDS));
		const size_t row = i / KINDS;

		CHECK(rows[row].what,
		      makes_room(&limiter, &rows[row].goes, &rows[row].stays, rows[row].want));
	}
}

/* Fills the set with live clients, who came back or were seen once. */
static void fill(const struct stile_limiter *limiter, const struct table_set *set)
{
	for (uint32_t way = 0; way < set->ways; way++)
		put(limiter, set, way, way % 2 ? &treasure : &(struct way){ .debt = 1 });
}

static void test_no_room(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct stile_limiter limiter = limiter_of(kind);
		const struct table_event event = { key_number(&limiter, 100), NOW, 0, 0, 0 };
		union host_set memory = {}, before;
		const struct table_set set = set_of(&limiter, &memory);
		struct host_work work = {};

		limiter.full = STILE_FULL_ALLOW;
		fill(&limiter, &set);
		before = memory;
		CHECK_EQ("a full set that evicts none", table_claim(&set, &limiter, &event),
			 TABLE_ROOM_NONE);
		CHECK_EQ("the event finds it full", host_set_charge(&set, &limiter, &event, &work),
			 TABLE_FULL);
		CHECK_MEM_EQ("and nothing has changed", &memory, &before, sizeof(memory));
		*set.lock = 1;
		before = memory;
		limiter.full = STILE_FULL_EVICT;
		CHECK_EQ("a lock that another holds", table_claim(&set, &limiter, &event),
			 TABLE_ROOM_BUSY);
		CHECK_EQ("is not waited for without end",
			 host_set_charge(&set, &limiter, &event, &work), TABLE_LIMITED);
		CHECK_MEM_EQ("and nothing has changed", &memory, &before, sizeof(memory));
	}
}

static void test_new_client(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		const struct table_event event = { key_number(&limiter, 100), NOW, 0, 0, 0 };
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);
		__u64 charged;
		uint32_t way;

		fill(&limiter, &set);
		(void)bucket_charge(&limiter, 0, NOW, &charged);
		CHECK_EQ("it has no way", table_try(&set, &limiter, &event), TABLE_MISSING);
		CHECK_EQ("one makes room", table_claim(&set, &limiter, &event), TABLE_ROOM_EVICTED);
		CHECK_EQ("asked again, another was faster", table_claim(&set, &limiter, &event),
			 TABLE_ROOM_RACED);
		way = table_find(&set, &event.key);
		CHECK("it has a way", way < set.ways);
		CHECK_EQ("with its event charged", set.state[way], charged);
		CHECK_EQ("and tallied", meta_admitted(set.meta[way]), 1);
		CHECK_EQ("it was never refused", meta_refused(set.meta[way]), 0);
		CHECK_EQ("nor did it come back", set.meta[way] & META_BACK, 0);
		for (int i = 1; i < 20; i++)
			CHECK_EQ("it gets its limit", table_try(&set, &limiter, &event),
				 TABLE_ALLOWED);
		CHECK_EQ("and no more", table_try(&set, &limiter, &event), TABLE_LIMITED);
		CHECK_EQ("20 admitted", meta_admitted(set.meta[way]), 20);
		CHECK_EQ("one refused", meta_refused(set.meta[way]), 1);
	}
}

static void test_answers(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct stile_limiter limiter = limiter_of(kind);
		const struct table_event event = { key_number(&limiter, 1), NOW, 0, 0, 0 };
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);
		uint64_t full;

		CHECK_EQ("a look at a client without a way", table_peek(&set, &limiter, &event),
			 TABLE_MISSING);
		fill(&limiter, &set); /* client 1 has used up its limit */
		full = set.state[1];
		CHECK_EQ("a look", table_peek(&set, &limiter, &event), TABLE_LIMITED);
		CHECK_EQ("a try", table_try(&set, &limiter, &event), TABLE_LIMITED);
		CHECK_EQ("neither is charged", set.state[1], full);
		CHECK_EQ("both are tallied", meta_refused(set.meta[1]), 2);
		table_refund(&set, &limiter, &event);
		CHECK_EQ("given back one", table_peek(&set, &limiter, &event), TABLE_ALLOWED);
		CHECK_EQ("a look is not a charge", table_try(&set, &limiter, &event),
			 TABLE_ALLOWED);
		CHECK_EQ("one is tallied as admitted", meta_admitted(set.meta[1]), 1);
		table_refund(&set, &limiter, &event);
		CHECK_EQ("and none where it is given back", meta_admitted(set.meta[1]), 0);
		table_try(&set, &limiter, &event);
		CHECK_EQ("as before", set.state[1], full);
		limiter.action = STILE_ACTION_COUNT;
		CHECK_EQ("a look where it counts", table_peek(&set, &limiter, &event),
			 TABLE_COUNTED);
		CHECK_EQ("counted", table_try(&set, &limiter, &event), TABLE_COUNTED);
		CHECK_EQ("as refused", meta_refused(set.meta[1]), 3);
		CHECK("windows count it, tokens end at empty",
		      kind == 2 ? set.state[1] == full : set.state[1] == full + 1);
	}
}

/* A client that is not there gets nothing back, and nobody in its place. */
static void test_refund_without_way(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		const struct table_event event = { key_number(&limiter, 100), NOW, 0, 0, 0 };
		union host_set memory = {}, before;
		const struct table_set set = set_of(&limiter, &memory);

		fill(&limiter, &set);
		before = memory;
		table_refund(&set, &limiter, &event);
		CHECK_MEM_EQ("nothing has changed", &memory, &before, sizeof(memory));
	}
}

static void test_find(void)
{
	for (int kind = 2; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);
		struct key key;

		fill(&limiter, &set);
		for (uint32_t way = 0; way < set.ways; way++) {
			key = key_number(&limiter, way);
			CHECK_EQ("each client has its way", table_find(&set, &key), way);
			key.hi ^= 1;
			CHECK_EQ("another's does not", table_find(&set, &key), TABLE_NONE);
		}
		if (!set.wide)
			continue;
		for (uint32_t way = 0; way < set.ways; way++) {
			key = key_number(&limiter, way);
			key.lo ^= 1ULL << 63;
			CHECK_EQ("a wide key differs in its second word", table_find(&set, &key),
				 TABLE_NONE);
			set.key[2 * way] = KEY_NOBODY;
			key = (struct key){ 0, set.key[2 * way + 1] };
			CHECK_EQ("half a key is nobody's", table_find(&set, &key), TABLE_NONE);
		}
	}
}

CHECK_SUITE(table, { "who makes room", test_victims }, { "no room", test_no_room },
	    { "a new client", test_new_client }, { "answers", test_answers },
	    { "a refund without a bucket", test_refund_without_way },
	    { "finding a way", test_find });
