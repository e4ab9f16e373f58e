/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keeps its place from policy to policy, which tables go on, and when there is no place. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "policy_text.h"
#include "util.h"

#define FIRST                                                                                      \
	"interfaces: {eth0: {}, eth1: {}}\n"                                                       \
	"rate_limiters: {a: {limit: 5}, b: {limit: 5}, c: {limit: 5}}\n"                           \
	"listeners:\n"                                                                             \
	"  u: {ports: 1, rate_limiter_name: [a, b]}\n"                                             \
	"  v: {ports: 2, rate_limiter_name: [b, c]}\n"

/* Names that go, stay, change their order, and come. */
static void test_places(void)
{
	static const char text[] = "interfaces: {eth2: {}, eth1: {}}\n"
				   "rate_limiters: {d: {limit: 5}, c: {limit: 5}, a: {limit: 5}}\n"
				   "listeners:\n"
				   "  w: {ports: 3, rate_limiter_name: [d, c]}\n"
				   "  v: {ports: 2, rate_limiter_name: [c, d]}\n";
	struct policy first, second;

	if (!policy_text_compile(FIRST, NULL, &first))
		return;
	CHECK_EQ("limiters begin at 1", policy_text_limiter(&first, "a"), 1);
	CHECK_EQ("listeners begin at 1", policy_text_listener(&first, "u"), 1);
	CHECK_STR_EQ("interfaces begin at 0", first.kernel.interfaces[0].name, "eth0");
	CHECK_EQ("attachments begin at 1", first.kernel.listeners[1].judges[0], 1);
	CHECK_EQ("u's second", first.kernel.listeners[1].judges[1], 2);
	CHECK_EQ("v's second", first.kernel.listeners[2].judges[1], 4);
	if (policy_text_compile(text, &first.kernel, &second)) {
		CHECK_EQ("a stays", policy_text_limiter(&second, "a"), 1);
		CHECK_EQ("c stays", policy_text_limiter(&second, "c"), 3);
		CHECK_EQ("d does not take the place that b just left",
			 policy_text_limiter(&second, "d"), 4);
		CHECK_EQ("b is gone", policy_text_limiter(&second, "b"), -1);
		CHECK_EQ("v stays", policy_text_listener(&second, "v"), 2);
		CHECK_EQ("w is new", policy_text_listener(&second, "w"), 3);
		CHECK_STR_EQ("eth1 stays", second.kernel.interfaces[1].name, "eth1");
		CHECK_STR_EQ("eth0's place is empty", second.kernel.interfaces[0].name, "");
		CHECK_STR_EQ("eth2 is new", second.kernel.interfaces[2].name, "eth2");
		CHECK_EQ("c at v stays", second.kernel.listeners[2].judges[0], 4);
		CHECK("d at v is new", second.kernel.listeners[2].judges[1] > 4);
		CHECK_EQ("b at u is gone", second.kernel.attachments[2].limiter, 0);
		policy_release(&second);
	}
	policy_release(&first);
}

static void test_kept(void)
{
	static const struct {
		const char *what, *limiter;
		enum policy_table table;
	} rows[] = {
		{ "the same", "limit: 5, window: 10s", POLICY_TABLE_KEPT },
		{ "another limit", "limit: 6, window: 10s", POLICY_TABLE_KEPT },
		{ "another action", "limit: 5, window: 10s, action: drop", POLICY_TABLE_KEPT },
		{ "another use of a full table", "limit: 5, window: 10s, max_keys_action: allow",
		  POLICY_TABLE_KEPT },
		{ "the same window in other words", "limit: 5, window: 10000ms",
		  POLICY_TABLE_KEPT },
		{ "the same unit in a word", "limit: 5, window: 10s, unit: connections",
		  POLICY_TABLE_KEPT },
		{ "more clients", "limit: 5, window: 10s, max_keys: 100100", POLICY_TABLE_COPIED },
		{ "fewer clients, and another limit", "limit: 6, window: 10s, max_keys: 100",
		  POLICY_TABLE_COPIED },
		{ "another hash", "limit: 5, window: 10s, hash: siphash", POLICY_TABLE_COPIED },
		{ "another window", "limit: 5, window: 11s", POLICY_TABLE_NEW },
		{ "another algorithm", "limit: 5, window: 10s, algorithm: fixed_window",
		  POLICY_TABLE_NEW },
		{ "no keys", "limit: 5, window: 10s, keys: []", POLICY_TABLE_NEW },
		{ "another prefix of IPv4", "limit: 5, window: 10s, ipv4_prefix: 24",
		  POLICY_TABLE_NEW },
		{ "another prefix of IPv6", "limit: 5, window: 10s, ipv6_prefix: 56",
		  POLICY_TABLE_NEW },
		{ "wide keys", "limit: 5, window: 10s, ipv6_prefix: 65", POLICY_TABLE_NEW },
	};
	struct policy first, next;

	if (!policy_text_compile("rate_limiters: {x: {limit: 5, window: 10s}}\n"
				 "listeners: {w: {rate_limiter_name: x}}",
				 NULL, &first))
		return;
	CHECK_EQ("at first there is nothing to keep", first.tables[1], POLICY_TABLE_NEW);
	first.kernel.limiters[1].seed[0] = 1234;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "rate_limiters: {x: {%s}}\n"
			 "listeners: {w: {rate_limiter_name: x}}",
			 rows[i].limiter);
		if (!policy_text_compile(text, &first.kernel, &next))
			continue;
		CHECK_EQ(rows[i].what, next.tables[1], rows[i].table);
		CHECK_EQ("a table's secret goes with it", next.kernel.limiters[1].seed[0] == 1234,
			 rows[i].table != POLICY_TABLE_NEW);
		CHECK_EQ("half of it is odd", next.kernel.limiters[1].seed[1] & 1, 1);
		policy_release(&next);
	}
	policy_release(&first);
}

