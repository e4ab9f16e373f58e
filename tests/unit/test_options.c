/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of TCP: bytes are written down here by RFC 9293, 3.2, RFC 7323 and RFC 2018. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "options.h"
#include "random.h"
#include "util.h"

#define MSS_1460 2, 4, 0x05, 0xb4
#define SCALE_7 3, 3, 7
#define SACK 4, 2
#define STAMPS 8, 10, 0x01, 0x02, 0x03, 0x04, 0xf1, 0xf2, 0xf3, 0xf4
#define TSVAL 0x01020304U
#define TSECR 0xf1f2f3f4U
#define NONE OPTIONS_NO_SCALE

/* As the program does it. */
static struct options read_all(const uint8_t *bytes, size_t size)
{
	struct options options = { .window_scale = NONE, .length = (__u32)size };
	__u32 at = 0;

	memcpy(options.bytes, bytes, size);
	for (int i = 0; i < OPTIONS_MAX && at < options.length; i++)
		at = options_step(&options, at);
	return options;
}

struct row {
	const char *what;
	uint8_t bytes[OPTIONS_MAX];
	size_t size;
	uint16_t mss;
	uint8_t window_scale;
	bool sack, timestamps;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct options options = read_all(rows[i].bytes, rows[i].size);

		CHECK_EQ(rows[i].what, options.mss, rows[i].mss);
		CHECK_EQ(rows[i].what, options.window_scale, rows[i].window_scale);
		CHECK_EQ(rows[i].what, options.sack, rows[i].sack);
		CHECK_EQ(rows[i].what, options.timestamps, rows[i].timestamps);
		CHECK_EQ(rows[i].what, options.tsval, rows[i].timestamps ? TSVAL : 0);
		CHECK_EQ(rows[i].what, options.tsecr, rows[i].timestamps ? TSECR : 0);
	}
}

