/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way that a client is given first, and where it is looked for first: whatever stands there,
 * the client has one bucket, and is found wherever it is.
 */
#include "check.h"
#include "host_table.h"
#include "util.h"

#define NOW (1000 * STILE_WINDOW_NS_MIN + 1)
#define KINDS 2 /* narrow and wide */

static struct stile_limiter limiter_of(int kind)
{
	return (struct stile_limiter){
		.algorithm = STILE_ALGORITHM_FIXED_WINDOW,
		.limit = 10,
		.window = STILE_WINDOW_NS_MIN,
		.action = STILE_ACTION_DROP,
		.keyed = 1,
		.wide = (__u8)kind,
		.ipv4_prefix = 32,
		.ipv6_prefix = kind ? 128 : 64,
		.sets = 1,
		.seen_shift = 19,
		.seed = { 0x0123456789abcdef, 0xfedcba9876543211 },
	};
}

static struct key key_number(const struct stile_limiter *limiter, uint64_t number)
{
	const struct address address = { { swap64(0x20010db800000000 + number), swap64(1) } };

	return key_of(limiter, &address);
}

/* One event of client @number, whose home is @home, at @now. */
static enum table_answer ask(const struct stile_limiter *limiter, const struct table_set *set,
			     uint64_t number, uint32_t home, uint64_t now)
{
	const struct table_event event = { key_number(limiter, number), now, 0, home, 0 };
	struct host_work work = {};

	return host_set_charge(set, limiter, &event, &work);
}

static uint32_t way_of(const struct stile_limiter *limiter, const struct table_set *set,
		       uint64_t number)
{
	const struct key key = key_number(limiter, number);

	return table_find(set, &key);
}

static struct table_set set_of(const struct stile_limiter *limiter, union host_set *memory)
{
	const struct host_table table = { limiter, memory };

	return host_table_set(&table, 0);
}

static void test_free_home(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);

		for (uint32_t home = set.ways; home-- > 0;) {
			CHECK_EQ("admitted", ask(&limiter, &set, home, home, NOW), TABLE_ALLOWED);
			CHECK_EQ("its way", way_of(&limiter, &set, home), home);
		}
	}
}

static void test_expired_home(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);

		(void)ask(&limiter, &set, 1, 2, NOW); /* admitted: it is new */
		CHECK_EQ("admitted", ask(&limiter, &set, 2, 2, NOW + 2 * STILE_WINDOW_NS_MIN),
			 TABLE_ALLOWED);
		CHECK_EQ("the way of the new one", way_of(&limiter, &set, 2), 2);
		CHECK_EQ("the way of the old one", way_of(&limiter, &set, 1), TABLE_NONE);
	}
}

/* Everybody has the same home: all have a bucket, and the whole limit, as if they had not. */
static void test_taken_home(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);
		unsigned int allowed[STILE_SET_WAYS] = {};

		for (unsigned int i = 0; i < 20 * set.ways; i++)
			allowed[i % set.ways] += ask(&limiter, &set, i % set.ways, 1, NOW) ==
						 TABLE_ALLOWED;
		for (uint32_t number = 0; number < set.ways; number++) {
			CHECK_EQ("admitted", allowed[number], limiter.limit);
			CHECK("it has a way", way_of(&limiter, &set, number) < set.ways);
		}
	}
}

/* A home beyond the ways, which no place has, breaks nothing. */
static void test_no_home(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const struct stile_limiter limiter = limiter_of(kind);
		union host_set memory = {};
		const struct table_set set = set_of(&limiter, &memory);

		CHECK_EQ("admitted", ask(&limiter, &set, 1, set.ways, NOW), TABLE_ALLOWED);
		CHECK_EQ("its way", way_of(&limiter, &set, 1), 0);
	}
}

/* Neighbours in a table of any size: every way is the home of about as many. */
static void test_spread(void)
{
	static const uint32_t sizes[] = { 1, 2, 1000, 366667, 10000000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes) * KINDS; i++) {
		struct stile_limiter limiter = limiter_of((int)(i % KINDS));
		const uint32_t ways = limiter.wide ? STILE_SET_WAYS_WIDE : STILE_SET_WAYS;
		const unsigned int n = 60000, mean = n / ways;
		unsigned int homes[STILE_SET_WAYS] = {};
		bool inside = true;

		limiter.sets = sizes[i / KINDS];
		for (unsigned int number = 0; number < n; number++) {
			const struct key key = key_number(&limiter, number);
			const struct key_place place = key_place(&limiter, &key);

			inside = inside && place.set < limiter.sets && place.home < ways;
			homes[place.home % ways]++;
		}
		CHECK("every place is in the table", inside);
		for (uint32_t way = 0; way < ways; way++)
			CHECK("about as many as of the others",
			      homes[way] > mean * 95 / 100 && homes[way] < mean * 105 / 100);
	}
}

CHECK_SUITE(home, { "a new client is given its home", test_free_home },
	    { "a home as good as new changes hands", test_expired_home },
	    { "clients of one home have a bucket each", test_taken_home },
	    { "a home that is no way", test_no_home }, { "homes are spread evenly", test_spread });