static void test_kept_tokens(void)
{
	static const char format[] = "rate_limiters: {x: {algorithm: token_bucket, window: %s, "
				     "limit: %d, burst: %d}}\n"
				     "listeners: {w: {rate_limiter_name: x}}";
	static const struct {
		const char *what, *window;
		int limit, burst;
		enum policy_table table;
	} rows[] = {
		{ "the same", "1s", 10, 20, POLICY_TABLE_KEPT },
		{ "a smaller burst counts in the same tokens", "1s", 10, 5, POLICY_TABLE_KEPT },
		{ "so does a larger one", "1s", 10, 21, POLICY_TABLE_KEPT },
		{ "but for times that need coarser ticks", "1s", 10, 2000, POLICY_TABLE_COPIED },
		{ "another limit counts in others", "1s", 5, 20, POLICY_TABLE_COPIED },
		{ "another window is another limiter", "2s", 20, 20, POLICY_TABLE_NEW },
	};
	struct policy first, next;
	char text[256];

	snprintf(text, sizeof(text), format, "1s", 10, 20);
	if (!policy_text_compile(text, NULL, &first))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(text, sizeof(text), format, rows[i].window, rows[i].limit, rows[i].burst);
		if (!policy_text_compile(text, &first.kernel, &next))
			continue;
		CHECK_EQ(rows[i].what, next.tables[1], rows[i].table);
		if (rows[i].table == POLICY_TABLE_KEPT)
			CHECK_EQ("the ticks in it stay", next.kernel.limiters[1].seen_shift,
				 first.kernel.limiters[1].seen_shift);
		policy_release(&next);
	}
	policy_release(&first);
}

/* @n interfaces, limiters or listeners with @name and a number. Freed by the caller. */
static char *write_text(const char *block, unsigned int n, const char *name)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "%s:\n", block);
	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(block, "listeners") == 0)
			fprintf(out, "  %s%u: {ports: %u}\n", name, i, i + 1);
		else if (strcmp(block, "rate_limiters") == 0)
			fprintf(out, "  %s%u: {limit: 5, max_keys: 1}\n", name, i);
		else
			fprintf(out, "  %s%u: {}\n", name, i);
	}
	(void)fclose(out);
	return text;
}

static void test_too_many(void)
{
	static const struct {
		const char *block;
		unsigned int max;
		const char *text; /* for one more */
	} rows[] = {
		{ "interfaces", STILE_INTERFACES_MAX,
		  "f:18:3: 17 interfaces, expected at most 16\n" },
		{ "rate_limiters", STILE_LIMITERS_MAX - 1,
		  "f:65:3: 64 rate limiters, expected at most 63\n" },
		{ "listeners", STILE_LISTENERS_MAX - 1,
		  "f:257:3: 256 listeners, expected at most 255\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofree char *most = write_text(rows[i].block, rows[i].max, "n");
		autofree char *more = write_text(rows[i].block, rows[i].max + 1, "n");
		autofree char *printed = policy_text_diag(more, NULL);
		struct policy policy;

		if (policy_text_compile(most, NULL, &policy))
			policy_release(&policy);
		CHECK_STR_EQ(rows[i].block, printed, rows[i].text);
	}
}

/* All at once another 40 limiters: the first 40 count on until the swap. */
static void test_no_room(void)
{
	autofree char *old = write_text("rate_limiters", 40, "old");
	autofree char *few = write_text("rate_limiters", 23, "new");
	autofree char *many = write_text("rate_limiters", 24, "new");
	autofree char *printed = NULL;
	struct policy first, next;

	if (!policy_text_compile(old, NULL, &first))
		return;
	if (policy_text_compile(few, &first.kernel, &next)) {
		CHECK_EQ("23 places are free", policy_text_limiter(&next, "new22"), 63);
		policy_release(&next);
	}
	printed = policy_text_diag(many, &first.kernel);
	CHECK_STR_EQ(
		"and not 24", printed,
		"f:25:3: no room for 'new23' beside the rate limiters of the policy in force, "
		"which gives up its places only after this load: load the configuration without "
		"the new ones first\n");
	policy_release(&first);
}

/* Four limiters at each of 255 listeners, and one of the interface's: too many pairs. */
static void test_too_many_attachments(void)
{
	autofree char *printed = NULL;
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "interfaces: {eth0: {rate_limiter_name: e}}\n"
		     "rate_limiters: {a: {limit: 1}, b: {limit: 1}, c: {limit: 1}, d: {limit: 1}, "
		     "e: {limit: 1}}\nlisteners:\n");
	for (unsigned int i = 0; i < STILE_LISTENERS_MAX - 1; i++)
		fprintf(out, "  n%u: {ports: %u, rate_limiter_name: [a, b, c, d]}\n", i, i + 1);
	(void)fclose(out);
	printed = policy_text_diag(text, NULL);
	CHECK_STR_EQ(
		"said once", printed,
		"f:208:51: too many pairs of a rate limiter and a listener that it judges: there "
		"is room for 1023, those of the policy in force included\n");
}

CHECK_SUITE(policy_slots, { "places", test_places }, { "tables that go on", test_kept },
	    { "token buckets that go on", test_kept_tokens }, { "too many", test_too_many },
	    { "no room", test_no_room }, { "too many attachments", test_too_many_attachments });
