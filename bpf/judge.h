/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of a packet once it is known what the limiters say. Pure. The order in which a
 * packet is looked at stands in classify.h; what an action means stands here.
 */
#ifndef STILE_BPF_JUDGE_H
#define STILE_BPF_JUDGE_H

#include <stile/abi.h>

#include "compiler.h"
#include "parse.h"

struct ruling {
	__u8 verdict;  /* enum stile_verdict */
	__u8 reason;   /* enum stile_reason */
	__u8 reply;    /* enum stile_reply, where the verdict is REPLY */
	__u16 refused; /* attachment slot of the limiter that refused, or 0 */
};

static __always_inline struct ruling judge_pass(enum stile_reason reason)
{
	return (struct ruling){ STILE_VERDICT_PASS, reason, 0, 0 };
}

static __always_inline struct ruling judge_drop(enum stile_reason reason)
{
	return (struct ruling){ STILE_VERDICT_DROP, reason, 0, 0 };
}

/*
 * A packet that could not be read for @reason. It passes where the stack does not give it to a
 * service on TCP or UDP; where it could, and no ordinary host sends such, it would be a way past
 * every limiter.
 */
static __always_inline struct ruling judge_unread(enum stile_reason reason)
{
	switch (reason) {
	case STILE_REASON_TINY_FRAGMENT:
	case STILE_REASON_EXT_HEADER:
	case STILE_REASON_MALFORMED:
	case STILE_REASON_VLAN_TAGS:
		return judge_drop(reason);
	default:
		return judge_pass(reason);
	}
}

/* Flags that belong to no connection: scanners and broken stacks send them. */
static __always_inline bool judge_flags_are_bad(__u8 flags)
{
	const __u8 all = FLAG_FIN | FLAG_SYN | FLAG_RST;

	if (likely(flags == FLAG_SYN || (flags & ~FLAG_PSH) == FLAG_ACK))
		return false; /* nearly all that TCP sends */
	if ((flags & (all | FLAG_ACK)) == 0)
		return true; /* nothing that TCP ever sends, "null" among them */
	if ((flags & all) != FLAG_FIN && (flags & all) != FLAG_SYN && (flags & all) != FLAG_RST &&
	    (flags & all) != 0)
		return true; /* two of them, or three */
	/* "Xmas" */
	return (flags & (FLAG_FIN | FLAG_PSH | FLAG_URG | FLAG_ACK)) ==
	       (FLAG_FIN | FLAG_PSH | FLAG_URG);
}

/* A SYN that asks for a connection; the SYN of an answer carries an ACK. */
static __always_inline bool judge_opens_connection(__u8 flags)
{
	return (flags & (FLAG_SYN | FLAG_ACK)) == FLAG_SYN;
}

/*
 * What may be answered: what one host sent to one, on every layer (RFC 1122, 3.2.2). Groups and
 * what is reserved (RFC 1112, 4) have the first three bits set.
 */
static __always_inline bool judge_may_answer(const struct pkt *pkt)
{
	__u64 from = swap64(pkt->source.word[1]), to = swap64(pkt->destination.word[1]);

	if (pkt->group)
		return false;
	if (pkt->ipv4)
		return (from & 0xe0000000) != 0xe0000000 && (from & 0xff000000) != 0 &&
		       (to & 0xe0000000) != 0xe0000000;
	return swap64(pkt->source.word[0]) >> 56 != 0xff &&
	       swap64(pkt->destination.word[0]) >> 56 != 0xff &&
	       (pkt->source.word[0] | pkt->source.word[1]) != 0;
}

/* The verdict on an event that a limiter with @action refused for @reason. */
static __always_inline struct ruling judge_refusal(const struct pkt *pkt, __u8 action,
						   enum stile_reason reason)
{
	struct ruling reply = { STILE_VERDICT_REPLY, reason, STILE_REPLY_RESET, 0 };

	if (action == STILE_ACTION_DROP || !judge_may_answer(pkt))
		return judge_drop(reason);
	if (pkt->protocol == STILE_PROTOCOL_TCP)
		return reply;
	if (action != STILE_ACTION_RESET)
		return judge_drop(reason);
	reply.reply = STILE_REPLY_ICMP;
	return reply;
}

#endif /* STILE_BPF_JUDGE_H */
