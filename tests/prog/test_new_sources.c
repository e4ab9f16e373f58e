/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A limiter that judges only clients of which the listener's others have no bucket. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define FORGED 10000
#define FEW 1000    /* where the outcome is soon plain */
#define NEW_ONES 50 /* that are admitted */

#define LIMITERS                                                                                   \
	"interfaces: {lo: {rate_limiter_name: edge}}\n"                                            \
	"rate_limiters:\n"                                                                         \
	"  edge: {limit: 1000, window: 1h}\n"                                                      \
	"  mine: {limit: 3, window: 1h}\n"                                                         \
	"  noted: {limit: 1, window: 1h, action: count}\n"                                         \
	"  all: {keys: [], limit: 1000, window: 1h}\n"                                             \
	"  held: {algorithm: concurrency, limit: 2}\n"                                             \
	"  new: {keys: [], limit: 2, window: 1h}\n"                                                \
	"  wide: {limit: 1, window: 1h, ipv4_prefix: 8}\n"                                         \
	"  watched: {keys: [], limit: 1, window: 1h, action: count}\n"
#define AT(port, judges, newcomers, rest)                                                          \
	"  at" port ": {ports: [" port "], rate_limiter_name: [" judges "], "                      \
	"new_sources_rate_limiter_name: " newcomers rest "}\n"

#define PASS(rest) "lo: pass allowed " rest
#define RESET(rest) "lo: reply limited " rest " reset"

struct step {
	const char *what;
	uint16_t port;
	const char *from, *want;
};

static void walk(struct prog *prog, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pkt_spec spec = { .from = steps[i].from,
					       .sport = (uint16_t)(1024 + i),
					       .dport = steps[i].port };

		CHECK_STR_EQ(steps[i].what, prog_send(prog, &spec), steps[i].want);
	}
}

static void test_judges(void)
{
	static const struct step steps[] = {
		{ "a new client", 80, CLIENT_ONE,
		  PASS("at80/edge=allowed at80/mine=allowed at80/new=allowed") },
		{ "is known from then on", 80, CLIENT_ONE,
		  PASS("at80/edge=allowed at80/mine=allowed") },
		{ "another new one", 80, CLIENT_TWO,
		  PASS("at80/edge=allowed at80/mine=allowed at80/new=allowed") },
		{ "a third is refused", 80, CLIENT_FAR, RESET("at80/new=limited") },
		{ "and is new as often as it comes", 80, CLIENT_FAR, RESET("at80/new=limited") },
		{ "those known go on", 80, CLIENT_ONE,
		  PASS("at80/edge=allowed at80/mine=allowed") },
		{ "to their own limit", 80, CLIENT_ONE, RESET("at80/mine=limited") },
		{ "one bucket makes a client known", 81, CLIENT_ONE, RESET("at81/mine=limited") },
		{ "of whatever listener's limiter", 82, CLIENT_TWO,
		  PASS("at82/edge=allowed at82/mine=allowed at82/noted=allowed "
		       "at82/all=allowed") },
		{ "the interface's does not", 83, CLIENT_ONE, RESET("at83/new=limited") },
	};
	autoprog struct prog prog = {};

	if (prog_load(&prog,
		      LIMITERS "listeners:\n" AT("80", "mine", "new", "")
			      AT("81", "noted, mine", "new", "")
				      AT("82", "all, mine, noted", "new", "")
					      AT("83", "noted, all", "new", ""),
		      PROG_NOW))
		walk(&prog, steps, ARRAY_SIZE(steps));
}

