/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a refused client is told is what explain says that it would be. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "explain_told.h"
#include "talk.h"
#include "util.h"
#include "world.h"

static struct explain_told told_by(const struct world *world,
				   const struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &world->prog.policy.kernel;
	uint32_t attachment = verdict->judges[verdict->refused_by].attachment;

	return explain_told(policy, policy->attachments[attachment].listener, verdict);
}

static void check_told(struct world *world, const struct pkt_spec *spec, const char *cookie)
{
	struct snapshot_verdict verdict;
	struct explain_told told;
	const uint8_t *data;
	char text[32];
	struct talk talk;
	size_t size;
	bool fin;

	if (!world_explain(world, spec, &verdict))
		return;
	told = told_by(world, &verdict);
	CHECK_STR_EQ("in its language", told.language ? told.language : "none", "raw");
	CHECK_EQ("with the time", told.says_wait, true);
	if (!talk_begin(&talk, &world->prog, spec, cookie))
		return;
	talk_turn(&talk, "it is told so",
		  &(struct talk_turn){
			  .flags = PKT_ACK | PKT_PSH, .data = "?", .want = "reply busy busy" });
	data = talk_data(&talk, &size, &fin);
	snprintf(text, sizeof(text), "%7llu", (unsigned long long)told.wait);
	CHECK_EQ("seven places", size, 7);
	CHECK_MEM_EQ("the time to wait", data, text, 7);
}

#define AS_TOLD "app_protocol: raw, raw: {first: client, bytes: '{wait_ms}'}}\n"

static void test_told(void)
{
	autoworld struct world world = { .protocol = IPPROTO_TCP };
	const struct pkt_spec spec = { .from = CLIENT_ONE, .dport = 80 };
	const struct pkt_spec known = { .from = CLIENT_ONE, .dport = 82 };
	const struct pkt_spec new_one = { .from = CLIENT_TWO, .dport = 82 };
	const struct pkt_spec full = { .from = "192.0.2.99", .dport = 81 };
	char from[32];

	if (!world_begin(&world,
			 "rate_limiters:\n"
			 "  tokens: {algorithm: token_bucket, limit: 7, window: 1m, burst: 1}\n"
			 "  longer: {algorithm: token_bucket, limit: 3, window: 1m, burst: 1}\n"
			 "  few: {limit: 1000, window: 9s, max_keys: 1, max_keys_action: reject}\n"
			 "  new: {keys: [], limit: 1, window: 1h}\n"
			 "listeners:\n"
			 "  at80: {ports: [80], rate_limiter_name: [tokens, longer], " AS_TOLD
			 "  at81: {ports: [81], rate_limiter_name: few, " AS_TOLD
			 "  at82: {ports: [82], rate_limiter_name: longer,\n"
			 "         new_sources_rate_limiter_name: new, " AS_TOLD))
		return;
	CHECK_EQ("one is let in", prog_passing(&world.prog, &spec, 2), 1);
	if (!world_move(&world, world.now + NSEC_PER_SEC / 3))
		return;
	(void)prog_send(&world.prog, &(struct pkt_spec){ .from = CLIENT_FAR, .dport = 82 });
	check_told(&world, &spec, "reply limited at80/tokens=limited cookie");
	for (int i = 0; i < STILE_SET_WAYS; i++) {
		snprintf(from, sizeof(from), "192.0.2.%d", 100 + i);
		(void)prog_send(&world.prog, &(struct pkt_spec){ .from = from, .dport = 81 });
	}
	check_told(&world, &known, "reply limited at82/longer=limited cookie");
	check_told(&world, &new_one, "reply limited at82/new=limited cookie");
	check_told(&world, &full, "reply full at81/few=full (few: found no room) cookie");
}

