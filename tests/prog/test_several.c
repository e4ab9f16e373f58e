/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several limiters for one event, the interface's among them: all judge before any is charged, and
 * an event that one of them refuses is charged to none.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define PASS(rest) "lo: pass allowed " rest
#define RESET(rest) "lo: reply limited " rest " reset"

static const char three[] =
	"interfaces: {lo: {rate_limiter_name: edge}}\n"
	"rate_limiters:\n"
	"  edge: {keys: [], limit: 100, window: 1h}\n"
	"  all: {keys: [], limit: 5, window: 1h}\n"
	"  mine: {limit: 3, window: 1h}\n"
	"listeners: {web: {protocol: tcp, ports: [80], rate_limiter_name: [all, mine]}}\n";

#define ADMITTED PASS("web/edge=allowed web/all=allowed web/mine=allowed")

static void test_charged_to_none(void)
{
	static const struct {
		const char *what;
		const char *from;
		const char *want;
	} rows[] = {
		{ "the first client's first", CLIENT_ONE, ADMITTED },
		{ "the first client's second", CLIENT_ONE, ADMITTED },
		{ "the first client's third", CLIENT_ONE, ADMITTED },
		{ "its fourth is refused by its own", CLIENT_ONE, RESET("web/mine=limited") },
		{ "and its fifth", CLIENT_ONE, RESET("web/mine=limited") },
		{ "which the one for all was not charged for", CLIENT_TWO, ADMITTED },
		{ "nor for the next", CLIENT_TWO, ADMITTED },
		{ "now that refuses", CLIENT_TWO, RESET("web/all=limited") },
		{ "and a client's own comes first", CLIENT_ONE, RESET("web/mine=limited") },
		{ "a new client is refused by the one for all", CLIENT_FAR,
		  RESET("web/all=limited") },
		{ "as often as it asks", CLIENT_FAR, RESET("web/all=limited") },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, three, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what,
			     prog_send(&prog, &(struct pkt_spec){ .from = rows[i].from }),
			     rows[i].want);
	CHECK_EQ("the edge was charged for five of eleven: 95 are left",
		 prog.counts.decisions[prog.policy.kernel.listeners[1].edges[0]]
				      [STILE_DECISION_ALLOWED],
		 5);
}

static bool has_states(const struct prog *prog, const char *limiter,
		       const struct prog_table *before)
{
	struct prog_table now;
	bool same = true;

	if (!prog_table(prog, limiter, &now))
		return false;
	for (uint32_t i = 0; i < now.n_sets; i++)
		same = same && memcmp(now.sets[i].state, before->sets[i].state,
				      sizeof(now.sets[i].state)) == 0;
	return same;
}

/* What no counter shows: the buckets themselves. */
static void test_buckets_untouched(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  mine: {algorithm: token_bucket, limit: 10, window: 10s, burst: 3, max_keys: 8}\n"
		"  wide: {algorithm: fixed_window, limit: 9, window: 1h, ipv6_prefix: 128,\n"
		"         max_keys: 8}\n"
		"  all: {keys: [], limit: 2, window: 1h}\n"
		"listeners: {web: {protocol: tcp, rate_limiter_name: [mine, wide, all]}}\n";
	autoprog struct prog prog = {};
	struct prog_table mine, wide, all;

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_EQ("two are let in", prog_passing(&prog, &(struct pkt_spec){}, 2), 2);
	if (!prog_table(&prog, "mine", &mine) || !prog_table(&prog, "wide", &wide) ||
	    !prog_table(&prog, "all", &all))
		return;
	CHECK_STR_EQ("the third is refused", prog_send(&prog, &(struct pkt_spec){}),
		     "reply limited web/all=limited reset");
	CHECK("the client's own bucket is as before", has_states(&prog, "mine", &mine));
	CHECK("its other bucket, too", has_states(&prog, "wide", &wide));
	CHECK("the bucket for all, too", has_states(&prog, "all", &all));
}

/* Six clients fill the one set of a table for one client. */
static void fill_table(struct prog *prog, uint16_t port)
{
	static const char *const crowd[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3",
					     "10.0.0.4", "10.0.0.5", "10.0.0.6" };

	for (size_t i = 0; i < ARRAY_SIZE(crowd); i++) {
		const struct pkt_spec spec = { .from = crowd[i], .dport = port };

		CHECK_EQ("the table fills", prog_passing(prog, &spec, 1), 1);
	}
}