/* The one for new clients may be any of a rate. */
static void test_kinds(void)
{
	static const struct step steps[] = {
		{ "one that counts", 80, CLIENT_ONE,
		  PASS("at80/edge=allowed at80/mine=allowed at80/watched=allowed") },
		{ "lets in whom it counts", 80, CLIENT_TWO,
		  "lo: pass counted at80/edge=allowed at80/mine=allowed at80/watched=counted" },
		{ "one with keys", 81, CLIENT_FAR,
		  PASS("at81/edge=allowed at81/noted=allowed at81/wide=allowed") },
		{ "refuses others of the prefix", 81, "198.51.100.77", RESET("at81/wide=limited") },
		{ "and nobody else", 81, CLIENT_ONE,
		  PASS("at81/edge=allowed at81/noted=allowed at81/wide=allowed") },
		{ "its own bucket makes nobody known", 81, "198.51.100.77",
		  RESET("at81/wide=limited") },
		{ "beside one of places", 82, CLIENT_ONE,
		  PASS("at82/edge=allowed at82/held=allowed at82/new=allowed") },
		{ "by which a client is known, too", 82, CLIENT_ONE,
		  PASS("at82/edge=allowed at82/held=allowed") },
		{ "one more new", 82, CLIENT_TWO,
		  PASS("at82/edge=allowed at82/held=allowed at82/new=allowed") },
		{ "and no more", 82, CLIENT_FAR, RESET("at82/new=limited") },
	};
	autoprog struct prog prog = {};

	if (prog_load(&prog,
		      LIMITERS "listeners:\n" AT("80", "mine", "watched", "")
			      AT("81", "noted", "wide", "") AT("82", "held", "new", ""),
		      PROG_NOW))
		walk(&prog, steps, ARRAY_SIZE(steps));
}

static void test_sources(void)
{
	static const struct step steps[] = {
		{ "exempt is exempt", 80, CLIENT_ONE,
		  "lo: pass exempt at80/edge=exempt at80/mine=exempt at80/new=exempt" },
		{ "another's policy keeps it", 80, CLIENT_TWO,
		  PASS("at80/edge=allowed at80/noted=allowed at80/new=allowed") },
		{ "where the client can be known", 80, CLIENT_TWO,
		  "lo: pass counted at80/edge=allowed at80/noted=counted" },
		{ "and no other", 80, CLIENT_FAR, PASS("at80/edge=allowed at80/all=allowed") },
		{ "all others have the listener's", 80, "10.9.9.9",
		  PASS("at80/edge=allowed at80/mine=allowed at80/new=allowed") },
		{ "which is the same one", 80, "10.9.9.8", RESET("at80/new=limited") },
	};
	autoprog struct prog prog = {};

	if (prog_load(&prog,
		      LIMITERS "listeners:\n" AT("80", "mine", "new",
						 ", sources: {" CLIENT_ONE ": none, " CLIENT_TWO
						 ": noted, " CLIENT_FAR ": all}"),
		      PROG_NOW))
		walk(&prog, steps, ARRAY_SIZE(steps));
}

/* Who finds no room is new every time, or refused for that. */
static void test_full(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  allows: {limit: 9, window: 1h, max_keys: 1, max_keys_action: allow}\n"
		"  rejects: {limit: 9, window: 1h, max_keys: 1, max_keys_action: reject}\n"
		"  new: {keys: [], limit: 8, window: 1h}\n"
		"listeners:\n" AT("80", "allows", "new", "") AT("81", "rejects", "new", "");
	static const struct step steps[] = {
		{ "let in for want of room, and new", 80, CLIENT_ONE,
		  "pass full at80/allows=full at80/new=allowed (allows: found no room)" },
		{ "again", 80, CLIENT_ONE,
		  "pass full at80/allows=full at80/new=allowed (allows: found no room)" },
		{ "until that is used up", 80, CLIENT_ONE, "reply limited at80/new=limited reset" },
		{ "one in the table goes on", 80, "10.0.0.1", "pass allowed at80/allows=allowed" },
	};
	autoprog struct prog prog = {};
	char from[32];

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (int i = 0; i < STILE_SET_WAYS; i++) {
		snprintf(from, sizeof(from), "10.0.0.%d", i + 1);
		CHECK_EQ("the table fills",
			 prog_passing(&prog, &(struct pkt_spec){ .from = from }, 1), 1);
	}
	walk(&prog, steps, ARRAY_SIZE(steps));
}

