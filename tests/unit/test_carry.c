/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buckets that are carried into another table owe what they owed, whatever the limit is now. */
#include <string.h>

#include "carry.h"
#include "check.h"
#include "host_table.h"
#include "util.h"

#define SECOND 1000000000ULL
#define START (1000 * SECOND) /* a window of any test begins here */
#define SETS_MAX 256

/* A table, the one after it, and what goes from one to the other. */
struct move {
	struct stile_limiter before, now;
	struct host_table from, to;
	struct carry carry;
	union host_set sets[3][SETS_MAX];
};

static struct stile_limiter make_limiter(enum stile_algorithm algorithm, uint64_t limit,
					 uint32_t sets)
{
	struct stile_limiter limiter = {
		.algorithm = (uint8_t)algorithm,
		.action = STILE_ACTION_DROP,
		.limit = limit,
		.window = 10 * SECOND,
		.keyed = 1,
		.ipv4_prefix = 32,
		.ipv6_prefix = 64,
		.sets = sets,
		.seen_shift = 23,
		.seed = { 0x0123456789abcdef, 0xfedcba9876543211 },
	};

	if (algorithm == STILE_ALGORITHM_TOKEN_BUCKET) {
		limiter.burst = limit;
		limiter.token = (limiter.window << STILE_TOKEN_SHIFT) / limit;
		limiter.depth = limiter.burst * limiter.token;
	}
	return limiter;
}

static void make_wide(struct move *move)
{
	move->before.wide = move->now.wide = 1;
	move->before.ipv6_prefix = move->now.ipv6_prefix = 128;
}

static void move_begin(struct move *move)
{
	memset(move->sets, 0, sizeof(move->sets));
	move->from = (struct host_table){ &move->before, move->sets[0] };
	move->to = (struct host_table){ &move->now, move->sets[1] };
	move->carry = (struct carry){
		.before = &move->before,
		.now = &move->now,
		.from = move->sets[0],
		.seen = move->sets[2],
		.to = move->sets[1],
	};
}

static struct key client(const struct stile_limiter *limiter, uint32_t number)
{
	const struct address address = { { swap64(0x20010db8ULL << 32 | number), swap64(1) } };

	return key_of(limiter, &address);
}

/* @n events of a client at @now: how many are admitted. */
static unsigned int ask(const struct host_table *table, uint32_t number, unsigned int n,
			uint64_t now)
{
	const struct table_event event = { client(table->limiter, number), now, 0, 0, 0 };
	struct host_work work = {};
	unsigned int admitted = 0;

	for (unsigned int i = 0; i < n; i++)
		admitted += host_table_charge(table, &event, &work) == TABLE_ALLOWED;
	return admitted;
}

static void test_limits(void)
{
	static const struct {
		const char *what;
		uint64_t limit;	    /* 10 before */
		unsigned int spent; /* under the limit before */
		unsigned int more;  /* admitted under the limit now */
	} rows[] = {
		{ "all of 10 spent, then 15: five more", 15, 10, 5 },
		{ "4 of 10 spent, then 15: eleven more", 15, 4, 11 },
		{ "nothing spent, then 15: all of them", 15, 0, 15 },
		{ "all of 10 spent, then 5: none", 5, 10, 0 },
		{ "5 of 10 spent, then 5: none", 5, 5, 0 },
		{ "3 of 10 spent, then 5: two more", 5, 3, 2 },
		{ "9 of 10 spent, then 10000: the rest", 10000, 9, 9991 },
		{ "1 of 10 spent, then 1: none", 1, 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct move move = {
			.before = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 10, 16),
			.now = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, rows[i].limit, 16),
		};

		move_begin(&move);
		CHECK_EQ("the old limit lets them in", ask(&move.from, 1, rows[i].spent, START),
			 rows[i].spent);
		CHECK_EQ("there is room", carry_fill(&move.carry, START), 0);
		CHECK_EQ(rows[i].what, ask(&move.to, 1, 20000, START), rows[i].more);
		CHECK_EQ("a client that is new has the whole limit", ask(&move.to, 2, 20000, START),
			 rows[i].limit);
	}
}