/*
 * A table is known to be full only when room is asked for in it, which is after the judging: what
 * was charged until then is given back.
 */
static void test_given_back(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  mine: {algorithm: fixed_window, limit: 1, window: 1h, max_keys: 8}\n"
		"  tokens: {algorithm: token_bucket, limit: 1, window: 1h, burst: 1, max_keys: 8}\n"
		"  sliding: {limit: 1, window: 1h, max_keys: 8}\n"
		"  crowded: {limit: 9, window: 1h, max_keys: 1, max_keys_action: reject}\n"
		"listeners:\n"
		"  web: {protocol: tcp, ports: [80],\n"
		"        rate_limiter_name: [mine, tokens, sliding, crowded]}\n"
		"  free: {protocol: tcp, ports: [81], rate_limiter_name: [mine, tokens, sliding]}\n"
		"  crowded: {protocol: tcp, ports: [82], rate_limiter_name: crowded}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	fill_table(&prog, 82);
	for (int i = 0; i < 3; i++)
		CHECK_STR_EQ("a new client finds no room", prog_send(&prog, &(struct pkt_spec){}),
			     "reply full web/crowded=full (crowded: found no room) reset");
	CHECK_STR_EQ("and has paid for none of it",
		     prog_send(&prog, &(struct pkt_spec){ .dport = 81 }),
		     "pass allowed free/mine=allowed free/tokens=allowed free/sliding=allowed");
	CHECK_STR_EQ("but for that one", prog_send(&prog, &(struct pkt_spec){ .dport = 81 }),
		     "reply limited free/mine=limited reset");
}

static void test_count_among_others(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  watch: {limit: 1, window: 1h, action: count}\n"
		"  mine: {limit: 2, window: 1h, action: drop}\n"
		"listeners: {web: {protocol: tcp, rate_limiter_name: [watch, mine]}}\n";
	static const char *const wants[] = {
		"pass allowed web/watch=allowed web/mine=allowed",
		"pass counted web/watch=counted web/mine=allowed",
		"drop limited web/mine=limited",
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(wants); i++)
		CHECK_STR_EQ("count lets pass, the other refuses",
			     prog_send(&prog, &(struct pkt_spec){}), wants[i]);
}

/* Nor does it take room from a client that has a bucket. */
static void test_takes_no_room(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  mine: {limit: 9, window: 1h, max_keys: 1}\n"
		"  all: {keys: [], limit: 6, window: 1h}\n"
		"listeners: {web: {protocol: tcp, rate_limiter_name: [mine, all]}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	fill_table(&prog, 80);
	CHECK_STR_EQ("a new client that is refused by the one for all",
		     prog_send(&prog, &(struct pkt_spec){}), "reply limited web/all=limited reset");
	CHECK_STR_EQ("as often as it asks", prog_send(&prog, &(struct pkt_spec){}),
		     "reply limited web/all=limited reset");
}

/* Of several reasons to let pass, the one that tells most. */
static void test_reason(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  crowded: {limit: 9, window: 1h, max_keys: 1, max_keys_action: allow}\n"
		"  watch: {limit: 1, window: 1h, action: count}\n"
		"  plenty: {limit: 99, window: 1h}\n"
		"listeners:\n"
		"  fc: {protocol: tcp, ports: [1], rate_limiter_name: [crowded, watch]}\n"
		"  cf: {protocol: tcp, ports: [2], rate_limiter_name: [watch, crowded]}\n"
		"  pf: {protocol: tcp, ports: [3], rate_limiter_name: [plenty, crowded]}\n"
		"  pc: {protocol: tcp, ports: [4], rate_limiter_name: [plenty, watch]}\n"
		"  crowded: {protocol: tcp, ports: [5], rate_limiter_name: crowded}\n"
		"  watch: {protocol: tcp, ports: [6], rate_limiter_name: watch}\n";
	static const struct {
		const char *what;
		uint16_t port;
		const char *want;
	} rows[] = {
		{ "full, and counted", 1,
		  "pass counted fc/crowded=full fc/watch=counted (crowded: found no room)" },
		{ "counted, and full", 2,
		  "pass counted cf/crowded=full cf/watch=counted (crowded: found no room)" },
		{ "allowed, and full", 3,
		  "pass full pf/crowded=full pf/plenty=allowed (crowded: found no room)" },
		{ "allowed, and counted", 4, "pass counted pc/watch=counted pc/plenty=allowed" },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	fill_table(&prog, 5);
	CHECK_EQ("the limit is used up", prog_passing(&prog, &(struct pkt_spec){ .dport = 6 }, 1),
		 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = { .dport = rows[i].port };

		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].want);
	}
}

