/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversations with refused clients where sources are proven: no segment of one is taken for
 * what came before a proof, however its numbers happen to lie.
 */
#include <string.h>

#include "check.h"
#include "prover.h"
#include "talk.h"
#include "util.h"

#define CONVERSATIONS 3000 /* one in 512 looked so once */
#define GET "GET / HTTP/1.1\r\n\r\n"

static const char config[] = "rate_limiters: {l: {limit: 1, window: 1h, max_keys: 64}}\n" WEB
			     "app_protocol: http, rate_limiter_name: l}}\n";

static void check_conversations(const char *from)
{
	static const struct talk_turn request = { .flags = PKT_ACK | PKT_PSH,
						  .data = GET,
						  .want = "reply busy busy" };
	struct pkt_spec spec = { .from = from, .ipv6 = strchr(from, ':'), .dport = PROVER_PORT };
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct talk talk;

	if (!prover_begin(&prog, &listening, config))
		return;
	CHECK_STR_EQ("one of one", prover_shake(&prog, from, 999), ALLOWED);
	for (uint16_t i = 0; i < CONVERSATIONS; i++) {
		spec.sport = (uint16_t)(1000 + i);
		if (!talk_begin(&talk, &prog, &spec, "reply limited web/l=limited cookie"))
			return;
		talk_turn(&talk, "a request", &request);
	}
}

static void test_busy(void)
{
	check_conversations(CLIENT_ONE);
	check_conversations(CLIENT_ONE_V6);
}

CHECK_SUITE(prove_busy, { "every refused client is answered", test_busy });
