/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An operator's own answer as text, and what it is read as. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "raw.h"
#include "util.h"

#define PLACE(kind, offset, length)                                                                \
	{                                                                                          \
		(kind), (offset), (length)                                                         \
	}

static void test_bytes(void)
{
	static const struct {
		const char *what, *text, *bytes;
		size_t n_bytes;
	} rows[] = {
		{ "itself", "BUSY, try later", "BUSY, try later", 15 },
		{ "a letter each", "\\r\\n\\t\\0\\\\\\{\\}", "\r\n\t\0\\{}", 7 },
		{ "any byte", "\\x00\\x7f\\xfF\\xAb", "\0\x7f\xff\xab", 4 },
		{ "two digits and no more", "\\x410", "A0", 2 },
		{ "braces", "{}{ {a} }", "{}{ {a} }", 9 },
		{ "what only begins like a place", "{wai}{reques}", "{wai}{reques}", 13 },
		{ "a brace that is escaped", "\\{wait_s}", "{wait_s}", 8 },
		{ "a tab and an end of line of the file's own", "\t\n", "\t\n", 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct raw raw = { 0 };
		struct raw_mistake mistake;

		if (!CHECK_EQ(rows[i].what, raw_parse(rows[i].text, &raw, &mistake), true) ||
		    !CHECK_EQ(rows[i].what, raw.n_bytes, rows[i].n_bytes))
			continue;
		CHECK_MEM_EQ(rows[i].what, raw.bytes, rows[i].bytes, rows[i].n_bytes);
		CHECK_EQ(rows[i].what, raw.n_pieces, 1);
		CHECK_EQ(rows[i].what, raw.pieces[0].kind, RAW_BYTES);
		CHECK_EQ(rows[i].what, raw.pieces[0].length, rows[i].n_bytes);
	}
}

static void test_places(void)
{
	static const struct {
		const char *what, *text;
		struct raw_piece pieces[RAW_PIECES_MAX];
		unsigned int n_pieces;
	} rows[] = {
		{ "seconds", "{wait_s}", { PLACE(RAW_WAIT_S, 0, 0) }, 1 },
		{ "milliseconds between bytes",
		  "ab{wait_ms}c",
		  { PLACE(RAW_BYTES, 0, 2), PLACE(RAW_WAIT_MS, 0, 0), PLACE(RAW_BYTES, 2, 1) },
		  3 },
		{ "the request's first byte", "{request:0:1}", { PLACE(RAW_REQUEST, 0, 1) }, 1 },
		{ "the most of it", "{request:1400:64}", { PLACE(RAW_REQUEST, 1400, 64) }, 1 },
		{ "zeros before a number", "{request:004:03}", { PLACE(RAW_REQUEST, 4, 3) }, 1 },
		{ "a place within braces",
		  "{{request:4:3}}",
		  { PLACE(RAW_BYTES, 0, 1), PLACE(RAW_REQUEST, 4, 3), PLACE(RAW_BYTES, 1, 1) },
		  3 },
		{ "bytes on both sides of an escape are one piece",
		  "a\\nb{wait_s}{wait_s}",
		  { PLACE(RAW_BYTES, 0, 3), PLACE(RAW_WAIT_S, 0, 0), PLACE(RAW_WAIT_S, 0, 0) },
		  3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct raw raw = { 0 };
		struct raw_mistake mistake;

		if (!CHECK_EQ(rows[i].what, raw_parse(rows[i].text, &raw, &mistake), true) ||
		    !CHECK_EQ(rows[i].what, raw.n_pieces, rows[i].n_pieces))
			continue;
		for (unsigned int j = 0; j < raw.n_pieces; j++) {
			CHECK_EQ(rows[i].what, raw.pieces[j].kind, rows[i].pieces[j].kind);
			CHECK_EQ(rows[i].what, raw.pieces[j].offset, rows[i].pieces[j].offset);
			CHECK_EQ(rows[i].what, raw.pieces[j].length, rows[i].pieces[j].length);
		}
	}
}

#define ESCAPES "\\xNN, \\r, \\n, \\t, \\0, \\\\, \\{ or \\}"
#define REQUEST "{request:OFFSET:LENGTH}, an offset of 1400 at most and a length from 1 to 64"
#define WAIT "{wait_s} or {wait_ms}; \\{ is a brace"
#define ASCII "ASCII: other bytes are \\xNN, in 'single quotes'"

static void test_mistakes(void)
{
	static const struct {
		const char *text, *found, *expected;
	} rows[] = {
		{ "", "", "what is sent" },
		{ "\\", "\\", ESCAPES },
		{ "a\\b c", "\\b", ESCAPES },
		{ "\\x", "\\x", ESCAPES },
		{ "\\x4", "\\x4", ESCAPES },
		{ "\\x4g", "\\x4g", ESCAPES },
		{ "\\X41", "\\X41", ESCAPES },
		{ "a {wait} b", "{wait}", WAIT },
		{ "{wait_m}", "{wait_m}", WAIT },
		{ "{wait_s", "{wait_s", WAIT },
		{ "{wait_s }", "{wait_s }", WAIT },
		{ "{request}", "{request}", REQUEST },
		{ "{request:1}", "{request:1}", REQUEST },
		{ "{request:1:0}", "{request:1:0}", REQUEST },
		{ "{request:1:65}", "{request:1:65}", REQUEST },
		{ "{request:1401:1}", "{request:1401:1}", REQUEST },
		{ "{request:-1:1}", "{request:-1:1}", REQUEST },
		{ "{request:+1:1}", "{request:+1:1}", REQUEST },
		{ "{request: 1:1}", "{request: 1:1}", REQUEST },
		{ "{request:1:1 }", "{request:1:1 }", REQUEST },
		{ "{request:1:1", "{request:1:1", REQUEST },
		{ "{request:4294967297:1}", "{request:4294967297:1}", REQUEST },
		{ "{request:1:18446744073709551617}", "{request:1:18446744073709551617", REQUEST },
		{ "\xc3\xa9", "\xc3\xa9", ASCII },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct raw raw = { .server_first = true, .n_bytes = 77 };
		struct raw_mistake mistake = { .expected = NULL };

		CHECK_EQ(rows[i].text, raw_parse(rows[i].text, &raw, &mistake), false);
		CHECK_STR_EQ(rows[i].text, mistake.found, rows[i].found);
		CHECK_STR_EQ(rows[i].text, mistake.expected, rows[i].expected);
		CHECK_EQ("what was there stays", raw.n_bytes, 77);
	}
}

/* @n times @part. */
static void repeat(char *text, const char *part, size_t n)
{
	*text = '\0';
	while (n--)
		text = stpcpy(text, part);
}

static void test_bounds(void)
{
	static const struct {
		const char *what, *part;
		size_t n;
		const char *expected; /* NULL: it is read */
		unsigned int n_pieces;
	} rows[] = {
		{ "1024 bytes", "a", RAW_BYTES_MAX, NULL, 1 },
		{ "one more", "a", RAW_BYTES_MAX + 1, "at most 1024 bytes", 0 },
		{ "as many as escapes", "\\xff", RAW_BYTES_MAX, NULL, 1 },
		{ "eight places", "{wait_s}", RAW_PLACES_MAX, NULL, RAW_PLACES_MAX },
		{ "one more", "{wait_ms}", RAW_PLACES_MAX + 1, "at most 8 places", 0 },
		{ "with bytes between them", "a{request:0:64}", RAW_PLACES_MAX, NULL,
		  2 * RAW_PLACES_MAX },
		{ "one more", "a{request:0:64}", RAW_PLACES_MAX + 1, "at most 8 places", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct raw raw = { 0 };
		struct raw_mistake mistake = { .expected = NULL };
		char text[4 * RAW_BYTES_MAX + 1];

		repeat(text, rows[i].part, rows[i].n);
		CHECK_EQ(rows[i].what, raw_parse(text, &raw, &mistake), !rows[i].expected);
		CHECK_EQ(rows[i].what, raw.n_pieces, rows[i].n_pieces);
		if (rows[i].expected)
			CHECK_STR_EQ(rows[i].what, mistake.expected, rows[i].expected);
	}
}

/* Every piece that there can be: bytes before, between and behind eight places. */
static void test_most_pieces(void)
{
	struct raw raw = { .server_first = true };
	struct raw_mistake mistake;
	char text[256];

	repeat(text, "a{wait_s}", RAW_PLACES_MAX);
	repeat(text + strlen(text), "b", 1);
	CHECK_EQ("it is read", raw_parse(text, &raw, &mistake), true);
	CHECK_EQ("all pieces", raw.n_pieces, RAW_PIECES_MAX);
	CHECK_EQ("who speaks first stays", raw.server_first, true);
}

CHECK_SUITE(raw, { "bytes and escapes", test_bytes }, { "places", test_places },
	    { "mistakes", test_mistakes }, { "bounds", test_bounds },
	    { "the most pieces", test_most_pieces });