static void test_interface(void)
{
	static const char first[] =
		"interfaces: {lo: {rate_limiter_name: edge}, eth9: {rate_limiter_name: far}}\n"
		"rate_limiters:\n"
		"  edge: {keys: [], limit: 1, window: 1h, action: drop}\n"
		"  far: {keys: [], limit: 1, window: 1h}\n"
		"  dgram: {limit: 1, window: 1h, unit: datagrams}\n"
		"listeners:\n"
		"  web: {protocol: tcp, ports: [80]}\n";
	static const char second[] =
		"interfaces: {eth9: {rate_limiter_name: far}, lo: {rate_limiter_name: edge}}\n"
		"rate_limiters:\n"
		"  edge: {keys: [], limit: 1, window: 1h, action: drop}\n"
		"  far: {keys: [], limit: 1, window: 1h}\n"
		"listeners: {web: {protocol: tcp, ports: [80]}}\n";
	static const char other[] = "interfaces: {eth9: {rate_limiter_name: far}}\n"
				    "rate_limiters: {far: {keys: [], limit: 1, window: 1h}}\n"
				    "listeners: {web: {protocol: tcp, ports: [80]}}\n";
	static const struct {
		const char *what;
		const char *config;
		uint16_t port;
		const char *first, *second;
	} rows[] = {
		{ "the interface's limiter judges alone", first, 80,
		  "lo: pass allowed web/edge=allowed", "lo: drop limited web/edge=limited" },
		{ "what no listener protects, it does not judge", first, 81, "lo: pass unprotected",
		  "lo: pass unprotected" },
		{ "whichever interface it is", second, 80, "lo: pass allowed web/edge=allowed",
		  "lo: drop limited web/edge=limited" },
		{ "one that the policy does not know counts as the first", other, 80,
		  "eth9: pass allowed web/far=allowed",
		  "eth9: reply limited web/far=limited reset" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = { .dport = rows[i].port };
		autoprog struct prog prog = {};

		if (!prog_load(&prog, rows[i].config, PROG_NOW))
			return;
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].first);
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].second);
	}
}

/* Wherever it is named, a limiter has one set of buckets. */
static void test_one_set(void)
{
	static const char config[] =
		"rate_limiters: {l: {limit: 3, window: 1h}, other: {limit: 9, window: 1h}}\n"
		"listeners:\n"
		"  web: {ports: 80, rate_limiter_name: l}\n"
		"  api: {ports: 81, rate_limiter_name: [other, l]}\n"
		"  ssh: {ports: 22, rate_limiter_name: other, sources: {192.0.2.0/24: l}}\n"
		"  dns: {protocol: udp, ports: 53, rate_limiter_name: l}\n";
	static const struct {
		const char *what, *from;
		uint8_t protocol;
		uint16_t port;
		const char *want;
	} rows[] = {
		{ "one of three", CLIENT_ONE, IPPROTO_TCP, 80, "pass allowed web/l=allowed" },
		{ "two of three, at another listener", CLIENT_ONE, IPPROTO_TCP, 81,
		  "pass allowed api/l=allowed api/other=allowed" },
		{ "three of three, on udp", CLIENT_ONE, IPPROTO_UDP, 53,
		  "pass allowed dns/l=allowed" },
		{ "four of three, as a source", CLIENT_ONE, IPPROTO_TCP, 22,
		  "reply limited ssh/l=limited reset" },
		{ "five of three, where it is one of two", CLIENT_ONE, IPPROTO_TCP, 81,
		  "reply limited api/l=limited reset" },
		{ "another client has its own", CLIENT_FAR, IPPROTO_TCP, 80,
		  "pass allowed web/l=allowed" },
		{ "and is judged by the listener's where it is no such source", CLIENT_FAR,
		  IPPROTO_TCP, 22, "pass allowed ssh/other=allowed" },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = {
			.from = rows[i].from,
			.protocol = rows[i].protocol,
			.dport = rows[i].port,
		};

		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].want);
	}
}

