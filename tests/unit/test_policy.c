/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What limiters, judges and sources become, and what goes on from policy to policy. The texts of
 * most mistakes are held by the golden files of tests/cli.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "policy_text.h"
#include "util.h"

#define S 1000000000ULL

static const struct {
	const char *what, *limiter;
	struct stile_limiter want;
} limiters[] = {
	{ "a window",
	  "limit: 20, window: 10s",
	  { .limit = 20,
	    .window = 10 * S,
	    .sets = 36667,
	    .max_keys = 100000,
	    .keyed = 1,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 23 } },
	{ "tokens: 3 a second do not divide it, so each takes a little longer",
	  "limit: 3, window: 1s, algorithm: token_bucket, burst: 5, max_keys: 6",
	  { .limit = 3,
	    .window = S,
	    .burst = 5,
	    .token = 64 * S / 3 + 1,
	    .depth = 5 * (64 * S / 3 + 1),
	    .sets = 3,
	    .max_keys = 6,
	    .keyed = 1,
	    .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 19 } },
	{ "a burst that is not given is the limit",
	  "limit: 10, window: 1s, algorithm: token_bucket, max_keys: 1",
	  { .limit = 10,
	    .window = S,
	    .burst = 10,
	    .token = 64 * S / 10,
	    .depth = 64 * S,
	    .sets = 1,
	    .max_keys = 1,
	    .keyed = 1,
	    .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 18 } },
	{ "what a tick blurs reads the precise clock",
	  "limit: 500, window: 1s, algorithm: token_bucket, burst: 15, max_keys: 1",
	  { .limit = 500,
	    .window = S,
	    .burst = 15,
	    .token = 64 * S / 500,
	    .depth = 15 * (64 * S / 500),
	    .sets = 1,
	    .max_keys = 1,
	    .keyed = 1,
	    .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	    .clock = STILE_CLOCK_PRECISE,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 13 } },
	{ "eight ticks of burst do not",
	  "limit: 500, window: 1s, algorithm: token_bucket, burst: 16, max_keys: 1",
	  { .limit = 500,
	    .window = S,
	    .burst = 16,
	    .token = 64 * S / 500,
	    .depth = 16 * (64 * S / 500),
	    .sets = 1,
	    .max_keys = 1,
	    .keyed = 1,
	    .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 13 } },
	{ "long prefixes of IPv6 have wide keys",
	  "limit: 1, window: 1h, ipv6_prefix: 65, ipv4_prefix: 24, max_keys: 1000",
	  { .limit = 1,
	    .window = 3600 * S,
	    .sets = 550,
	    .max_keys = 1000,
	    .keyed = 1,
	    .wide = 1,
	    .ipv4_prefix = 24,
	    .ipv6_prefix = 65,
	    .seen_shift = 31 } },
	{ "one bucket for all has no keys, whatever is written of them",
	  "limit: 1, window: 1s, keys: [], max_keys: 1000",
	  { .limit = 1, .window = S, .sets = 1, .max_keys = 1, .seen_shift = 19 } },
	{ "places are held, in slices that no handshake outlives",
	  "limit: 20, algorithm: concurrency, queue: 7",
	  { .limit = 20,
	    .window = 68 * S,
	    .sets = 36667,
	    .max_keys = 100000,
	    .queue = 7,
	    .keyed = 1,
	    .algorithm = STILE_ALGORITHM_CONCURRENCY,
	    .unit = STILE_UNIT_CONNECTIONS,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 25 } },
	{ "the rest is taken over",
	  "limit: 1, window: 1s, algorithm: fixed_window, action: count, unit: connections, "
	  "max_keys: 1, max_keys_action: reject",
	  { .limit = 1,
	    .window = S,
	    .sets = 1,
	    .max_keys = 1,
	    .keyed = 1,
	    .algorithm = STILE_ALGORITHM_FIXED_WINDOW,
	    .action = STILE_ACTION_COUNT,
	    .full = STILE_FULL_REJECT,
	    .ipv4_prefix = 32,
	    .ipv6_prefix = 64,
	    .seen_shift = 19 } },
};

static void test_limiters(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(limiters); i++) {
		struct stile_limiter want = limiters[i].want;
		struct policy policy;
		char text[512];

		snprintf(text, sizeof(text),
			 "rate_limiters: {a: {%s}}\nlisteners: {w: "
			 "{rate_limiter_name: a}}",
			 limiters[i].limiter);
		if (!policy_text_compile(text, NULL, &policy))
			continue;
		memcpy(want.name, "a", 1);
		want.seed[0] = 6; /* after the policy's two */
		want.seed[1] = 9;
		want.since = 1;
		CHECK_MEM_EQ(limiters[i].what, &policy.kernel.limiters[1], &want, sizeof(want));
		policy_release(&policy);
	}
}