/* Every language, with a place for the wait or without: it is known, told or not. */
static void test_places(void)
{
	static const struct {
		const char *what, *listener;
		uint8_t protocol;
		bool says;
	} rows[] = {
		{ "http", "app_protocol: http", IPPROTO_TCP, true },
		{ "smtp", "app_protocol: smtp", IPPROTO_TCP, true },
		{ "redis", "app_protocol: redis", IPPROTO_TCP, false },
		{ "postgresql", "app_protocol: postgresql", IPPROTO_TCP, true },
		{ "mysql", "app_protocol: mysql", IPPROTO_TCP, false },
		{ "opcua", "app_protocol: opcua", IPPROTO_TCP, true },
		{ "tls", "app_protocol: tls", IPPROTO_TCP, false },
		{ "dns", "app_protocol: dns", IPPROTO_TCP, false },
		{ "raw", "app_protocol: raw, raw: {bytes: busy}", IPPROTO_TCP, false },
		{ "raw", "app_protocol: raw, raw: {bytes: '{wait_s}'}", IPPROTO_TCP, true },
		{ "dns", "protocol: udp, app_protocol: dns", IPPROTO_UDP, false },
		{ "ntp", "protocol: udp, app_protocol: ntp", IPPROTO_UDP, true },
		{ "sip", "protocol: udp, app_protocol: sip", IPPROTO_UDP, true },
		{ "coap", "protocol: udp, app_protocol: coap", IPPROTO_UDP, true },
		{ "raw", "protocol: udp, app_protocol: raw, raw: {bytes: b}", IPPROTO_UDP, false },
		{ NULL, "", IPPROTO_TCP, false },
		{ NULL, "protocol: udp", IPPROTO_UDP, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autoworld struct world world = { .protocol = rows[i].protocol };
		const struct pkt_spec spec = { .from = CLIENT_ONE,
					       .protocol = rows[i].protocol,
					       .dport = 80 };
		struct snapshot_verdict verdict;
		struct explain_told told;
		char config[256];

		snprintf(config, sizeof(config),
			 "rate_limiters: {a: {limit: 1, window: 1m}}\n"
			 "listeners: {at80: {ports: [80], rate_limiter_name: a%s%s}}\n",
			 *rows[i].listener ? ", " : "", rows[i].listener);
		if (!world_begin(&world, config))
			return;
		CHECK_EQ("one is let in", prog_passing(&world.prog, &spec, 1), 1);
		if (!world_explain(&world, &spec, &verdict))
			continue;
		told = told_by(&world, &verdict);
		CHECK_STR_EQ(rows[i].listener, told.language ? told.language : "none",
			     rows[i].what ? rows[i].what : "none");
		CHECK_EQ(rows[i].listener, told.says_wait, rows[i].says);
		CHECK(rows[i].listener, told.wait >= 60000 && told.wait <= 120010);
	}
}

/* What is charged twice for an event needs room for two, and so long it has to wait. */
static void test_twice(void)
{
	autoworld struct world world = { .protocol = IPPROTO_TCP };
	static const struct {
		const char *cookie;
		unsigned int room;
	} rows[] = {
		{ "reply limited at80/tokens=limited cookie", 2 },
		{ "reply limited at81/sliding=limited cookie", 2 },
		{ "reply limited at82/fixed=limited cookie", 1 },
	};

	if (!world_begin(
		    &world,
		    "rate_limiters:\n"
		    "  tokens: {algorithm: token_bucket, limit: 7, window: 1m, burst: 4}\n"
		    "  sliding: {limit: 5, window: 1m}\n"
		    "  fixed: {algorithm: fixed_window, limit: 5, window: 1m}\n"
		    "listeners:\n"
		    "  at80: {ports: [80], rate_limiter_name: [tokens, tokens], " AS_TOLD
		    "  at81: {ports: [81], rate_limiter_name: [sliding, sliding], " AS_TOLD
		    "  at82: {ports: [82], rate_limiter_name: [fixed, fixed, fixed], " AS_TOLD))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = { .from = CLIENT_ONE, .dport = (uint16_t)(80 + i) };
		struct snapshot_verdict verdict;

		CHECK_EQ("some are let in", prog_passing(&world.prog, &spec, 5), rows[i].room);
		check_told(&world, &spec, rows[i].cookie);
		if (!world_explain(&world, &spec, &verdict) ||
		    !world_move(&world, world.now + told_by(&world, &verdict).wait * 1000000))
			return;
		CHECK_EQ("who waits that long is let in", prog_passing(&world.prog, &spec, 1), 1);
	}
}

CHECK_SUITE(told, { "the time to wait", test_told },
	    { "a limiter that is named twice", test_twice }, { "a place for it", test_places });