static uint32_t count_keys(const struct prog *prog, const char *limiter)
{
	static const uint8_t none[8];
	struct prog_table table;
	uint32_t n = 0;

	if (!prog_table(prog, limiter, &table))
		return 0;
	for (uint32_t i = 0; i < table.n_sets; i++)
		for (int way = 0; way < STILE_SET_WAYS; way++)
			n += memcmp(table.sets[i].key[way], none, sizeof(none)) != 0;
	return n;
}

/* How many of the flood pass. */
static unsigned int flood(struct prog *prog, uint8_t protocol, int forged)
{
	unsigned int passed = 0;
	char from[32];

	for (int i = 0; i < forged; i++) {
		const struct pkt_spec spec = { .from = from, .protocol = protocol };

		snprintf(from, sizeof(from), "10.1.%d.%d", i / 250, i % 250 + 1);
		passed += prog_passing(prog, &spec, 1);
	}
	return passed;
}

#define FLOODED(protocol, unit, rest)                                                              \
	"rate_limiters:\n"                                                                         \
	"  mine: {limit: 100, window: 1h, max_keys: 100" unit "}\n"                                \
	"  new: {keys: [], limit: 50, window: 1h" unit "}\n"                                       \
	"listeners:\n"                                                                             \
	"  at80: {protocol: " protocol ", ports: [80], rate_limiter_name: " rest "}\n"
#define WITH "mine, new_sources_rate_limiter_name: new"

/* A flood of forged sources, and a client that was there before. */
static void test_flood(void)
{
	static const struct {
		const char *what, *config;
		uint8_t protocol;
		const char *first, *after;
		unsigned int passed, keys; /* keys: 0 where the table is washed */
		int forged;
	} rows[] = {
		{ "connections", FLOODED("tcp", "", WITH), IPPROTO_TCP,
		  "pass allowed at80/mine=allowed at80/new=allowed",
		  "pass allowed at80/mine=allowed", NEW_ONES - 1, NEW_ONES, FEW },
		{ "datagrams", FLOODED("udp", ", unit: datagrams", WITH), IPPROTO_UDP,
		  "pass allowed at80/mine=allowed at80/new=allowed",
		  "pass allowed at80/mine=allowed", NEW_ONES - 1, NEW_ONES, FORGED },
		{ "sessions", FLOODED("udp", "", WITH), IPPROTO_UDP,
		  "pass allowed at80/mine=allowed at80/new=allowed", "pass session", NEW_ONES - 1,
		  NEW_ONES, FEW },
		{ "without it, the table is washed", FLOODED("udp", ", unit: datagrams", "mine"),
		  IPPROTO_UDP, "pass allowed at80/mine=allowed", "pass allowed at80/mine=allowed",
		  FEW, 0, FEW },
		{ "and with one for all, the client is refused",
		  FLOODED("udp", ", unit: datagrams", "[mine, new]"), IPPROTO_UDP,
		  "pass allowed at80/mine=allowed at80/new=allowed",
		  "drop limited at80/new=limited", NEW_ONES - 1, NEW_ONES, FEW },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = { .protocol = rows[i].protocol };
		autoprog struct prog prog = {};
		uint64_t evicted;

		if (!prog_load(&prog, rows[i].config, PROG_NOW))
			return;
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].first);
		CHECK_EQ(rows[i].what, flood(&prog, rows[i].protocol, rows[i].forged),
			 rows[i].passed);
		evicted = prog.counts.tables[prog_limiter(&prog, "mine")][0];
		if (rows[i].keys)
			CHECK_EQ(rows[i].what, count_keys(&prog, "mine"), rows[i].keys);
		CHECK_EQ("buckets make room where the table is washed", evicted > 0,
			 rows[i].keys == 0);
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].after);
	}
}

