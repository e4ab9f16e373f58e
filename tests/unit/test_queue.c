/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rule by which a filling accept queue lets in, and the words that count what clients ask. */
#include "check.h"
#include "queue.h"
#include "util.h"

#define HALF (1ULL << QUEUE_SHIFT)
#define NOW (1000 * HALF)

static void test_threshold(void)
{
	static const struct {
		const char *what;
		__u32 backlog, limit;
		__u8 percent;
		__u32 want;
	} rows[] = {
		{ "a part of the places, of which there is one more than the backlog", 9, 80, 80,
		  8 },
		{ "rounded down", 511, 80, 80, 409 },
		{ "all of them: only when it is full", 127, 100, 100, 128 },
		{ "of a backlog of none", 0, 80, 80, 0 },
		{ "a number", 127, 100, 0, 100 },
		{ "a number that it never reaches: when it is full", 15, 100, 0, 16 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct queue_state queue = { .backlog = rows[i].backlog };

		CHECK_EQ(rows[i].what, queue_threshold(&queue, rows[i].limit, rows[i].percent),
			 rows[i].want);
	}
}

static void test_room(void)
{
	static const struct {
		const char *what;
		__u32 length;
		__u64 weight;
		bool want;
	} rows[] = {
		{ "who has nothing, at the last place", 9, 0, true },
		{ "who has one, at the last place", 9, 1, false },
		{ "who has less than there are places", 6, 3, true },
		{ "who has as much", 6, 4, false },
		{ "nobody has a place in a full queue", 10, 0, false },
		{ "nor in one that is more than full: its backlog was lowered", 300, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct queue_state queue = { rows[i].length, 9, 0 };

		CHECK_EQ(rows[i].what, queue_has_room(&queue, rows[i].weight), rows[i].want);
	}
}

static void test_in_flight(void)
{
	const struct queue_state queue = { .length = 5, .backlog = 9, .young = 3 };

	CHECK_EQ("who has asked for nothing sees who waits", queue_length_to(&queue, 0), 5);
	CHECK_EQ("who has asked may have those in flight", queue_length_to(&queue, 2), 7);
	CHECK_EQ("but no more than there are", queue_length_to(&queue, 100), 8);
}

static void test_asked(void)
{
	const __u64 tag = queue_tag(0x123456789abcdef0), other = queue_tag(0x3456789abcdef012);
	__u64 word = 0;

	CHECK("a tag is never none", queue_tag(0) != 0);
	CHECK("tags differ", tag != other);
	for (__u32 i = 0; i < 5; i++) {
		CHECK_EQ("so many before", queue_asked(word, NOW), i);
		word = queue_ask(word, tag, NOW);
	}
	CHECK_EQ("they weigh in the next half", queue_asked(word, NOW + HALF), 5);
	CHECK_EQ("and not in the one after", queue_asked(word, NOW + 2 * HALF), 0);
	word = queue_ask(word, tag, NOW + HALF);
	CHECK_EQ("together with those of that half", queue_asked(word, NOW + HALF), 6);
	CHECK_EQ("which are all that is left then", queue_asked(word, NOW + 2 * HALF), 1);
	CHECK_EQ("one who takes the place begins anew",
		 queue_asked(queue_ask(word, other, NOW + HALF), NOW + HALF), 1);
	CHECK_EQ("and one who comes back late",
		 queue_asked(queue_ask(word, tag, NOW + 9 * HALF), NOW + 9 * HALF), 1);
	CHECK_EQ("an unused word weighs nothing", queue_asked(0, 0), 0);
	for (__u32 i = 0; i < 70000; i++)
		word = queue_ask(word, tag, NOW + HALF);
	CHECK_EQ("the count ends, and does not turn over",
		 queue_asked(word, NOW + HALF) >= QUEUE_COUNT_MAX, true);
}

CHECK_SUITE(queue, { "from when on it is over its limit", test_threshold },
	    { "whom it has room for", test_room }, { "handshakes in flight", test_in_flight },
	    { "what clients ask for", test_asked });