/* Named twice for one event, a limiter judges twice and is charged two. */
static void test_named_twice(void)
{
	static const char config[] =
		"interfaces: {lo: {rate_limiter_name: l}}\n"
		"rate_limiters:\n"
		"  l: {limit: 5, window: 1h}\n"
		"  tokens: {algorithm: token_bucket, limit: 3, window: 1h}\n"
		"  one: {limit: 1, window: 1h, algorithm: fixed_window}\n"
		"  noted: {limit: 3, window: 1h, action: count}\n"
		"  trial: {algorithm: token_bucket, limit: 1, window: 1h, action: count}\n"
		"listeners:\n"
		"  web: {ports: 80, rate_limiter_name: l, sources: {192.0.2.10: none}}\n"
		"  never: {ports: 81, rate_limiter_name: [one, one]}\n"
		"  noted: {ports: 82, rate_limiter_name: [noted, noted]}\n"
		"  tokens: {ports: 83, rate_limiter_name: [tokens, tokens]}\n"
		"  left: {ports: 84, rate_limiter_name: one}\n"
		"  other: {ports: 85}\n"
		"  tried: {ports: 86, rate_limiter_name: [trial, one, one]}\n"
		"  trial: {ports: 87, rate_limiter_name: trial}\n";
	static const struct {
		const char *what, *from;
		uint16_t port;
		const char *want;
	} rows[] = {
		{ "exempt, twice", "192.0.2.10", 80, "lo: pass exempt web/l=exempt*2" },
		{ "two of five", CLIENT_ONE, 80, PASS("web/l=allowed*2") },
		{ "four of five", CLIENT_ONE, 80, PASS("web/l=allowed*2") },
		{ "six of five", CLIENT_ONE, 80, RESET("web/l=limited") },
		{ "which gave back the fifth", CLIENT_ONE, 85, PASS("other/l=allowed") },
		{ "and no more", CLIENT_ONE, 85, RESET("other/l=limited") },
		{ "two of one, which is never", CLIENT_TWO, 81,
		  "lo: reply limited never/one=limited reset" },
		{ "as often as it asks", CLIENT_TWO, 81,
		  "lo: reply limited never/one=limited reset" },
		{ "and costs nothing", CLIENT_TWO, 84,
		  "lo: pass allowed left/l=allowed left/one=allowed" },
		{ "two tokens of three", CLIENT_FAR, 83,
		  "lo: pass allowed tokens/l=allowed tokens/tokens=allowed*2" },
		{ "four of three", CLIENT_FAR, 83,
		  "lo: reply limited tokens/tokens=limited reset" },
		{ "two of three are noted", CLIENT_FAR, 82,
		  "lo: pass allowed noted/l=allowed noted/noted=allowed*2" },
		{ "the fourth of three is over it", CLIENT_FAR, 82,
		  "lo: pass counted noted/l=allowed noted/noted=allowed noted/noted=counted" },
		{ "the only token", "192.0.2.20", 87,
		  "lo: pass allowed trial/l=allowed trial/trial=allowed" },
		{ "none is left to be counted", "192.0.2.20", 86,
		  "lo: reply limited tried/one=limited reset" },
		{ "nor to be given back", "192.0.2.20", 87,
		  "lo: pass counted trial/l=allowed trial/trial=counted" },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = { .from = rows[i].from, .dport = rows[i].port };

		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].want);
	}
}

CHECK_SUITE(several, { "charged to none", test_charged_to_none },
	    { "buckets are not touched", test_buckets_untouched },
	    { "given back", test_given_back }, { "takes no room", test_takes_no_room },
	    { "count among others", test_count_among_others }, { "which reason", test_reason },
	    { "the interface's limiter", test_interface }, { "one set of buckets", test_one_set },
	    { "named twice", test_named_twice });