/* On UDP: nothing is kept of a session that was refused for being new, and it is told in words. */
static void test_sessions(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  mine: {limit: 3, window: 1h}\n"
		"  new: {keys: [], limit: 1, window: 10s}\n"
		"  each: {keys: [], limit: 1, window: 1h, unit: datagrams}\n"
		"listeners:\n"
		"  at80: {protocol: udp, ports: [80], rate_limiter_name: mine,\n"
		"         new_sources_rate_limiter_name: new, app_protocol: raw,\n"
		"         raw: {bytes: 'BUSY'}}\n"
		"  at81: {protocol: udp, ports: [81], rate_limiter_name: mine,\n"
		"         new_sources_rate_limiter_name: each}\n";
	struct pkt_spec one = { .protocol = IPPROTO_UDP, .payload = 8, .sport = 1 };
	struct pkt_spec two = { .from = CLIENT_TWO, .protocol = IPPROTO_UDP, .payload = 8 };
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_STR_EQ("a new client's session", prog_send(&prog, &one),
		     "pass allowed at80/mine=allowed at80/new=allowed");
	CHECK_STR_EQ("is one", prog_send(&prog, &one), "pass session");
	for (int i = 0; i < 3; i++)
		CHECK_STR_EQ("another new one is not held", prog_send(&prog, &two),
			     "reply limited at80/new=limited busy");
	one.sport = 2;
	CHECK_STR_EQ("the first opens another", prog_send(&prog, &one),
		     "pass allowed at80/mine=allowed");
	one.dport = two.dport = 81;
	CHECK_STR_EQ("and where that counts datagrams", prog_send(&prog, &one),
		     "pass allowed at81/mine=allowed");
	CHECK_STR_EQ("it counts none of a session", prog_send(&prog, &one), "pass session");
	if (!prog_move(&prog, PROG_NOW + 21 * NSEC_PER_SEC))
		return;
	two.dport = 80;
	CHECK_STR_EQ("with room, it is let in", prog_send(&prog, &two),
		     "pass allowed at80/mine=allowed at80/new=allowed");
}

/* With all that a policy may have beside it, the program loads and says the same. */
static void test_beside_all(void)
{
	static const char config[] =
		"interfaces: {lo: {rate_limiter_name: edge}}\n"
		"reset_text: true\n"
		"rate_limiters:\n"
		"  edge: {keys: [], limit: 1000, window: 1h}\n"
		"  mine: {limit: 3, window: 1h, ipv6_prefix: 128}\n"
		"  held: {algorithm: concurrency, limit: 2, queue: 2}\n"
		"  all: {keys: [], limit: 1000, window: 1h}\n"
		"  new: {limit: 1, window: 1h, ipv4_prefix: 8, max_keys_action: reject}\n"
		"listeners:\n"
		"  at80: {ports: [80], addresses: [" SERVER_ONE "], app_protocol: http,\n"
		"         rate_limiter_name: [mine, held, all], accept_queue_limit: 80%,\n"
		"         on_limit: evict-idle, prove_sources: always,\n"
		"         new_sources_rate_limiter_name: new, sources: {10.0.0.0/8: mine}}\n"
		"  at53: {protocol: udp, ports: [53], app_protocol: raw, raw: {bytes: 'BUSY'},\n"
		"         rate_limiter_name: mine, new_sources_rate_limiter_name: new}\n";
	struct pkt_spec spec = {
		.protocol = IPPROTO_UDP, .dport = 53, .payload = 8, .from = CLIENT_FAR
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_STR_EQ("a SYN, where nobody listens", prog_send(&prog, &(struct pkt_spec){}),
		     "lo: pass allowed at80/edge=allowed at80/mine=allowed at80/held=allowed "
		     "at80/all=allowed at80/new=allowed");
	CHECK_STR_EQ("a datagram", prog_send(&prog, &spec),
		     "lo: pass allowed at53/edge=allowed at53/mine=allowed at53/new=allowed");
	spec.from = "198.51.100.200";
	CHECK_STR_EQ("another new one of its prefix", prog_send(&prog, &spec),
		     "lo: reply limited at53/new=limited busy");
}

CHECK_SUITE(new_sources, { "whom it judges", test_judges }, { "kinds", test_kinds },
	    { "sources", test_sources }, { "a full table", test_full }, { "a flood", test_flood },
	    { "sessions", test_sessions }, { "beside all else", test_beside_all });
