/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Patches of every kind, in an answer that is put into the map as it is: languages of today use
 * some of them only.
 */
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "talk.h"
#include "util.h"

#define ACK_PSH (PKT_ACK | PKT_PSH)
#define ALL (PKT_ACK | PKT_PSH | PKT_FIN)
#define LENGTH 27

/* Ten seconds to wait, and the first bytes of "ABCDEFGH". */
static const struct stile_patch patches[STILE_ANSWER_PATCHES] = {
	{ .offset = 0, .kind = STILE_PATCH_WAIT_S, .width = 4, .fill = ' ' },
	{ .offset = 4, .kind = STILE_PATCH_WAIT_MS, .width = 7, .fill = '0' },
	{ .offset = 11, .kind = STILE_PATCH_WAIT_S_BINARY, .width = 2 },
	{ .offset = 13, .kind = STILE_PATCH_WAIT_MS_BINARY, .width = 4 },
	{ .offset = 17, .kind = STILE_PATCH_REQUEST, .width = 5, .from = 2 },
	{ .offset = 22, .kind = STILE_PATCH_REQUEST_BITS, .width = 1, .fill = 0x0f },
	{ .offset = 23, .kind = STILE_PATCH_WAIT_MS_BINARY, .width = 1 },
	{ .offset = 24, .kind = STILE_PATCH_WAIT_MS, .width = 3, .fill = ' ' },
};
#define NUMBERS                                                                                    \
	"  10"                                                                                     \
	"0010000"                                                                                  \
	"\0\x0a"                                                                                   \
	"\0\0\x27\x10"

static bool load(struct prog *prog)
{
	struct stile_answer answer = {
		.length = LENGTH,
		.n_rules = 1,
		.n_patches = STILE_ANSWER_PATCHES,
		.rules = { { .length = LENGTH } },
	};

	if (!prog_load(prog,
		       "rate_limiters:\n"
		       "  l: {keys: [], algorithm: token_bucket, limit: 6, window: 1m, burst: 1}\n"
		       "listeners: {web: {app_protocol: http, rate_limiter_name: l}}\n",
		       PROG_NOW))
		return false;
	memset(answer.bytes, '.', LENGTH);
	answer.bytes[22] = 0xff;
	memcpy(answer.patches, patches, sizeof(patches));
	for (uint32_t i = 1; i < prog->policy.n_answers; i++)
		CHECK_EQ("the answer is replaced",
			 bpf_map_update_elem(prog_map(prog, "answers"), &i, &answer, BPF_ANY), 0);
	return CHECK_EQ("the first is let in", prog_passing(prog, &(struct pkt_spec){}, 1), 1);
}

static void test_kinds(void)
{
	static const struct {
		const char *what, *request, *want;
	} rows[] = {
		{ "a request as long as it takes", "ABCDEFGH",
		  NUMBERS "CDEFG\xf1\xff"
			  "999" },
		{ "one that ends before", "BBCD",
		  NUMBERS "CD...\xf2\xff"
			  "999" },
		{ "one that ends before what is copied", "C",
		  NUMBERS ".....\xf3\xff"
			  "999" },
	};
	static const struct pkt_spec specs[] = { {}, { .ipv6 = true }, { .vlans = 1 } };
	autoprog struct prog prog = {};
	struct talk talk;

	if (!load(&prog))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		if (!talk_begin(&talk, &prog, &specs[i], "reply limited web/l=limited cookie"))
			return;
		for (size_t j = 0; j < ARRAY_SIZE(rows); j++)
			talk_turn(&talk, rows[j].what,
				  &(struct talk_turn){ .flags = ACK_PSH,
						       .data = rows[j].request,
						       .want = "reply busy busy",
						       .back_flags = ALL,
						       .back = rows[j].want,
						       .back_size = LENGTH });
	}
}

CHECK_SUITE(patches, { "each kind", test_kinds });
