/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happens at packet arrival: parse, classify, charge, reply, account. The order in which a
 * packet is looked at stands in classify.h, and in stile.8.
 */
#include "accept.h"
#include "account.h"
#include "answer.h"
#include "attempt.h"
#include "busy.h"
#include "charge.h"
#include "classify.h"
#include "maps.h"
#include "parse.h"
#include "prove.h"
#include "session.h"
#include "watchdog.h"

/* The listener's slot, where @pkt is a datagram and a limiter of @class counts sessions. */
static __always_inline __u32 tracked(const struct pkt *pkt, const struct pkt_class *class)
{
	if (policy.flow_sets == 0 || pkt->protocol != STILE_PROTOCOL_UDP)
		return 0;
	return session_listener(class->edge, class->judges);
}

/* A trusted client's event, noted by the limiters that would have judged it. */
static __always_inline void note_exempt(const struct pkt *pkt, struct pkt_class *class)
{
	__u32 i, attachment, listener = tracked(pkt, class);

	if (listener && session_look(pkt, listener) >= FLOW_NEW)
		session_leave_others(class);
	else if (listener)
		session_open(pkt, listener);
	if (class->edge)
		account_decision(class->edge, STILE_DECISION_EXEMPT);
	for (i = 0; i < STILE_JUDGES_MAX; i++) {
		attachment = classify_judge(class->judges, i);
		if (attachment == 0)
			break;
		account_decision(attachment, STILE_DECISION_EXEMPT);
	}
}

/* A datagram of a session that was refused, and that nobody judges again yet. */
static __always_inline struct ruling judge_held(const struct pkt *pkt, int kind)
{
	struct ruling ruling = judge_refusal(
		pkt, kind == FLOW_HELD ? STILE_ACTION_DROP : STILE_ACTION_RESET, STILE_REASON_HELD);

	if (kind == FLOW_HELD_BUSY && ruling.verdict == STILE_VERDICT_REPLY)
		ruling.reply = STILE_REPLY_BUSY;
	return ruling;
}

/* An event by itself, the first of a session, or one of many of a session that is known. */
static __always_inline struct ruling judge_datagram(struct xdp_md *ctx, const struct pkt *pkt,
						    struct pkt_class *class)
{
	__u32 listener = tracked(pkt, class);
	int kind = listener ? session_look(pkt, listener) : FLOW_NONE;
	struct ruling ruling;

	if (kind >= FLOW_NEW) {
		session_leave_others(class);
		if (class->edge == 0 && class->judges == 0)
			return judge_pass(STILE_REASON_SESSION);
		listener = 0;
	} else if (kind != FLOW_NONE && !watchdog_counts()) {
		return judge_held(pkt, kind);
	}
	ruling = charge_event(ctx, pkt, class, pkt->source.word[1] ^ pkt->sport);
	if (listener)
		session_remember(pkt, listener, &ruling);
	return ruling;
}

/* A new connection or a datagram, at a listener that limits them. */
static __always_inline struct ruling judge_event(struct xdp_md *ctx, const struct pkt *pkt,
						 struct pkt_class *class)
{
	struct ruling ruling;
	__u16 *place;
	__u64 hash;

	if (pkt->protocol == STILE_PROTOCOL_UDP)
		return judge_datagram(ctx, pkt, class);
	hash = attempt_hash(pkt);
	place = attempt_place(hash);
	if (attempt_repeats(ctx, pkt, hash, place)) {
		if (classify_has_places(class->listener))
			place_touch(pkt);
		return judge_pass(STILE_REASON_REPEATED);
	}
	ruling = charge_event(ctx, pkt, class, hash);
	if (ruling.verdict == STILE_VERDICT_PASS) {
		attempt_remember(hash, place);
		prove_note_admitted(pkt, class->listener);
	}
	return ruling;
}

/* Whether @pkt is of a connection that was let in, and is about to be made. */
static __always_inline bool proof_is_pending(const struct pkt *pkt)
{
	__u64 hash = attempt_hash(pkt);

	return attempt_is_known(hash, attempt_place(hash));
}