static void test_each(void)
{
	static const struct row rows[] = {
		{ "none", {}, 0, 0, NONE, false, false },
		{ "a segment size", { MSS_1460 }, 4, 1460, NONE, false, false },
		{ "a window scale", { SCALE_7, 0 }, 4, 0, 7, false, false },
		{ "one of 0", { 3, 3, 0, 0 }, 4, 0, 0, false, false },
		{ "the largest there is", { 3, 3, 14, 0 }, 4, 0, 14, false, false },
		{ "one that is larger is that", { 3, 3, 15, 0 }, 4, 0, 14, false, false },
		{ "much larger", { 3, 3, 255, 0 }, 4, 0, 14, false, false },
		{ "SACK", { SACK, 1, 1 }, 4, 0, NONE, true, false },
		{ "time stamps", { STAMPS, 1, 1 }, 12, 0, NONE, false, true },
		{ "as Linux has them",
		  { MSS_1460, SACK, STAMPS, 1, SCALE_7 },
		  20,
		  1460,
		  7,
		  true,
		  true },
		{ "as Windows has them",
		  { MSS_1460, 1, SCALE_7, 1, 1, SACK },
		  12,
		  1460,
		  7,
		  true,
		  false },
		{ "all of them, close together",
		  { SACK, SCALE_7, STAMPS, MSS_1460, 0 },
		  20,
		  1460,
		  7,
		  true,
		  true },
		{ "others are passed over",
		  { 34, 2, 30, 12, 0,	0x81, 1,    2,	  3,	    4,
		    5,	6, 7,  8,  254, 4,    0xf9, 0x89, MSS_1460, SACK },
		  24,
		  1460,
		  NONE,
		  true,
		  false },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_lengths(void)
{
	static const struct row rows[] = {
		{ "a segment size of three bytes", { 2, 3, 5, SACK }, 5, 0, NONE, true, false },
		{ "of five", { 2, 5, 5, 0xb4, 0, SACK }, 7, 0, NONE, true, false },
		{ "a window scale of two", { 3, 2, SACK }, 4, 0, NONE, true, false },
		{ "of four", { 3, 4, 7, 7, SACK }, 6, 0, NONE, true, false },
		{ "SACK of three", { 4, 3, 4, MSS_1460 }, 7, 1460, NONE, false, false },
		{ "time stamps of nine",
		  { 8, 9, 1, 2, 3, 4, 5, 6, 7, SACK },
		  11,
		  0,
		  NONE,
		  true,
		  false },
		{ "a length of 0 ends them", { 2, 0, SACK, MSS_1460 }, 8, 0, NONE, false, false },
		{ "a length of 1", { SACK, 30, 1, MSS_1460 }, 8, 0, NONE, true, false },
		{ "longer than there are bytes", { SACK, 2, 4, 5 }, 5, 0, NONE, true, false },
		{ "an unknown one that is", { SACK, 30, 255, MSS_1460 }, 8, 0, NONE, true, false },
		{ "a kind without a length", { MSS_1460, SACK, 1, 8 }, 8, 1460, NONE, true, false },
		{ "all that is there is taken", { 1, 1, MSS_1460 }, 6, 1460, NONE, false, false },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_order(void)
{
	static const struct row rows[] = {
		{ "twice: the last counts",
		  { 2, 4, 1, 0, MSS_1460, 3, 3, 2, SCALE_7 },
		  14,
		  1460,
		  7,
		  false,
		  false },
		{ "SACK twice", { SACK, SACK }, 4, 0, NONE, true, false },
		{ "stamps twice",
		  { 8, 10, 9, 9, 9, 9, 9, 9, 9, 9, STAMPS },
		  20,
		  0,
		  NONE,
		  false,
		  true },
		{ "a size of 0 is none", { 2, 4, 0, 0 }, 4, 0, NONE, false, false },
		{ "and leaves the one before",
		  { MSS_1460, 2, 4, 0, 0 },
		  8,
		  1460,
		  NONE,
		  false,
		  false },
		{ "nothing counts behind the end",
		  { MSS_1460, 0, SACK, SCALE_7 },
		  10,
		  1460,
		  NONE,
		  false,
		  false },
		{ "nor after an end at once", { 0, 1, SACK }, 4, 0, NONE, false, false },
		{ "nothing before others", { 1, 1, 1, 1, 1, SACK, 1 }, 8, 0, NONE, true, false },
		{ "forty bytes of nothing",
		  { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,   1,
		    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, SACK },
		  40,
		  0,
		  NONE,
		  true,
		  false },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

/* What was read of the whole, cut off anywhere: what ends before the cut, and no more. */
static void test_cut(void)
{
	static const uint8_t linux_like[] = { MSS_1460, SACK, STAMPS, 1, SCALE_7 };

	for (size_t size = 0; size <= sizeof(linux_like); size++) {
		const struct options options = read_all(linux_like, size);

		CHECK_EQ("a segment size", options.mss, size >= 4 ? 1460 : 0);
		CHECK_EQ("SACK", options.sack, size >= 6);
		CHECK_EQ("time stamps", options.timestamps, size >= 16);
		CHECK_EQ("a window scale", options.window_scale, size >= 20 ? 7 : NONE);
	}
}

/* Whatever the forty bytes are, they are read to some end, and each step goes on. */
static void test_junk(void)
{
	uint64_t random = 20261130;

	for (int round = 0; round < 20000; round++) {
		struct options options = { .window_scale = NONE, .length = OPTIONS_MAX };
		__u32 at = 0, next, steps = 0;

		for (size_t i = 0; i < OPTIONS_MAX; i++) {
			uint64_t drawn = random_next(&random);

			options.bytes[i] = (uint8_t)(drawn & 0x100 ? drawn % 11 : drawn);
		}
		for (; at < options.length; at = next, steps++) {
			next = options_step(&options, at);
			if (!(next > at && (next <= options.length || next == OPTIONS_END)))
				break;
		}
		if (!CHECK("it ends", at >= options.length && steps <= OPTIONS_MAX) ||
		    !CHECK("a scale that there is", options.window_scale <= OPTIONS_SCALE_MAX ||
							    options.window_scale == NONE))
			return;
	}
}

CHECK_SUITE(options, { "each by itself, and all", test_each },
	    { "lengths that are not theirs", test_lengths }, { "order and ends", test_order },
	    { "cut off", test_cut }, { "any forty bytes", test_junk });
