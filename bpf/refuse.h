/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ruling on an event that a limiter refused: its action, at a listener that may speak. */
#ifndef STILE_BPF_REFUSE_H
#define STILE_BPF_REFUSE_H

#include "judge.h"
#include "maps.h"

static __always_inline const volatile struct stile_attachment *refuse_at(__u32 attachment)
{
	return &policy.attachments[attachment & (STILE_ATTACHMENTS_MAX - 1)];
}

/*
 * Whether a datagram that the limiter of @attachment refused is answered in its language, if it may
 * be answered at all. A global function: see charge_step().
 */
__attribute__((noinline)) int refuse_speaks(const struct pkt *pkt, __u32 attachment)
{
	__u32 slot = refuse_at(attachment)->limiter & (STILE_LIMITERS_MAX - 1);

	return pkt && pkt->protocol == STILE_PROTOCOL_UDP && refuse_at(attachment)->answer &&
	       policy.limiters[slot].action == STILE_ACTION_REJECT;
}

/* Whether the client of a SYN that it refused is told so in its language. */
static __always_inline bool refuse_speaks_tcp(__u32 attachment)
{
	return policy.converses && refuse_at(attachment)->answer;
}

/* The limiter of @attachment, which has @action, refused it. */
static __always_inline struct ruling refuse(const struct pkt *pkt, __u32 attachment, __u8 action,
					    enum stile_reason reason)
{
	bool speaks = policy.has_datagrams && refuse_speaks(pkt, attachment);
	struct ruling ruling = judge_refusal(pkt, speaks ? STILE_ACTION_RESET : action, reason);

	ruling.refused = attachment;
	if (speaks && ruling.verdict == STILE_VERDICT_REPLY)
		ruling.reply = STILE_REPLY_BUSY;
	return ruling;
}

#endif /* STILE_BPF_REFUSE_H */