/* What is to be done of a packet that has to do with proofs of sources. */
enum proof_step {
	PROOF_NONE,  /* as if there were none */
	PROOF_ASK,   /* a SYN: limiters are asked at most */
	PROOF_JUDGE, /* what brings a cookie back: it is judged as its SYN would have been */
	PROOF_REPEATED,
	PROOF_EARLY,
	PROOF_NO_ROOM,
};

/*
 * Whether @pkt is of a conversation with Stile: one in 2^9 segments of these look as if they came
 * early, too. A global function, for the sake of its frame.
 */
__attribute__((noinline)) int proof_is_busys(const struct pkt *pkt)
{
	return pkt && cookie_distance((const __u64 *)policy.cookie_key, pkt, prove_now()) <
			      COOKIE_CHOICES << COOKIE_CHOICE_SHIFT;
}

static __always_inline int proof_of_segment(struct xdp_md *ctx, const struct pkt *pkt, int kind,
					    __u32 listener)
{
	if (proof_is_pending(pkt))
		return PROOF_REPEATED;
	if (kind == PROVE_EARLY)
		return proof_is_busys(pkt) ? PROOF_NONE : PROOF_EARLY;
	if (accept_is_full(ctx, pkt))
		return PROOF_NO_ROOM; /* as the kernel: the client sends it again */
	prove_count(listener, PROVE_COUNT_PROVEN);
	return PROOF_JUDGE;
}

/* An enum proof_step. A global function: see read_extended(). */
__attribute__((noinline)) int proof_of(struct xdp_md *ctx, const struct pkt *pkt, __u32 listener)
{
	int kind = PROVE_ASKED, target;
	bool opens;

	if (!pkt)
		return PROOF_NONE;
	opens = judge_opens_connection(pkt->flags);
	if (opens ? !prove_is_on(listener) : !prove_is_possible(listener))
		return PROOF_NONE;
	if (!opens)
		kind = prove_kind(pkt);
	if (kind == PROVE_FOREIGN)
		return PROOF_NONE;
	target = prove_target(ctx, pkt);
	if (target == PROVE_LISTENS)
		return opens ? PROOF_ASK : proof_of_segment(ctx, pkt, kind, listener);
	if (!opens)
		return PROOF_NONE;
	if (target == PROVE_KNOWN)
		return PROOF_REPEATED;
	prove_count(listener, PROVE_COUNT_UNPROVABLE);
	return PROOF_NONE;
}

/* Settles what the step says, or else what is to be asked of the limiters. */
static __always_inline void judge_proof(struct pkt_class *class, int step)
{
	switch (step) {
	case PROOF_ASK:
		class->unproven = true;
		return;
	case PROOF_JUDGE:
		class->settled = false;
		return;
	case PROOF_REPEATED:
		return classify_settle(class, judge_pass(STILE_REASON_REPEATED));
	case PROOF_EARLY:
		return classify_settle(class, judge_drop(STILE_REASON_UNPROVEN));
	case PROOF_NO_ROOM:
		return classify_settle(class, judge_drop(STILE_REASON_ACCEPT_QUEUE));
	}
}

/* Who needs no limiter is let in by his cookie alone, and gets no second connection by it. */
static __always_inline void judge_unlimited(const struct pkt *pkt, int step)
{
	__u64 hash = attempt_hash(pkt);

	if (step == PROOF_JUDGE)
		attempt_remember(hash, attempt_place(hash));
}

/* A segment to @listener that may be one of a conversation with a client that was refused. */
static __always_inline struct ruling judge_segment(struct xdp_md *ctx, const struct pkt *pkt,
						   __u32 listener)
{
	int reply = busy_segment(ctx, pkt, listener);

	if (reply == BUSY_FOREIGN)
		return judge_pass(STILE_REASON_ESTABLISHED);
	if (reply == BUSY_SILENT)
		return judge_drop(STILE_REASON_BUSY);
	return (struct ruling){ STILE_VERDICT_REPLY, STILE_REASON_BUSY, reply, 0 };
}