/* Tokens that were spent come back in the time that they take now. */
static void test_refill(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 10, 16), /* one a second */
		.now = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 5, 16),     /* one in two */
	};

	move_begin(&move);
	CHECK_EQ("all of 10 are spent", ask(&move.from, 1, 11, START), 10);
	/* Three have come back, so that 7 weigh: two more than the 5 that there are now. */
	CHECK_EQ("there is room", carry_fill(&move.carry, START + 3 * SECOND), 0);
	CHECK_EQ("none yet", ask(&move.to, 1, 1, START + 3 * SECOND), 0);
	CHECK_EQ("nor after the time of less than three",
		 ask(&move.to, 1, 1, START + 9 * SECOND - 1), 0);
	CHECK_EQ("one after the time of three", ask(&move.to, 1, 2, START + 9 * SECOND), 1);
}

/* Carried twice is carried once; only what is new is added, on either side. */
static void test_catch_up(void)
{
	static const enum stile_algorithm algorithms[] = {
		STILE_ALGORITHM_TOKEN_BUCKET,
		STILE_ALGORITHM_SLIDING_WINDOW,
		STILE_ALGORITHM_FIXED_WINDOW,
		STILE_ALGORITHM_CONCURRENCY,
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(algorithms); i++) {
		struct move move = {
			.before = make_limiter(algorithms[i / 2], 20, 16),
			.now = make_limiter(algorithms[i / 2], 20, 5),
		};

		if (i % 2)
			make_wide(&move);
		if (algorithms[i / 2] == STILE_ALGORITHM_TOKEN_BUCKET)
			move.now = make_limiter(algorithms[i / 2], 30, 5);
		move.now.wide = move.before.wide;
		move.now.ipv6_prefix = move.before.ipv6_prefix;
		move.now.limit = 30;
		move_begin(&move);
		(void)ask(&move.from, 1, 4, START);
		CHECK_EQ("there is room", carry_fill(&move.carry, START), 0);
		(void)ask(&move.from, 1, 3, START);
		CHECK_EQ("and still is", carry_fill(&move.carry, START), 0);
		(void)ask(&move.from, 1, 2, START);
		(void)ask(&move.from, 2, 1, START);
		CHECK_EQ("after the swap", ask(&move.to, 1, 5, START), 5);
		CHECK_EQ("one is charged that has no bucket yet",
			 carry_catch_up(&move.carry, START), 1);
		CHECK_EQ("all is caught up with", carry_catch_up(&move.carry, START), 0);
		CHECK_EQ("4 + 3 + 2 + 5 weigh, whoever let them in", ask(&move.to, 1, 40, START),
			 30 - 4 - 3 - 2 - 5);
	}
}

/* What was admitted twice over, between the fill and the swap, is paid back. */
static void test_pay_back(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 10, 16), /* one a second */
		.now = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 20, 16),    /* two a second */
	};

	move_begin(&move);
	(void)ask(&move.from, 1, 1, START);
	(void)carry_fill(&move.carry, START);
	CHECK_EQ("the rest of the old limit, after the fill", ask(&move.from, 1, 20, START), 9);
	CHECK_EQ("and all but one of the new", ask(&move.to, 1, 30, START), 19);
	CHECK_EQ("it has a bucket", carry_catch_up(&move.carry, START), 0);
	CHECK_EQ("nine tokens later there is none", ask(&move.to, 1, 1, START + 9 * SECOND / 2), 0);
	CHECK_EQ("ten tokens later there is one", ask(&move.to, 1, 2, START + 10 * SECOND / 2), 1);
}

