/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether an answer is sent, and that it is counted; what it is made of stands in reply.h. */
#ifndef STILE_BPF_ANSWER_H
#define STILE_BPF_ANSWER_H

#include "account.h"
#include "budget.h"
#include "busy.h"
#include "datagram.h"
#include "maps.h"
#include "reply.h"

#define ANSWER_TRIES 8 /* races that a draw may lose before its packet is not answered */

static __always_inline __u32 answer_draw(struct stile_budget_state *bucket, __u32 of)
{
	const struct stile_budget *budget = (const struct stile_budget *)(of == STILE_BUDGET_COOKIES
										  ? &policy.cookies
										  : &policy.budget);
	__u64 now = clock_tick(), state, next;
	__u32 try, n;

	for (try = 0; try < ANSWER_TRIES; try++) {
		state = load_once(bucket->state);
		n = budget_grant(budget, state, now, &next);
		if (n == 0 || __sync_val_compare_and_swap(&bucket->state, state, next) == state)
			return n;
	}
	return 0;
}

/* Whether one more may be sent of that budget. A global function: few packets are answered. */
__attribute__((noinline)) int answer_is_due(__u32 of)
{
	struct stile_budget_state *bucket;
	__u32 *share;

	bucket = bpf_map_lookup_elem(&stile_budget, &of);
	share = bpf_map_lookup_elem(&stile_shares, &of);
	if (!bucket || !share)
		return false;
	if (*share == 0)
		*share = answer_draw(bucket, of);
	if (*share == 0)
		return false;
	*share -= 1;
	return true;
}

/* A global function, for the sake of the stack, and of what is not answered. As reply(). */
__attribute__((noinline)) int answer_build(struct xdp_md *ctx, const struct pkt *pkt, __u32 kind)
{
	return pkt ? reply(ctx, pkt, kind) : -1;
}

/*
 * The same for a datagram, in its listener's language. The @wait is asked for before, so that the
 * frames do not add up.
 */
__attribute__((noinline)) int answer_busy(struct xdp_md *ctx, const struct pkt *pkt, __u32 wait)
{
	return pkt ? datagram_answer(ctx, pkt, wait) : -1;
}

/* A reset with a text. The same. */
__attribute__((noinline)) int answer_told(struct xdp_md *ctx, const struct pkt *pkt, __u32 wait)
{
	return pkt ? reply_reset_told(ctx, pkt, wait) : -1;
}

/* Makes the frame the answer that is due, and says of what kind it is. As reply(). */
static __always_inline int answer_make(struct xdp_md *ctx, const struct pkt *pkt,
				       struct ruling *ruling)
{
	int listener = 0;

	if (policy.has_datagrams && ruling->reply == STILE_REPLY_BUSY)
		return answer_busy(ctx, pkt, wait_ms(pkt));
	/* Who has proven to be there has a connection, which is past the point to be spoken to. */
	if (policy.converses && pkt->protocol == STILE_PROTOCOL_TCP && !(pkt->flags & FLAG_ACK))
		listener = busy_speaks(pkt, ruling->refused);
	if (listener == 0 && policy.reset_text && ruling->reply == STILE_REPLY_RESET)
		return answer_told(ctx, pkt, wait_ms(pkt));
	if (listener == 0)
		return answer_build(ctx, pkt, ruling->reply);
	ruling->reply = STILE_REPLY_COOKIE;
	return busy_begin(ctx, pkt, listener, ruling->refused);
}

/* Makes the frame its answer, or a packet to drop where there is none to be sent. */
static __always_inline void answer(struct xdp_md *ctx, const struct pkt *pkt, struct ruling *ruling)
{
	bool withheld = !answer_is_due(STILE_BUDGET_ANSWERS);

	if (withheld || answer_make(ctx, pkt, ruling)) {
		ruling->verdict = STILE_VERDICT_DROP;
		ruling->reply = withheld ? STILE_REPLY_WITHHELD : STILE_REPLY_FAILED;
	}
	account_reply(ruling->reply);
}

#endif /* STILE_BPF_ANSWER_H */