/* 2.2 ways for each client, and no more than 48 bytes where keys are short. */
static void test_table_bytes(void)
{
	struct policy policy;

	if (!policy_text_compile("rate_limiters: {a: {limit: 1, max_keys: 1000000}}\n"
				 "listeners: {w: {rate_limiter_name: a}}",
				 NULL, &policy))
		return;
	CHECK("a client takes at most 48 bytes",
	      policy_table_bytes(&policy.kernel.limiters[1]) <= 48000000);
	CHECK("and there are 2.2 ways for each",
	      policy_table_bytes(&policy.kernel.limiters[1]) / 128 * 6 >= 2200000);
	policy_release(&policy);
}

static void test_judges(void)
{
	static const char text[] =
		"interfaces: {eth0: {rate_limiter_name: edge}, eth1: {}, "
		"eth2: {rate_limiter_name: dgrams}}\n"
		"rate_limiters:\n"
		"  all: {keys: [], limit: 5}\n"
		"  one: {limit: 5}\n"
		"  two: {limit: 5}\n"
		"  edge: {limit: 5, unit: connections}\n"
		"  dgrams: {limit: 5, unit: datagrams}\n"
		"listeners:\n"
		"  a: {ports: 80, rate_limiter_name: [all, two, one], sources: "
		"{10.0.0.0/8: none, 10.1.0.0/16: [all, one], 2001:db8::/32: two}}\n"
		"  b: {ports: 81}\n"
		"  c: {protocol: udp, ports: 80, rate_limiter_name: dgrams}\n";
	const struct stile_listener *a, *b, *c;
	struct policy policy;
	char names[256];

	if (!policy_text_compile(text, NULL, &policy))
		return;
	a = &policy.kernel.listeners[policy_text_listener(&policy, "a")];
	b = &policy.kernel.listeners[policy_text_listener(&policy, "b")];
	c = &policy.kernel.listeners[policy_text_listener(&policy, "c")];
#define NAMES(list, n) policy_text_judges(&policy, list, n, names, sizeof(names))
	CHECK_STR_EQ("each client's own before those for all, otherwise as named",
		     NAMES(a->judges, STILE_JUDGES_MAX), "two one all ");
	CHECK_STR_EQ("none", NAMES(b->judges, STILE_JUDGES_MAX), "");
	CHECK_STR_EQ("an interface's limiter judges every listener of its unit", NAMES(a->edges, 1),
		     "edge ");
	CHECK_STR_EQ("that without limiters, too", NAMES(b->edges, 1), "edge ");
	CHECK_EQ("an interface without one", a->edges[1], 0);
	CHECK_EQ("connections are none of udp", c->edges[0], 0);
	CHECK_EQ("datagrams are none of tcp", a->edges[2], 0);
	CHECK_EQ("one limiter at one listener is one attachment, wherever it is named", c->edges[2],
		 c->judges[0]);
	CHECK_EQ("a has sources", a->has_sources, 1);
	CHECK_EQ("b has none", b->has_sources, 0);
	if (CHECK_EQ("sources", policy.n_sources, 3)) {
		CHECK_EQ("none is an empty list", policy.sources[0].value.judges[0], 0);
		CHECK_EQ("an IPv4 prefix lies behind 96 bits", policy.sources[0].key.bits,
			 32 + 96 + 8);
		CHECK_EQ("of the listener", policy.sources[0].key.listener,
			 policy_text_listener(&policy, "a"));
		CHECK_STR_EQ("ordered as well", NAMES(policy.sources[1].value.judges, 4),
			     "one all ");
		CHECK_EQ("an IPv6 prefix", policy.sources[2].key.bits, 32 + 32);
	}
#undef NAMES
	policy_release(&policy);
}