/* A window that ends between two passes ends in both tables. */
static void test_turn(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_SLIDING_WINDOW, 10, 16),
		.now = make_limiter(STILE_ALGORITHM_SLIDING_WINDOW, 10, 40),
	};
	const uint64_t turned = START + 10 * SECOND, half = turned + 5 * SECOND;

	move_begin(&move);
	(void)ask(&move.from, 1, 8, turned - 1);
	(void)carry_fill(&move.carry, turned - 1);
	/* A CPU whose clock is ahead is in the next window already. */
	CHECK_EQ("at its start 8 weigh", ask(&move.from, 1, 3, turned), 2);
	CHECK_EQ("there is a bucket", carry_catch_up(&move.carry, turned - 1), 0);
	CHECK_EQ("in the middle 8 / 2 + 2 weigh", ask(&move.to, 1, 10, half), 4);
}

/* Every client of a full house, with a debt of its own, in a table of another size. */
static void test_size(void)
{
	static const struct {
		const char *what;
		uint32_t before, now; /* sets */
		bool wide;
		enum stile_hash hash; /* now */
	} rows[] = {
		{ "larger", 16, 256, false, STILE_HASH_XORSHIFT },
		{ "a little smaller", 256, 200, false, STILE_HASH_XORSHIFT },
		{ "larger, with wide keys", 16, 256, true, STILE_HASH_XORSHIFT },
		{ "another hash", 256, 256, false, STILE_HASH_SIPHASH },
		{ "another hash, with wide keys", 256, 256, true, STILE_HASH_SIPHASH },
	};
	enum { CLIENTS = 60 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct move move = {
			.before = make_limiter(STILE_ALGORITHM_FIXED_WINDOW, 100, rows[i].before),
			.now = make_limiter(STILE_ALGORITHM_FIXED_WINDOW, 100, rows[i].now),
		};
		unsigned int good = 0, known = 0;

		if (rows[i].wide)
			make_wide(&move);
		move.now.hash = (uint8_t)rows[i].hash;
		move_begin(&move);
		for (uint32_t k = 0; k < CLIENTS; k++)
			(void)ask(&move.from, k, k + 1, START);
		CHECK_EQ("all fit", carry_fill(&move.carry, START), 0);
		for (uint32_t k = 0; k < CLIENTS; k++) {
			const struct key key = client(&move.before, k);
			struct table_set set =
				host_table_set(&move.from, key_set(&move.before, &key));

			if (table_find(&set, &key) == TABLE_NONE)
				continue; /* it had to make room for another before */
			known++;
			good += ask(&move.to, k, 200, START) == 100 - (k + 1);
		}
		CHECK(rows[i].what, known > CLIENTS / 2);
		CHECK_EQ(rows[i].what, good, known);
	}
}

static uint64_t *state_of(const struct host_table *table, uint32_t number)
{
	const struct key key = client(table->limiter, number);
	const struct table_set set = host_table_set(table, key_set(table->limiter, &key));

	return (uint64_t *)&set.state[table_find(&set, &key) % set.ways];
}

/* Connections that close in the table before are closed in the next one. */
static void test_places(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_CONCURRENCY, 20, 16),
		.now = make_limiter(STILE_ALGORITHM_CONCURRENCY, 10, 40),
	};
	struct places places;
	uint64_t *before;

	move_begin(&move);
	(void)ask(&move.from, 1, 4, START);
	before = state_of(&move.from, 1);
	for (int i = 0; i < 3; i++)
		*before = places_end(&move.before, *before, START,
				     places_slice(&move.before, START), PLACES_END_OPEN);
	CHECK_EQ("there is room", carry_fill(&move.carry, START), 0);
	*before = places_close(places_close(*before));
	CHECK_EQ("two more come after the swap", ask(&move.to, 1, 2, START), 2);
	CHECK_EQ("all are caught up with", carry_catch_up(&move.carry, START), 0);
	places = places_read(&move.now, *state_of(&move.to, 1), START);
	CHECK_EQ("one of three is open", places.open, 1);
	CHECK_EQ("and of handshakes, one before and two after", places.current, 3);
	(void)carry_catch_up(&move.carry, START + 2 * 10 * SECOND);
	places = places_read(&move.now, *state_of(&move.to, 1), START + 2 * 10 * SECOND);
	CHECK_EQ("two slices later the connection is left", places_held(&places), 1);
}