/* A global function, so that the verifier follows the many ways through a chain only once. */
__attribute__((noinline)) int read_extended(struct xdp_md *ctx, struct pkt *ret_pkt)
{
	if (!ret_pkt)
		return STILE_REASON_TRUNCATED;
	return parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, ret_pkt);
}

static __always_inline struct ruling judge_packet(struct xdp_md *ctx, struct pkt *pkt)
{
	struct stile_control *control;
	struct pkt_class class = {};
	int unread, step = PROOF_NONE;
	__u32 key = 0;

	control = bpf_map_lookup_elem(&stile_control, &key);
	if (!policy.enabled || !control)
		return judge_pass(STILE_REASON_DISABLED);
	if (watchdog_says(STILE_WATCHDOG_PASS, control))
		return judge_pass(STILE_REASON_UNATTENDED);
	unread = parse_plain((void *)(long)ctx->data, (void *)(long)ctx->data_end, pkt);
	if (unread == PARSE_EXTENDED)
		unread = read_extended(ctx, pkt);
	if (unread != PARSE_OK)
		return judge_unread(unread);
	classify(pkt, control, &class);
	if (policy.replays)
		stile_replay.listener = class.listener;
	if (policy.proves && class.listener && pkt->protocol == STILE_PROTOCOL_TCP &&
	    class.ruling.reason != STILE_REASON_BAD_FLAGS) {
		step = proof_of(ctx, pkt, class.listener);
		judge_proof(&class, step);
	}
	if (!class.settled)
		classify_client(pkt, control, &class);
	if (policy.proves && class.unproven && (class.settled || !policy.converses))
		return (struct ruling){ STILE_VERDICT_REPLY, STILE_REASON_CHALLENGED,
					STILE_REPLY_CHALLENGE, 0 };
	if (!class.settled)
		return judge_event(ctx, pkt, &class);
	if (policy.proves)
		judge_unlimited(pkt, step);
	key = class.listener;
	if (policy.converses && class.ruling.reason == STILE_REASON_ESTABLISHED &&
	    busy_is_possible(&key))
		return judge_segment(ctx, pkt, key);
	if (class.exempt)
		note_exempt(pkt, &class);
	return class.ruling;
}

/* Makes the frame the cookie that is due, or a packet to drop. These have a budget of their own. */
static __always_inline void challenge(struct xdp_md *ctx, const struct pkt *pkt,
				      struct ruling *ruling)
{
	bool withheld;

	if (!judge_may_answer(pkt)) {
		ruling->verdict = STILE_VERDICT_DROP;
		return;
	}
	withheld = policy.cookies.limit && !answer_is_due(STILE_BUDGET_COOKIES);
	if (withheld || prove_challenge(ctx, pkt)) {
		ruling->verdict = STILE_VERDICT_DROP;
		ruling->reply = withheld ? STILE_REPLY_WITHHELD : STILE_REPLY_FAILED;
	}
	account_reply(ruling->reply);
}

SEC("xdp")
int stile_xdp(struct xdp_md *ctx)
{
	struct pkt pkt = { .interface = classify_interface(ctx->ingress_ifindex) };
	struct ruling ruling;

	ruling = judge_packet(ctx, &pkt);
	if (ruling.verdict == STILE_VERDICT_REPLY && ruling.reason == STILE_REASON_CHALLENGED)
		challenge(ctx, &pkt, &ruling);
	else if (ruling.verdict == STILE_VERDICT_REPLY && ruling.reason != STILE_REASON_BUSY)
		answer(ctx, &pkt, &ruling);
	account_packet(pkt.interface, &ruling);
	account_replay(&pkt, &ruling);
	if (ruling.verdict == STILE_VERDICT_REPLY)
		return XDP_TX;
	return ruling.verdict == STILE_VERDICT_DROP ? XDP_DROP : XDP_PASS;
}