static void test_new_sources(void)
{
	static const char text[] =
		"rate_limiters: {one: {limit: 5}, all: {keys: [], limit: 5}, "
		"new: {keys: [], limit: 5}}\n"
		"listeners:\n"
		"  a: {ports: 80, rate_limiter_name: [all, one], new_sources_rate_limiter_name: "
		"new, sources: {10.0.0.0/8: none, 10.1.0.0/16: one, 10.2.0.0/16: all}}\n"
		"  b: {ports: 81, rate_limiter_name: [one, all, new]}\n";
	struct stile_policy *kernel;
	struct policy policy, without;
	const __u16 *a, *b;
	char names[256];

	if (!policy_text_compile(text, NULL, &policy))
		return;
	kernel = &policy.kernel;
	a = kernel->listeners[policy_text_listener(&policy, "a")].judges;
	b = kernel->listeners[policy_text_listener(&policy, "b")].judges;
#define NAMES(list) policy_text_judges(&policy, list, STILE_JUDGES_MAX, names, sizeof(names))
	CHECK_EQ("the program has to do with new sources", kernel->new_sources, 1);
	CHECK_STR_EQ("theirs is the last", NAMES(a), "one all new ");
	CHECK_EQ("and judges nobody else", kernel->attachments[a[2]].new_sources, 1);
	CHECK_EQ("where others judge all", kernel->attachments[a[1]].new_sources, 0);
	CHECK_EQ("as it does elsewhere", kernel->attachments[b[2]].new_sources, 0);
	if (CHECK_EQ("sources", policy.n_sources, 3)) {
		CHECK_STR_EQ("none", NAMES(policy.sources[0].value.judges), "");
		CHECK_STR_EQ("one with keys", NAMES(policy.sources[1].value.judges), "one new ");
		CHECK_EQ("and the same attachment", policy.sources[1].value.judges[1], a[2]);
		CHECK_STR_EQ("one without", NAMES(policy.sources[2].value.judges), "all ");
	}
#undef NAMES
	if (policy_text_compile("rate_limiters: {one: {limit: 5}, new: {keys: [], limit: 5}}\n"
				"listeners: {a: {ports: 80, rate_limiter_name: [one, new]}}",
				kernel, &without)) {
		a = without.kernel.listeners[policy_text_listener(&without, "a")].judges;
		CHECK_EQ("no more", without.kernel.new_sources, 0);
		CHECK_EQ("nor there", without.kernel.attachments[a[1]].new_sources, 0);
		policy_release(&without);
	}
	policy_release(&policy);
}

static void test_lists(void)
{
	static const uint8_t first[16] = { [10] = 0xff, [11] = 0xff, [12] = 10 };
	struct policy policy;

	if (!policy_text_compile("trusted: [192.0.2.1, 10.0.0.0/8, 192.0.2.1/32]\n"
				 "blocked: [\"2001:db8::/32\"]\nlisteners: {w: {}}",
				 NULL, &policy))
		return;
	if (CHECK_EQ("each prefix once", policy.n_trusted, 2)) {
		CHECK_EQ("bits", policy.trusted[0].bits, 96 + 8);
		CHECK_MEM_EQ("address", policy.trusted[0].address, first, 16);
		CHECK_EQ("a host", policy.trusted[1].bits, 128);
	}
	CHECK_EQ("blocked", policy.n_blocked, 1);
	policy_release(&policy);
}

static void test_head(void)
{
	static const char text[] = "listeners: {w: {}}";
	struct policy first, second;

	if (!policy_text_compile(text, NULL, &first))
		return;
	CHECK_EQ("version", first.kernel.version, STILE_ABI_VERSION);
	CHECK_EQ("size", first.kernel.size, sizeof(struct stile_policy));
	CHECK_EQ("generations count from 1", first.kernel.generation, 1);
	CHECK_EQ("protection begins", first.kernel.since, 1000);
	CHECK_EQ("tick", first.kernel.tick, POLICY_TEXT_TICK);
	CHECK_EQ("its base", first.kernel.tick_base, 77);
	CHECK_EQ("enabled", first.kernel.enabled, 1);
	CHECK_EQ("no addresses", first.kernel.has_addresses, 0);
	CHECK_EQ("a secret", first.kernel.seed[0], 2);
	CHECK_EQ("of which half is odd", first.kernel.seed[1], 5);
	first.kernel.since = 500;
	first.kernel.seed[0] = 99;
	if (policy_text_compile("enabled: false\nlisteners: {w: {}}", &first.kernel, &second)) {
		CHECK_EQ("the next generation", second.kernel.generation, 2);
		CHECK_EQ("protection goes on", second.kernel.since, 500);
		CHECK_EQ("so does the secret", second.kernel.seed[0], 99);
		CHECK_EQ("disabled", second.kernel.enabled, 0);
		policy_release(&second);
	}
	policy_text_begun = 7;
	if (policy_text_compile(text, &first.kernel, &second)) {
		CHECK_EQ("past one that came to nothing", second.kernel.generation, 8);
		policy_release(&second);
	}
	policy_text_begun = 0;
	policy_release(&first);
}

CHECK_SUITE(policy, { "limiters", test_limiters }, { "the size of a table", test_table_bytes },
	    { "who judges where", test_judges }, { "new sources", test_new_sources },
	    { "trusted and blocked", test_lists }, { "generations", test_head });