/* A client that has a set to itself is found where it is looked for first. */
static void test_home(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_FIXED_WINDOW, 100, 16),
		.now = make_limiter(STILE_ALGORITHM_FIXED_WINDOW, 100, SETS_MAX),
	};
	unsigned int at_home = 0;
	enum { CLIENTS = 10 };

	move_begin(&move);
	for (uint32_t k = 0; k < CLIENTS; k++)
		(void)ask(&move.from, k, 1, START);
	(void)carry_fill(&move.carry, START);
	for (uint32_t k = 0; k < CLIENTS; k++) {
		const struct key key = client(&move.now, k);
		const struct key_place place = key_place(&move.now, &key);
		const struct table_set set = host_table_set(&move.to, place.set);

		at_home += table_find(&set, &key) == place.home;
	}
	CHECK_EQ("every client is at home", at_home, CLIENTS);
}

/* The ways of one set are wanted by more: those that came back stay, then those that owe most. */
static void test_crowd(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_FIXED_WINDOW, 100, 64),
		.now = make_limiter(STILE_ALGORITHM_FIXED_WINDOW, 100, 1),
	};
	enum { CLIENTS = 20, BACK = 3, OWING = STILE_SET_WAYS - BACK };
	const uint64_t later = START + SECOND;

	move_begin(&move);
	for (uint32_t k = 0; k < CLIENTS; k++)
		CHECK_EQ("it has a way", ask(&move.from, k, k < BACK ? 1 : k, START),
			 k < BACK ? 1 : k);
	for (uint32_t k = 0; k < BACK; k++)
		CHECK_EQ("it comes back", ask(&move.from, k, 1, later), 1);
	CHECK_EQ("most find no room", carry_fill(&move.carry, later), CLIENTS - STILE_SET_WAYS);
	for (uint32_t k = 0; k < BACK; k++)
		CHECK_EQ("who came back is known", ask(&move.to, k, 200, later), 100 - 2);
	for (uint32_t k = CLIENTS - OWING; k < CLIENTS; k++)
		CHECK_EQ("who owes most is known", ask(&move.to, k, 200, later), 100 - k);
}

/* When it was last seen, what it was admitted and refused: as far as the ticks allow. */
static void test_meta(void)
{
	struct move move = {
		.before = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 10, 16),
		.now = make_limiter(STILE_ALGORITHM_TOKEN_BUCKET, 5, 16),
	};
	const struct key key = client(&move.before, 1);
	struct table_set set;
	uint32_t way, meta;
	uint64_t age;

	move.now.seen_shift = 26;
	move_begin(&move);
	(void)ask(&move.from, 1, 12, START);
	(void)ask(&move.from, 1, 1, START + 2 * SECOND);
	(void)carry_fill(&move.carry, START + 5 * SECOND);
	set = host_table_set(&move.to, key_set(&move.now, &key));
	way = table_find(&set, &key);
	if (CHECK("it has a way", way < set.ways)) {
		meta = set.meta[way];
		age = (uint64_t)meta_age(meta, meta_tick(&move.now, START + 5 * SECOND))
		      << move.now.seen_shift;
		CHECK_EQ("admitted", meta_admitted(meta), 11);
		CHECK_EQ("refused", meta_refused(meta), 2);
		CHECK("it came back", meta & META_BACK);
		CHECK("it was seen three seconds ago",
		      age + (1U << 26) >= 3 * SECOND && age <= 3 * SECOND + (1U << 26));
	}
}

CHECK_SUITE(carry, { "another limit", test_limits }, { "tokens come back", test_refill },
	    { "what was charged meanwhile", test_catch_up },
	    { "what was admitted twice over", test_pay_back }, { "windows that turn", test_turn },
	    { "another size", test_size }, { "the way that is looked at first", test_home },
	    { "places that are given back", test_places }, { "not enough room", test_crowd },
	    { "what else is known of a client", test_meta });
