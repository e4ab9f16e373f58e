/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A table without room for a new client: one set, whose ways are all live. */
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define ALLOWED "pass allowed web/l=allowed"
#define LIMITED "reply limited web/l=limited reset"

/* What the client with that number gets at @port. */
static const char *send_to(struct prog *prog, unsigned int client, uint16_t port)
{
	char from[32];

	snprintf(from, sizeof(from), "10.%u.%u.%u", client >> 16 & 0xff, client >> 8 & 0xff,
		 client & 0xff);
	return prog_send(prog, &(struct pkt_spec){ .from = from, .dport = port });
}

static const char *send_from(struct prog *prog, unsigned int client)
{
	return send_to(prog, client, 80);
}

static bool load(struct prog *prog, const char *limiter)
{
	char config[256];

	snprintf(config, sizeof(config),
		 "rate_limiters: {l: {limit: 3, window: 1h, max_keys: 1, %s}}\n"
		 "listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n",
		 limiter);
	return prog_load(prog, config, PROG_NOW);
}

static const char actions[] =
	"rate_limiters:\n"
	"  usual: {limit: 3, window: 1h, max_keys: 1}\n"
	"  evict: {limit: 3, window: 1h, max_keys: 1, max_keys_action: evict}\n"
	"  allow: {limit: 3, window: 1h, max_keys: 1, max_keys_action: allow}\n"
	"  reject: {limit: 3, window: 1h, max_keys: 1, max_keys_action: reject}\n"
	"  drop: {limit: 3, window: 1h, max_keys: 1, max_keys_action: reject, action: drop}\n"
	"  count: {limit: 3, window: 1h, max_keys: 1, max_keys_action: reject, action: count}\n"
	"  w-evict: {limit: 3, window: 1h, max_keys: 1, ipv6_prefix: 128}\n"
	"  w-allow: {limit: 3, window: 1h, max_keys: 1, ipv6_prefix: 128, max_keys_action: allow}\n"
	"  w-reject: {limit: 3, window: 1h, max_keys: 1, ipv6_prefix: 128,\n"
	"             max_keys_action: reject}\n"
	"listeners:\n"
	"  one: {protocol: tcp, ports: [1], rate_limiter_name: usual}\n"
	"  two: {protocol: tcp, ports: [2], rate_limiter_name: evict}\n"
	"  three: {protocol: tcp, ports: [3], rate_limiter_name: allow}\n"
	"  four: {protocol: tcp, ports: [4], rate_limiter_name: reject}\n"
	"  five: {protocol: tcp, ports: [5], rate_limiter_name: drop}\n"
	"  six: {protocol: tcp, ports: [6], rate_limiter_name: count}\n"
	"  seven: {protocol: tcp, ports: [7], rate_limiter_name: w-evict}\n"
	"  eight: {protocol: tcp, ports: [8], rate_limiter_name: w-allow}\n"
	"  nine: {protocol: tcp, ports: [9], rate_limiter_name: w-reject}\n";

static void test_actions(void)
{
	static const struct {
		const char *what;
		unsigned int ways;
		const char *allowed; /* who has a bucket, or room for one */
		const char *want;    /* a new client, without room */
	} rows[] = {
		{ "evict is what stands there if nothing does", STILE_SET_WAYS,
		  "pass allowed one/usual=allowed",
		  "pass allowed one/usual=allowed (usual: evicted)" },
		{ "evict makes room", STILE_SET_WAYS, "pass allowed two/evict=allowed",
		  "pass allowed two/evict=allowed (evict: evicted)" },
		{ "allow lets pass, without a charge", STILE_SET_WAYS,
		  "pass allowed three/allow=allowed",
		  "pass full three/allow=full (allow: found no room)" },
		{ "reject refuses", STILE_SET_WAYS, "pass allowed four/reject=allowed",
		  "reply full four/reject=full (reject: found no room) reset" },
		{ "reject drops where the action is to", STILE_SET_WAYS,
		  "pass allowed five/drop=allowed",
		  "drop full five/drop=full (drop: found no room)" },
		{ "reject lets pass where the action is to count", STILE_SET_WAYS,
		  "pass allowed six/count=allowed",
		  "pass full six/count=full (count: found no room)" },
		{ "a wide table evicts", STILE_SET_WAYS_WIDE, "pass allowed seven/w-evict=allowed",
		  "pass allowed seven/w-evict=allowed (w-evict: evicted)" },
		{ "a wide table allows", STILE_SET_WAYS_WIDE, "pass allowed eight/w-allow=allowed",
		  "pass full eight/w-allow=full (w-allow: found no room)" },
		{ "a wide table rejects", STILE_SET_WAYS_WIDE, "pass allowed nine/w-reject=allowed",
		  "reply full nine/w-reject=full (w-reject: found no room) reset" },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, actions, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint16_t port = (uint16_t)(i + 1);

		for (unsigned int client = 1; client <= rows[i].ways; client++)
			CHECK_STR_EQ("a client takes the room there is",
				     send_to(&prog, client, port), rows[i].allowed);
		CHECK_STR_EQ(rows[i].what, send_to(&prog, 100, port), rows[i].want);
		CHECK_STR_EQ("who has a bucket keeps being judged by it",
			     send_to(&prog, rows[i].ways, port), rows[i].allowed);
	}
}

