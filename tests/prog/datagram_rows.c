/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is wanted is built as a frame by tests/pkt.c. */
#include <stdio.h>

#include "check.h"
#include "datagram_rows.h"
#include "prog.h"
#include "util.h"

static void check_answer(struct prog *prog, const struct datagram_row *row,
			 const struct pkt_spec *place)
{
	struct pkt_spec spec = *place, answer;
	struct pkt_frame want;
	char what[160];

	snprintf(what, sizeof(what), "%s (IPv%d, %d tags)", row->what, place->ipv6 ? 6 : 4,
		 place->vlans);
	spec.protocol = IPPROTO_UDP;
	spec.dport = 53;
	spec.body = row->request.bytes;
	spec.body_size = row->request.size;
	if (!row->answer.bytes) {
		CHECK_STR_EQ(what, prog_send(prog, &spec), "drop limited u/a=limited failed");
		return;
	}
	answer = (struct pkt_spec){
		.from = place->ipv6 ? SERVER_ONE_V6 : SERVER_ONE,
		.to = place->ipv6 ? CLIENT_ONE_V6 : CLIENT_ONE,
		.protocol = IPPROTO_UDP,
		.sport = 53,
		.dport = CLIENT_PORT,
		.vlans = place->vlans,
		.answer = true,
		.body = row->answer.bytes,
		.body_size = row->answer.size,
	};
	pkt_build(&answer, &want);
	CHECK_STR_EQ(what, prog_send(prog, &spec), "reply limited u/a=limited busy");
	if (CHECK_EQ(what, prog->back.size, want.size))
		CHECK_MEM_EQ(what, prog->back.bytes, want.bytes, want.size);
}

void datagram_check_rows(const char *config, const struct datagram_row *rows, size_t n)
{
	static const struct pkt_spec places[] = {
		{ .vlans = 0 },	     { .ipv6 = true },
		{ .vlans = 2 },	     { .ipv6 = true, .vlans = 1 },
		{ .ip_options = 8 }, { .ipv6 = true, .extensions = { PKT_DESTINATION } },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (int ipv6 = 0; ipv6 < 2; ipv6++)
		CHECK_EQ("the limit is used up",
			 prog_passing(&prog,
				      &(struct pkt_spec){
					      .protocol = IPPROTO_UDP, .dport = 53, .ipv6 = ipv6 },
				      1),
			 1);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(places); j++)
			check_answer(&prog, &rows[i], &places[j]);
}
