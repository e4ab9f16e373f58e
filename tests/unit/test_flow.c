/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one word says of a session, who makes room for whom, and what tells flows apart. */
#include <string.h>

#include "check.h"
#include "flow.h"
#include "random.h"
#include "snapshot_sessions.h"
#include "util.h"

#define NOW 5000U
#define DAY_UNITS (86400ULL * 1000000000 >> STILE_FLOW_SHIFT)

static void test_left(void)
{
	static const struct {
		const char *what;
		enum flow_kind kind;
		uint32_t until, now, want;
	} rows[] = {
		{ "nothing", FLOW_NONE, NOW + 10, NOW, 0 },
		{ "ten units to go", FLOW_NEW, NOW + 10, NOW, 10 },
		{ "one to go", FLOW_OPEN, NOW + 1, NOW, 1 },
		{ "none to go", FLOW_OPEN, NOW, NOW, 0 },
		{ "gone", FLOW_HELD, NOW - 1, NOW, 0 },
		{ "gone for a day", FLOW_OPEN, NOW, NOW + DAY_UNITS, 0 },
		{ "gone for 51 days", FLOW_OPEN, NOW, NOW + 51 * DAY_UNITS, 0 },
		{ "three hours, the longest there is", FLOW_OPEN, NOW + FLOW_LEFT_MAX, NOW,
		  FLOW_LEFT_MAX },
		{ "more is none", FLOW_OPEN, NOW + FLOW_LEFT_MAX + 1, NOW, 0 },
		{ "across the end of the numbers", FLOW_OPEN, 3, FLOW_TIME_MASK, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what,
			 flow_left(flow_word(7, rows[i].kind, rows[i].until),
				   rows[i].now & FLOW_TIME_MASK),
			 rows[i].want);
}

static void test_word(void)
{
	const uint64_t tag = (1ULL << 33) - 2;
	uint64_t word = flow_word(tag, FLOW_HELD_ANSWERED, FLOW_TIME_MASK);

	CHECK_EQ("the tag", word >> FLOW_TAG_OFFSET, tag);
	CHECK_EQ("the kind", flow_kind(word), FLOW_HELD_ANSWERED);
	CHECK_EQ("the time", word & FLOW_TIME_MASK, FLOW_TIME_MASK);
	CHECK_EQ("a second is 59 units", flow_time(1000000000), 59);
	CHECK_EQ("a unit before it is over is the same", flow_time((1 << STILE_FLOW_SHIFT) - 1), 0);
}

static void test_touch(void)
{
	__u64 place = flow_word(7, FLOW_NEW, NOW + 10), word = place;

	flow_touch(&place, word, NOW + 10);
	CHECK_EQ("within one moment it stays new", flow_kind(place), FLOW_NEW);
	flow_touch(&place, word, NOW + 11);
	CHECK_EQ("in a later one it came back", place, flow_word(7, FLOW_OPEN, NOW + 11));
	flow_touch(&place, word, NOW + 12);
	CHECK_EQ("a change that it did not see stays", place, flow_word(7, FLOW_OPEN, NOW + 11));
}

/* Puts @word into a set of eight words, of which the @at-th is told. */
static void test_put(void)
{
	const uint64_t held = flow_word(9, FLOW_HELD, NOW + 50),
		       fresh = flow_word(9, FLOW_NEW, NOW + 50);
	static const struct {
		const char *what;
		enum flow_kind kinds[STILE_FLOW_WAYS];
		uint32_t left[STILE_FLOW_WAYS];
		bool held;
		enum flow_room want;
		int way; /* where it goes */
	} rows[] = {
		{ "an empty set", {}, {}, false, FLOW_ROOM_FREE, 0 },
		{ "one that is over is free",
		  { 4, 4, 4, 4, 4, 4, 4, 4 },
		  { 9, 9, 9, 0, 9, 9, 9, 9 },
		  true,
		  FLOW_ROOM_FREE,
		  3 },
		{ "held ones go first",
		  { 4, 4, 4, 4, 4, 1, 3, 3 },
		  { 1, 1, 1, 1, 1, 9, 1, 1 },
		  false,
		  FLOW_ROOM_EVICTED,
		  5 },
		{ "then those that came once",
		  { 4, 4, 3, 4, 4, 4, 4, 4 },
		  { 1, 1, 9, 1, 1, 1, 1, 1 },
		  false,
		  FLOW_ROOM_EVICTED,
		  2 },
		{ "then the longest silent",
		  { 4, 4, 4, 4, 4, 4, 4, 4 },
		  { 9, 9, 9, 9, 9, 9, 8, 9 },
		  false,
		  FLOW_ROOM_EVICTED,
		  6 },
		{ "one that is held takes no place of a held one",
		  { 1, 1, 1, 1, 1, 1, 1, 1 },
		  { 1, 1, 1, 1, 1, 1, 1, 1 },
		  true,
		  FLOW_ROOM_NONE,
		  -1 },
		{ "nor of another",
		  { 3, 3, 3, 3, 3, 3, 3, 3 },
		  { 1, 1, 1, 1, 1, 1, 1, 1 },
		  true,
		  FLOW_ROOM_NONE,
		  -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stile_flow_set set = {};
		uint64_t word = rows[i].held ? held : fresh;
		int at = -1;

		for (int way = 0; way < STILE_FLOW_WAYS; way++)
			set.flow[way] = flow_word((uint64_t)way + 100, rows[i].kinds[way],
						  NOW + rows[i].left[way]);
		CHECK_EQ(rows[i].what, flow_put(&set, word, NOW), rows[i].want);
		for (int way = 0; way < STILE_FLOW_WAYS; way++)
			at = set.flow[way] == word ? way : at;
		CHECK_EQ(rows[i].what, at, rows[i].way);
	}
}

/* A flow has one word, whatever is put. */
static void test_same(void)
{
	struct stile_flow_set set = { { 0, flow_word(9, FLOW_HELD_ANSWERED, NOW + 5) } };
	__u64 *place;

	CHECK_EQ("what is there is written over",
		 flow_put(&set, flow_word(9, FLOW_HELD, NOW + 7), NOW), FLOW_ROOM_FREE);
	CHECK_EQ("in its way", flow_find(&set, 9, NOW, &place), set.flow[1]);
	CHECK_EQ("and no other", set.flow[0], 0);
	CHECK_EQ("another is not there", flow_find(&set, 8, NOW, &place), 0);
	CHECK_EQ("nor is this one any more", flow_find(&set, 9, NOW + 7, &place), 0);
}

/* Two datagrams of a new flow on two CPUs: one opened it, and the other was refused. */
static void test_let_in(void)
{
	const __u64 open = flow_word(9, FLOW_NEW, NOW + 5);
	struct stile_flow_set set = { { 0, open } };
	__u64 *place;

	CHECK_EQ("nothing is to be done", flow_put(&set, flow_word(9, FLOW_HELD, NOW + 7), NOW),
		 FLOW_ROOM_FREE);
	CHECK_EQ("it stays open", set.flow[1], open);
	CHECK_EQ("and is nowhere else", set.flow[0], 0);
	flow_put(&set, flow_word(9, FLOW_HELD, NOW + 7), NOW + 5);
	CHECK_EQ("once it has been silent, it is held",
		 flow_kind(flow_find(&set, 9, NOW + 5, &place)), FLOW_HELD);
}

/* Every bit of every field tells flows apart, and pairs that a sum of fields would not. */
static void test_hash(void)
{
	__u64 keys[STILE_FLOW_KEYS], hash;
	uint64_t random = 88172645463325252ULL;
	struct pkt pkt = { .sport = 1000, .dport = 53 }, other;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		keys[i] = random_next(&random);
	for (int i = 0; i < 2; i++) {
		pkt.source.word[i] = random_next(&random);
		pkt.destination.word[i] = random_next(&random);
	}
	hash = flow_hash(keys, &pkt);
	for (unsigned int bit = 0; bit < 288; bit++) {
		other = pkt;
		if (bit < 128)
			other.source.word[bit / 64] ^= 1ULL << bit % 64;
		else if (bit < 256)
			other.destination.word[bit / 64 - 2] ^= 1ULL << bit % 64;
		else if (bit < 272)
			other.sport ^= (uint16_t)(1U << (bit - 256));
		else
			other.dport ^= (uint16_t)(1U << (bit - 272));
		CHECK("a bit makes another flow", flow_hash(keys, &other) != hash);
		CHECK("and another tag", flow_tag(flow_hash(keys, &other)) != flow_tag(hash));
	}
	other = pkt;
	other.source = pkt.destination;
	other.destination = pkt.source;
	CHECK("the way back is another flow", flow_hash(keys, &other) != hash);
}

/* Places and tags of neighbours are as even as chance: 65536 ports in 65536 places, 8 a set. */
static void test_spread(void)
{
	static uint32_t sets[8192];
	__u64 keys[STILE_FLOW_KEYS];
	uint64_t random = 88172645463325252ULL;
	struct pkt pkt = { .dport = 53 };
	uint32_t fullest = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		keys[i] = random_next(&random);
	for (uint32_t port = 0; port < 65536; port++) {
		uint32_t *set;

		pkt.sport = (uint16_t)port;
		set = &sets[flow_index(flow_hash(keys, &pkt), ARRAY_SIZE(sets))];
		if (++*set > fullest)
			fullest = *set;
	}
	/* Of 8192 Poisson variates of mean 8, one above 28 has a chance of one in ten million. */
	CHECK("no set gets many more than its share", fullest <= 28);
	CHECK("and some get more", fullest > 8);
}

static void test_count(void)
{
	const struct stile_flow_set sets[2] = {
		{ { flow_word(1, FLOW_NEW, NOW + 1), flow_word(2, FLOW_OPEN, NOW + 1),
		    flow_word(3, FLOW_OPEN, NOW), flow_word(4, FLOW_HELD, NOW + 1) } },
		{ { [7] = flow_word(5, FLOW_HELD_ANSWERED, NOW + 1) } },
	};
	struct snapshot_sessions sessions = {};

	snapshot_sessions_count(sets, 2, (uint64_t)NOW << STILE_FLOW_SHIFT, &sessions);
	CHECK_EQ("open", sessions.open, 2);
	CHECK_EQ("held", sessions.held, 2);
}

CHECK_SUITE(flow, { "what is left", test_left }, { "a word", test_word },
	    { "seen again", test_touch }, { "who makes room", test_put },
	    { "one word a flow", test_same }, { "one that was let in stays so", test_let_in },
	    { "what tells flows apart", test_hash }, { "spread", test_spread },
	    { "counted", test_count });
