/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The word that counts a client's connections. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "holder.h"
#include "util.h"

static struct stile_holder_key key_for(uint8_t last, uint32_t listener)
{
	struct stile_holder_key key = { .address = { [10] = 0xff, 0xff, 192, 0, 2, last },
					.listener = listener };

	return key;
}

static void test_count(void)
{
	const struct stile_holder_key key = key_for(1, 3);
	uint64_t state = holder_first(&key), before;

	CHECK_EQ("the first is one", holder_open(state), 1);
	for (unsigned int i = 2; i <= 100000; i++) {
		before = state;
		state = holder_with(state, holder_open(state) + 1);
		if (holder_open(state) != i || state == before)
			CHECK_EQ("each counts, and changes the word", holder_open(state), i);
	}
	CHECK("it lives", holder_lives(state, &key));
	before = state;
	state = holder_with(holder_with(state, holder_open(state) + 1), holder_open(state));
	CHECK_EQ("one that comes and goes leaves the same number", holder_open(state), 100000);
	CHECK("and another word", state != before);
	state = holder_with(state, 0);
	CHECK("without one it is dead", !holder_lives(state, &key));
}

static void test_tag(void)
{
	const struct stile_holder_key key = key_for(1, 3);
	unsigned int same = 0;

	for (unsigned int last = 0; last < 256; last++) {
		for (uint32_t listener = 1; listener < 256; listener++) {
			struct stile_holder_key other = key_for((uint8_t)last, listener);

			same += memcmp(&other, &key, sizeof(key)) != 0 &&
				holder_lives(holder_first(&key), &other);
		}
	}
	CHECK_EQ("another client's word is told apart", same, 0);
}

static void test_key(void)
{
	static const struct {
		const char *what;
		uint8_t address[16], want[16];
	} rows[] = {
		{ "a whole IPv4 address",
		  { [10] = 0xff, 0xff, 192, 0, 2, 77 },
		  { [10] = 0xff, 0xff, 192, 0, 2, 77 } },
		{ "half an IPv6 address",
		  { 0xfd, 0x77, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 },
		  { 0xfd, 0x77, 0, 1, 2, 3, 4, 5 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stile_holder_key key;
		struct address address;

		memcpy(&address, rows[i].address, sizeof(address));
		holder_key(&address, 9, &key);
		CHECK_EQ(rows[i].what, memcmp(key.address, rows[i].want, sizeof(key.address)) != 0,
			 false);
		CHECK_EQ(rows[i].what, key.listener, 9);
	}
}

CHECK_SUITE(holder, { "connections are counted", test_count },
	    { "a word is its client's", test_tag }, { "a client is its address", test_key });
