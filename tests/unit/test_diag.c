/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mistakes: their order, their text, how many are kept, and what a misspelt name was to be. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "diag.h"
#include "util.h"

/* What diag_print() writes; freed by the caller. */
static char *printed(const struct diag *diag)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	diag_print(diag, out);
	(void)fclose(out); /* memory: nothing that could fail */
	return text;
}

static void test_order(void)
{
	autofree char *text = NULL;
	struct diag diag;

	diag_init(&diag, "file");
	diag_error(&diag, (struct place){ 7, 2 }, "third of line %d", 7);
	diag_error(&diag, (struct place){ 7, 1 }, "first");
	diag_error(&diag, (struct place){ 7, 1 }, "second");
	diag_warning(&diag, (struct place){ 0 }, "whole");
	diag_error(&diag, (struct place){ 3, 9 }, "before them");
	text = printed(&diag);
	CHECK_STR_EQ("the order of the file, not that of finding", text,
		     "file: warning: whole\n"
		     "file:3:9: before them\n"
		     "file:7:1: first\n"
		     "file:7:1: second\n"
		     "file:7:2: third of line 7\n");
	CHECK_EQ("errors are counted", diag.n_errors, 4);
	CHECK_EQ("entries are counted", diag.n_entries, 5);
	diag_release(&diag);
	CHECK_EQ("released, it holds none", diag.n_entries, 0);
}

static void test_twice(void)
{
	const struct place place = { 1, 1 };
	struct diag diag;

	diag_init(&diag, "file");
	diag_error(&diag, place, "the same");
	diag_error(&diag, place, "another");
	diag_error(&diag, place, "the same");
	CHECK_EQ("the same text at the same place is kept once", diag.n_entries, 2);
	CHECK_EQ("and counted once", diag.n_errors, 2);
	diag_warning(&diag, place, "the same");
	CHECK_EQ("a warning is another thing", diag.n_entries, 3);
	diag_error(&diag, (struct place){ 1, 2 }, "the same");
	CHECK_EQ("and so is another place", diag.n_entries, 4);
	diag_release(&diag);
}

static void test_many(void)
{
	autofree char *text = NULL;
	struct diag diag;

	diag_init(&diag, "file");
	for (unsigned int line = 2 * DIAG_ENTRIES_MAX; line > 0; line--)
		diag_error(&diag, (struct place){ line, 1 }, "mistake");
	CHECK_EQ("no more are kept than that", diag.n_entries, DIAG_ENTRIES_MAX);
	CHECK_EQ("those dropped are counted", diag.n_dropped, DIAG_ENTRIES_MAX);
	CHECK_EQ("and are errors all the same", diag.n_errors, 2 * DIAG_ENTRIES_MAX);
	CHECK_EQ("the first of the file are kept", diag.entries[0].place.line, 1);
	CHECK_EQ("up to the last that fits", diag.entries[DIAG_ENTRIES_MAX - 1].place.line,
		 DIAG_ENTRIES_MAX);
	text = printed(&diag);
	CHECK("it says so at the end", strstr(text, "\nfile: 1000 more not shown\n") != NULL);
	diag_release(&diag);
}

static void test_control_characters(void)
{
	struct diag diag;

	diag_init(&diag, "file");
	diag_error(&diag, (struct place){ 1, 1 },
		   "a%cb%cc\xc2\x9b"
		   "d\xc3\xa4\xc2\xa0",
		   '\n', 27);
	CHECK_STR_EQ("no control character is printed", diag.entries[0].text,
		     "a?b?c??d\xc3\xa4\xc2\xa0");
	diag_release(&diag);
}

static void test_quote(void)
{
	char quoted[DIAG_QUOTE_SIZE], word[128] = "";

	CHECK_STR_EQ("a word in quotes", diag_quote("word", quoted), "'word'");
	CHECK_STR_EQ("no word in quotes", diag_quote("", quoted), "''");
	memset(word, 'x', 74);
	CHECK_EQ("the longest that is not cut", strlen(diag_quote(word, quoted)), 76);
	CHECK("is whole", strcmp(quoted + 73, "xx'") == 0);
	word[74] = 'x';
	CHECK("one more is cut", strcmp(diag_quote(word, quoted) + 73, "xx...'") == 0);
	memcpy(word + 73, "\xc3\xa4\xc3\xa4", 5);
	CHECK("but not within a character", strcmp(diag_quote(word, quoted) + 73, "x...'") == 0);
}

static void test_nearest(void)
{
	static const char *const names[] = { "limit", "window", "ipv4_prefix", "ipv6_prefix",
					     "tcp",   "udp",	"warning",     NULL };
	static const struct {
		const char *word, *want;
	} rows[] = {
		{ "limti", "limit" },
		{ "lmit", "limit" },
		{ "limiit", "limit" },
		{ "limot", "limit" },
		{ "limit", "limit" },
		{ "LIMIT", "limit" },
		{ "ipv6-prefix", "ipv6_prefix" },
		{ "ipv4prefix", "ipv4_prefix" },
		{ "ipv5_prefix", "ipv4_prefix" },
		{ "upd", "udp" },
		{ "tpc", "tcp" },
		{ "warn", "warning" },
		{ "wa", NULL },
		{ "windows", "window" },
		{ "ports", NULL },
		{ "xyz", NULL },
		{ "", NULL },
		{ "window_that_is_much_longer_than_any_name_that_anybody_would_mistype", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].word, diag_nearest(rows[i].word, names), rows[i].want);
}

CHECK_SUITE(diag, { "mistakes come in the order of the file", test_order },
	    { "a mistake is told once", test_twice }, { "mistakes are bounded", test_many },
	    { "control characters are not printed", test_control_characters },
	    { "words are quoted and cut", test_quote },
	    { "a misspelt name is guessed", test_nearest });
