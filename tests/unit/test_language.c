/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts with places, as the answers that are made of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "language.h"
#include "util.h"

static const struct language_response none;

/* The answer of the text alone. */
static int build(const char *text, struct stile_answer *ret_answer)
{
	const struct language language = {
		.rules = { { .text = { text, strlen(text) } } },
		.n_rules = 1,
	};

	return language_build(&language, &none, ret_answer);
}

static void test_places(void)
{
	struct stile_answer answer;

	if (!CHECK_EQ("every place", build("a{wait_s}b{wait_ms0}c{request:3:5}d{status}", &answer),
		      0))
		return;
	CHECK_EQ("its length", answer.length, 1 + 4 + 1 + 7 + 1 + 5 + 1 + 21);
	CHECK_EQ("one rule", answer.n_rules, 1);
	CHECK_EQ("and no other", answer.other, 0);
	CHECK_EQ("that says it all", answer.rules[0].length, answer.length);
	CHECK_EQ("three patches", answer.n_patches, 3);
	CHECK_EQ("seconds", answer.patches[0].kind, STILE_PATCH_WAIT_S);
	CHECK_EQ("behind a", answer.patches[0].offset, 1);
	CHECK_EQ("after spaces", answer.patches[0].fill, ' ');
	CHECK_EQ("milliseconds", answer.patches[1].kind, STILE_PATCH_WAIT_MS);
	CHECK_EQ("behind b", answer.patches[1].offset, 6);
	CHECK_EQ("after zeros", answer.patches[1].fill, '0');
	CHECK_EQ("the request", answer.patches[2].kind, STILE_PATCH_REQUEST);
	CHECK_EQ("from its third byte", answer.patches[2].from, 3);
	CHECK_EQ("five of it", answer.patches[2].width, 5);
	CHECK_MEM_EQ("and the status", answer.bytes + answer.length - 21, "429 Too Many Requests",
		     21);
}

static void test_bits(void)
{
	struct stile_answer answer;

	if (!CHECK_EQ("a byte with bits", build("a{bits:5:16:7}b", &answer), 0))
		return;
	CHECK_EQ("its patch", answer.patches[0].kind, STILE_PATCH_REQUEST_BITS);
	CHECK_EQ("from the request's fifth byte", answer.patches[0].from, 5);
	CHECK_EQ("through a mask", answer.patches[0].fill, 16);
	CHECK_EQ("one byte", answer.length, 3);
	CHECK_MEM_EQ("over the others", answer.bytes, "a\7b", 3);
}

static void test_mistakes(void)
{
	static const struct {
		const char *text;
		int want;
	} rows[] = {
		{ "{nonsense}", -EINVAL },
		{ "{request:1}", -EINVAL },
		{ "{request:1:0}", -EINVAL },
		{ "{request:1:65}", -EINVAL },
		{ "{request:65536:1}", -EINVAL },
		{ "{request:1:1 }", -EINVAL },
		{ "{bits:1:2}", -EINVAL },
		{ "{bits:65536:1:1}", -EINVAL },
		{ "{bits:1:256:1}", -EINVAL },
		{ "{bits:1:1:256}", -EINVAL },
		{ "{", 0 },
		{ "}", 0 },
		{ "{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}", 0 },
		{ "{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}{wait_s}",
		  -EMSGSIZE },
	};
	struct stile_answer answer;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].text, build(rows[i].text, &answer), rows[i].want);
}

static void test_size(void)
{
	autofree char *text = calloc(1, STILE_ANSWER_BYTES + 2);
	struct stile_answer answer;

	if (!CHECK("memory", text != NULL))
		return;
	memset(text, 'x', STILE_ANSWER_BYTES);
	CHECK_EQ("as long as may be", build(text, &answer), 0);
	CHECK_EQ("all of it", answer.length, STILE_ANSWER_BYTES);
	text[STILE_ANSWER_BYTES] = 'x';
	CHECK_EQ("one more", build(text, &answer), -EMSGSIZE);
}

/* A rule whose text is how the last one begins takes no room; others are put behind. */
static void test_rules(void)
{
	struct language language = {
		.rules = {
			{ .request = LANGUAGE_BYTES("HEAD"), .text = LANGUAGE_BYTES("to{wait_s}") },
			{ .request = LANGUAGE_BYTES("N"), .text = LANGUAGE_BYTES("no"),
			  .goes_on = true },
			{ .text = LANGUAGE_BYTES("to{wait_s}wait") },
		},
		.n_rules = 3,
		.prelude = 2,
	};
	char text[STILE_ANSWER_PIECE + 2] = "";
	struct stile_answer answer;

	if (!CHECK_EQ("three rules", language_build(&language, &none, &answer), 0))
		return;
	CHECK_EQ("no more than two texts", answer.length, 10 + 2);
	CHECK_EQ("the last comes first", answer.rules[2].first, 0);
	CHECK_EQ("and its beginning too", answer.rules[0].first, 0);
	CHECK_EQ("shorter", answer.rules[0].length, 6);
	CHECK_EQ("the other behind", answer.rules[1].first, 10);
	CHECK_EQ("it goes on", answer.rules[1].goes_on, 1);
	CHECK_EQ("the first is the other", answer.other, 1);
	CHECK_MEM_EQ("a request that begins so", answer.rules[0].value, "HEAD\0\0\0\0", 8);
	CHECK_MEM_EQ("and as it will", answer.rules[0].mask, "\xff\xff\xff\xff\0\0\0\0", 8);
	CHECK_MEM_EQ("any request", answer.rules[2].mask, "\0\0\0\0\0\0\0\0", 8);
	memset(text, 'x', STILE_ANSWER_PIECE);
	language.rules[1].text = (struct language_bytes){ text, STILE_ANSWER_PIECE };
	CHECK_EQ("one segment's worth", language_build(&language, &none, &answer), 0);
	text[STILE_ANSWER_PIECE] = 'x';
	language.rules[1].text.length++;
	CHECK_EQ("more than that", language_build(&language, &none, &answer), -EMSGSIZE);
	language.rules[1].goes_on = false;
	CHECK_EQ("two others", language_build(&language, &none, &answer), -EINVAL);
	language.rules[0].goes_on = true;
	CHECK_EQ("another one, of any length", language_build(&language, &none, &answer), 0);
	CHECK_EQ("the second", answer.other, 2);
}

/* What the operator wants said, and what is said otherwise. */
static void test_response(void)
{
	char name[] = "cache-control", value[] = "max-age=1", body[] = "";
	struct language_header header = { name, value };
	const struct language_response own = { 503, body, &header, 1 };
	struct stile_answer answer;

	if (CHECK_EQ("of its own", language_build(language_of(STILE_LANGUAGE_HTTP), &own, &answer),
		     0)) {
		answer.bytes[answer.length] = '\0';
		CHECK_STR_EQ("headers once each, and no body", (const char *)answer.bytes,
			     "HTTP/1.1 503 Service Unavailable\r\nRetry-After:     \r\n"
			     "cache-control: max-age=1\r\nContent-Length: 0\r\n"
			     "Connection: close\r\n\r\n");
	}
	CHECK_EQ("action close", language_build(NULL, &none, &answer), 0);
	CHECK_EQ("says nothing", answer.length, 0);
	CHECK_EQ("at once", answer.speaks_first, 1);
}

CHECK_SUITE(language, { "places", test_places }, { "bits", test_bits },
	    { "mistakes", test_mistakes }, { "size", test_size }, { "rules", test_rules },
	    { "response", test_response });