static void fill(struct prog *prog, unsigned int ways)
{
	for (unsigned int client = 1; client <= ways; client++)
		CHECK_STR_EQ("a client takes the room there is", send_from(prog, client), ALLOWED);
}

/* A bucket that its limiter would treat as new is no client's any more. */
static void test_room_by_time(void)
{
	autoprog struct prog prog = {};

	if (!load(&prog, "max_keys_action: reject"))
		return;
	fill(&prog, STILE_SET_WAYS);
	if (!prog_move(&prog, PROG_NOW + 2 * HOUR - 1))
		return;
	CHECK_STR_EQ("while the old ones still weigh", send_from(&prog, 100),
		     "reply full web/l=full (l: found no room) reset");
	if (!prog_move(&prog, PROG_NOW + 2 * HOUR))
		return;
	for (unsigned int client = 101; client <= 100 + STILE_SET_WAYS; client++)
		CHECK_STR_EQ("two windows later there is room", send_from(&prog, client), ALLOWED);
	CHECK_STR_EQ("for as many as before", send_from(&prog, 120),
		     "reply full web/l=full (l: found no room) reset");
}

/*
 * Clients that keep coming keep their bucket through a flood of new ones, each of which
 * comes once. That the abuser is refused all the time must not make it look gone.
 */
static void check_abuser_is_kept(const char *what, const char *config)
{
	autoprog struct prog prog = {};
	unsigned int client = 1000;

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_EQ(what, prog_passing(&prog, &(struct pkt_spec){}, 5), 3);
	for (uint64_t minute = 1; minute <= 3; minute++) {
		if (!prog_move(&prog, PROG_NOW + minute * 60 * NSEC_PER_SEC))
			return;
		CHECK_STR_EQ(what, prog_send(&prog, &(struct pkt_spec){}), LIMITED);
		for (int i = 0; i < 40; i++)
			(void)send_from(&prog, client++);
		CHECK_STR_EQ(what, prog_send(&prog, &(struct pkt_spec){}), LIMITED);
	}
}

static void test_flood(void)
{
	check_abuser_is_kept("one limiter",
			     "rate_limiters: {l: {limit: 3, window: 1h, max_keys: 1}}\n"
			     "listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n");
	check_abuser_is_kept("two limiters",
			     "rate_limiters:\n"
			     "  l: {limit: 3, window: 1h, max_keys: 1}\n"
			     "  m: {keys: [], limit: 1000000, window: 1h}\n"
			     "listeners: {web: {protocol: tcp, rate_limiter_name: [l, m]}}\n");
}

/* What a person sees in stile clients: how often the client was refused. */
static void test_refusals_are_noted(void)
{
	static const char *const names[] = { "l", "[l, m]" };
	struct prog_table table;
	char config[256];
	unsigned int refused;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		autoprog struct prog prog = {};

		snprintf(config, sizeof(config),
			 "rate_limiters:\n"
			 "  l: {limit: 3, window: 1h, max_keys: 1}\n"
			 "  m: {keys: [], limit: 1000000, window: 1h}\n"
			 "listeners: {web: {protocol: tcp, rate_limiter_name: %s}}\n",
			 names[i]);
		if (!prog_load(&prog, config, PROG_NOW))
			return;
		CHECK_EQ("three of ten", prog_passing(&prog, &(struct pkt_spec){}, 10), 3);
		if (!prog_table(&prog, "l", &table))
			return;
		refused = 0;
		for (int way = 0; way < STILE_SET_WAYS; way++)
			refused += table.sets[0].meta[way] >> 9 & 1023; /* bpf/meta.h */
		CHECK_EQ(names[i], refused, 7);
	}
}

/*
 * A set that another CPU has locked for too long. The event is refused, and let in under count,
 * which refuses nothing.
 */
static void test_locked(void)
{
	static const struct {
		const char *what;
		const char *limiter;
		const char *want;
	} rows[] = {
		{ "a new client is refused", "action: reject", LIMITED },
		{ "a new client passes under count", "action: count",
		  "pass counted web/l=counted" },
	};
	struct stile_set set = { .lock = 1 };
	uint32_t zero = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autoprog struct prog prog = {};

		if (!load(&prog, rows[i].limiter))
			return;
		CHECK_EQ("the set is locked",
			 bpf_map_update_elem(prog_map(&prog, "limiter-l"), &zero, &set, BPF_ANY),
			 0);
		CHECK_STR_EQ(rows[i].what, send_from(&prog, 1), rows[i].want);
	}
}

CHECK_SUITE(full, { "max_keys_action", test_actions }, { "room by time", test_room_by_time },
	    { "a flood of new clients", test_flood },
	    { "refusals are noted", test_refusals_are_noted }, { "a locked set", test_locked });
