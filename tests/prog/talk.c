/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments of a client, and what comes back, held against what tests/pkt.c builds. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "talk.h"

/* Who answers whom, behind the same tags. */
static struct pkt_spec answer_to(const struct pkt_spec *spec)
{
	bool ipv6 = spec->ipv6;

	return (struct pkt_spec){
		.from = spec->to ? spec->to
			: ipv6	 ? SERVER_ONE_V6
				 : SERVER_ONE,
		.to = spec->from ? spec->from
		      : ipv6	 ? CLIENT_ONE_V6
				 : CLIENT_ONE,
		.sport = spec->dport ? spec->dport : 80,
		.dport = spec->sport ? spec->sport : CLIENT_PORT,
		.vlans = spec->vlans,
		.answer = true,
		.window = TALK_WINDOW,
	};
}

static void check_frame(const char *what, const struct prog *prog, const struct pkt_frame *want)
{
	char part[160];

	if (!CHECK_EQ(what, prog->back.size, want->size))
		return;
	snprintf(part, sizeof(part), "%s: Ethernet, tags and IP", what);
	CHECK_MEM_EQ(part, prog->back.bytes, want->bytes, want->l4);
	snprintf(part, sizeof(part), "%s: behind IP", what);
	CHECK_MEM_EQ(part, prog->back.bytes + want->l4, want->bytes + want->l4,
		     want->size - want->l4);
}

static size_t tcp_offset(const struct talk *talk)
{
	return 14 + talk->spec.vlans * 4U + (talk->spec.ipv6 ? 40 : 20);
}

bool talk_begin(struct talk *talk, struct prog *prog, const struct pkt_spec *spec, const char *want)
{
	struct pkt_spec answer = answer_to(spec), syn = *spec;
	struct pkt_frame frame;
	uint32_t cookie;

	*talk = (struct talk){ .prog = prog, .spec = *spec };
	syn.sequence = TALK_SEQUENCE;
	if (!CHECK_STR_EQ("the SYN is refused", prog_send(prog, &syn), want))
		return false;
	memcpy(&cookie, prog->back.bytes + tcp_offset(talk) + 4, sizeof(cookie));
	talk->cookie = ntohl(cookie);
	answer.flags = PKT_SYN | PKT_ACK;
	answer.sequence = talk->cookie;
	answer.acknowledgment = TALK_SEQUENCE + 1;
	answer.mss = spec->tcp_options || spec->mss ? TALK_MSS : 0;
	pkt_build(&answer, &frame);
	check_frame("the SYN-ACK", prog, &frame);
	CHECK("which is no larger than the SYN", prog->back.size <= prog->sent.size);
	return true;
}

static void check_back(struct talk *talk, const char *what, const struct talk_turn *turn,
		       uint32_t acknowledged)
{
	struct pkt_spec answer = answer_to(&talk->spec);
	struct pkt_frame frame;

	answer.flags = turn->back_flags;
	answer.sequence = talk->cookie + 1 + turn->has;
	answer.acknowledgment = acknowledged;
	answer.body = turn->back;
	answer.body_size = turn->back_size;
	pkt_build(&answer, &frame);
	check_frame(what, talk->prog, &frame);
}

void talk_turn(struct talk *talk, const char *what, const struct talk_turn *turn)
{
	struct pkt_spec segment = talk->spec;
	size_t size = turn->data_size || !turn->data ? turn->data_size : strlen(turn->data);
	uint32_t length = (uint32_t)size;

	segment.tcp_options = turn->tcp_options;
	segment.ip_options = 0;
	segment.mss = 0;
	segment.payload = 0;
	segment.group = turn->group;
	segment.flags = turn->flags;
	segment.sequence = TALK_SEQUENCE + 1 + turn->sent;
	segment.acknowledgment = talk->cookie + 1 + turn->has;
	segment.window = turn->window;
	segment.no_window = turn->no_window;
	segment.body = turn->data;
	segment.body_size = length;
	CHECK_STR_EQ(what, prog_send(talk->prog, &segment), turn->want);
	if (turn->back_flags)
		check_back(talk, what, turn,
			   segment.sequence + length + (turn->flags & PKT_FIN ? 1 : 0) -
				   turn->unacknowledged);
}

const uint8_t *talk_data(const struct talk *talk, size_t *ret_size, bool *ret_fin)
{
	const struct pkt_frame *back = &talk->prog->back;
	size_t offset = tcp_offset(talk) + 20;

	*ret_size = back->size > offset ? back->size - offset : 0;
	*ret_fin = back->bytes[offset - 7] & PKT_FIN;
	return back->bytes + offset;
}
