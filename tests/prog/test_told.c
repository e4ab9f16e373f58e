/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a refused client is told is what explain says that it would be. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "explain_told.h"
#include "talk.h"
#include "world.h"

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
	told = explain_told(
		&world->prog.policy.kernel,
		world->prog.policy.kernel.attachments[verdict.judges[verdict.refused_by].attachment]
			.listener,
		&verdict);
	CHECK_STR_EQ("in its language", told.language ? told.language : "none", "raw");
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

CHECK_SUITE(told, { "the time to wait", test_told });
