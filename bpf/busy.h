/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversations over TCP with clients that were refused: a cookie for the SYN, an answer in their
 * language for what they send then. No state is kept of them: a segment is recognised by what it
 * acknowledges (cookie.h), and says by itself what it needs (talk.h). Only listeners that have
 * refused somebody lately look for such segments at all.
 */
#ifndef STILE_BPF_BUSY_H
#define STILE_BPF_BUSY_H

#include "account.h"
#include "attempt.h"
#include "charge.h"
#include "classify.h"
#include "compose.h"
#include "cookie.h"
#include "judge.h"
#include "segment.h"
#include "talk.h"
#include "wait.h"

/* A cookie is good for two slots at most; then nobody can be talking any more. */
#define BUSY_LATELY (2ULL << COOKIE_SLOT_SHIFT)

#define BUSY_CHOICE_LISTENER                                                                       \
	(STILE_JUDGES_MAX + 1)		/* 0: the interface's limiter, then the judges */
#define BUSY_WAIT_UNKNOWN 1000000000ULL /* ns */
#define BUSY_WAIT_MAX (1U << 30)	/* ms: twelve days */

/* What busy_segment() returns but the kind of reply that the frame is now. */
#define BUSY_FOREIGN (-1) /* a segment of somebody else's connection */
#define BUSY_SILENT (-2)  /* ours, and there is nothing to send */

static __always_inline __u64 busy_now(void)
{
	return clock_tick();
}

/* When the listener refused somebody in his language last, or NULL. */
static __always_inline __u64 *busy_refused_at(const __u32 *listener)
{
	return bpf_map_lookup_elem(&stile_refusals, listener);
}

/* Whether a segment of a connection to the listener may be one of ours. */
static __always_inline bool busy_is_possible(const __u32 *listener)
{
	const __u64 *at;

	if (!policy.converses)
		return false;
	at = busy_refused_at(listener);
	return at && unlikely(*at) && busy_now() - *at < BUSY_LATELY;
}

/* Who judges events of @pkt's sender at @listener, and so what it may be told. */
static __always_inline void busy_party(struct scratch *scratch, const struct pkt *pkt,
				       __u32 listener)
{
	struct pkt_class class = {};

	classify_judges(pkt, listener, &class);
	scratch->judges = class.judges;
	scratch->edge = class.edge;
	scratch->listener = listener;
}

/* The @choice-th attachment, or 0. */
static __always_inline __u32 busy_attachment(const struct scratch *scratch, __u32 choice)
{
	if (choice == 0)
		return scratch->edge;
	return choice <= STILE_JUDGES_MAX ? classify_judge(scratch->judges, choice - 1) : 0;
}

/* The slot of the answer that a conversation of @choice goes on with; 0: there is none any more. */
static __always_inline __u32 busy_answer(const struct scratch *scratch, __u32 choice)
{
	__u32 attachment = busy_attachment(scratch, choice), answer = 0;

	if (attachment)
		answer = policy.attachments[attachment & (STILE_ATTACHMENTS_MAX - 1)].answer;
	if (answer == 0)
		answer = policy.listeners[scratch->listener & (STILE_LISTENERS_MAX - 1)].answer;
	return answer;
}

/* ms that a refused client is told to wait: until each of its limiters would admit it. */
__attribute__((noinline)) int busy_wait(const struct pkt *pkt)
{
	struct scratch *scratch = compose_scratch();
	struct wait wait = {};
	__u64 ns;

	if (!pkt || !scratch)
		return 0;
	if (scratch->choice == BUSY_CHOICE_LISTENER)
		wait.longest = BUSY_WAIT_UNKNOWN;
	wait_ask_all(&wait, scratch->edge, scratch->judges, &pkt->source);
	/* A limiter may read a clock that is up to a tick behind. */
	ns = (wait.longest ? wait.longest : wait.window) + policy.tick;
	ns = (ns + WAIT_MS - 1) / WAIT_MS;
	return ns < BUSY_WAIT_MAX ? ns : BUSY_WAIT_MAX;
}

/* What stands for the attachment @refused in a cookie. */
static __always_inline __u32 busy_choice(const struct scratch *scratch, __u32 refused)
{
	__u32 choice = BUSY_CHOICE_LISTENER, i;

	unrolled
	for (i = 0; i <= STILE_JUDGES_MAX; i++) {
		if (refused && busy_attachment(scratch, i) == refused)
			choice = i;
	}
	return choice;
}

/*
 * The slot of the listener whose words a SYN gets that the attachment @refused refused, or, where
 * that is 0, the listener itself. 0: there are none.
 */
__attribute__((noinline)) int busy_speaks(const struct pkt *pkt, __u32 refused)
{
	__u32 listener;

	if (!pkt)
		return 0;
	refused &= STILE_ATTACHMENTS_MAX - 1;
	if (refused)
		return policy.attachments[refused].answer ? policy.attachments[refused].listener
							  : 0;
	listener = classify_listener(pkt) & (STILE_LISTENERS_MAX - 1);
	return policy.listeners[listener].answer ? listener : 0;
}

/* The TCP header, or NULL. */
static __always_inline struct tcphdr *busy_tcp(struct xdp_md *ctx, const struct pkt *pkt)
{
	void *data = (void *)(long)ctx->data;
	struct tcphdr *tcp;
	__u32 l4 = pkt->l4;

	opaque(l4); /* verifier: the register that is checked is the one that is used */
	if (l4 > PARSE_OFFSET_MAX)
		return NULL;
	tcp = data + l4;
	return (void *)(tcp + 1) <= (void *)(long)ctx->data_end ? tcp : NULL;
}

/* Whether the SYN has room for an option: nobody gets more than he sent. */
static __always_inline bool busy_has_options(struct xdp_md *ctx, const struct pkt *pkt)
{
	const struct tcphdr *tcp = busy_tcp(ctx, pkt);

	return tcp && tcp->doff > sizeof(*tcp) / 4;
}

/* A segment without data. As segment_send(). */
static __always_inline int busy_send(struct xdp_md *ctx, const struct pkt *pkt,
				     struct segment *segment, __u8 flags)
{
	segment->flags = flags;
	segment->end_flags = 0;
	segment->length = 0;
	segment->ends = 0;
	return segment_send(ctx, pkt);
}

/* Answers a SYN at @listener that @refused refused: the first segment of a conversation. */
__attribute__((noinline)) int busy_begin(struct xdp_md *ctx, const struct pkt *pkt, __u32 listener,
					 __u32 refused)
{
	struct scratch *scratch = compose_scratch();
	__u64 now = busy_now(), *at;
	struct segment *segment;

	if (!pkt || !scratch)
		return -1;
	at = busy_refused_at(&listener);
	if (!at)
		return -1;
	if (*at != now)
		*at = now;
	busy_party(scratch, pkt, listener);
	segment = &scratch->segment;
	segment->has_mss = busy_has_options(ctx, pkt);
	segment->acknowledgment = pkt->sequence + 1;
	segment->sequence = cookie_make((const __u64 *)policy.cookie_key, pkt, now,
					busy_choice(scratch, refused));
	return busy_send(ctx, pkt, segment, FLAG_SYN | FLAG_ACK);
}

/* The window that the segment states; negative: no client of ours sends such a segment. */
static __always_inline int busy_window(struct xdp_md *ctx, const struct pkt *pkt)
{
	const struct tcphdr *tcp = busy_tcp(ctx, pkt);

	/* We offered no options, so it has none; connections of others mostly have time stamps. */
	return tcp && tcp->ack && tcp->doff == sizeof(*tcp) / 4 ? swap16(tcp->window) : -1;
}

/* How far it is into a conversation, see cookie_distance(); negative: it is in none. */
__attribute__((noinline)) int busy_distance(const struct pkt *pkt)
{
	__u32 distance;

	if (!pkt)
		return -1;
	distance = cookie_distance((const __u64 *)policy.cookie_key, pkt, busy_now());
	return distance < COOKIE_CHOICES << COOKIE_CHOICE_SHIFT ? (int)distance : -1;
}

/* The answer of the conversation that the segment may belong to, or NULL. */
static __always_inline struct stile_answer *busy_look(struct scratch *scratch,
						      const struct pkt *pkt, __u32 listener)
{
	struct stile_answer *answer;
	int distance = busy_distance(pkt);

	if (distance < 0)
		return NULL;
	scratch->has = distance & ((1U << COOKIE_CHOICE_SHIFT) - 1);
	busy_party(scratch, pkt, listener);
	scratch->choice = distance >> COOKIE_CHOICE_SHIFT;
	scratch->say.answer = busy_answer(scratch, scratch->choice);
	if (scratch->say.answer == 0)
		return NULL;
	answer = compose_answer(scratch->say.answer);
	return answer && talk_can_have(answer, scratch->has) ? answer : NULL;
}

/* The rule by which a client gets what it has not got yet. */
static __always_inline const struct stile_answer_rule *busy_rule(struct xdp_md *ctx,
								 const struct pkt *pkt,
								 const struct stile_answer *answer,
								 struct scratch *scratch)
{
	int match;

	scratch->say.request_length = 0;
	if (scratch->has > answer->prelude)
		return talk_continued(answer, scratch->has);
	scratch->say.request = pkt->l4 + sizeof(struct tcphdr);
	scratch->say.request_length = pkt->payload;
	match = compose_match(ctx);
	return match < 0 ? talk_last(answer) : talk_rule(answer, match);
}

/*
 * What a piece that is not the last acknowledges: not all of the request. Where a piece is lost the
 * client sends the rest again, and nobody else would.
 */
static __always_inline __u32 busy_acknowledged(const struct pkt *pkt,
					       const struct stile_answer *answer)
{
	if (pkt->payload || pkt->flags & FLAG_FIN || answer->speaks_first)
		return pkt->sequence;
	return pkt->sequence - 1;
}

/* Which part of the answer is next, and in what segment. */
static __always_inline void busy_next(struct xdp_md *ctx, const struct pkt *pkt,
				      const struct stile_answer *answer, struct scratch *scratch)
{
	const struct stile_answer_rule *rule = busy_rule(ctx, pkt, answer, scratch);
	__u32 from = scratch->has > answer->prelude ? scratch->has : 0;
	__u32 room = pkt->ipv4 ? SEGMENT_IPV4_MAX : SEGMENT_IPV6_MAX;
	__u32 left = rule->length > from ? rule->length - from : 0;

	if (room > scratch->window)
		room = scratch->window;
	scratch->say.first = rule->first + from;
	scratch->say.length = left < room ? left : room;
	scratch->segment.length = scratch->say.length;
	scratch->segment.flags = left ? FLAG_ACK | FLAG_PSH : FLAG_ACK;
	scratch->segment.end_flags = rule->goes_on ? 0 : FLAG_FIN;
	scratch->segment.ends = left <= room;
	scratch->segment.end_acknowledgment = scratch->segment.acknowledgment;
	scratch->segment.acknowledgment = busy_acknowledged(pkt, answer);
	scratch->segment.side = talk_side(answer, rule);
	scratch->segment.from = from;
	scratch->segment.never = talk_other_end(answer);
}

/* Has it said. The kind of reply. */
static __always_inline int busy_say(struct xdp_md *ctx, const struct pkt *pkt,
				    const struct stile_answer *answer, struct scratch *scratch)
{
	busy_next(ctx, pkt, answer, scratch);
	if (answer->n_patches)
		scratch->say.wait = busy_wait(pkt);
	if (compose(ctx) || segment_send(ctx, pkt))
		return STILE_REPLY_FAILED;
	return answer->length ? STILE_REPLY_BUSY : STILE_REPLY_CLOSE;
}

/* What the segment gets: BUSY_SILENT, or the kind of reply. */
static __always_inline int busy_take(struct xdp_md *ctx, const struct pkt *pkt,
				     const struct stile_answer *answer, struct scratch *scratch)
{
	__u32 fin = pkt->flags & FLAG_FIN ? 1 : 0;

	scratch->segment.sequence = pkt->acknowledgment;
	scratch->segment.acknowledgment = pkt->sequence + pkt->payload + fin;
	scratch->segment.has_mss = 0;
	switch (talk_step(answer, pkt, scratch->has, scratch->window)) {
	case TALK_SAY:
		return busy_say(ctx, pkt, answer, scratch);
	case TALK_ACK:
		return busy_send(ctx, pkt, &scratch->segment, FLAG_ACK) ? STILE_REPLY_FAILED
									: STILE_REPLY_ACK;
	default:
		return BUSY_SILENT;
	}
}

/*
 * A segment to @listener that opens no connection: BUSY_FOREIGN, BUSY_SILENT, or the kind of reply
 * (enum stile_reply) that the frame is now. A connection that the host knows is never touched.
 */
__attribute__((noinline)) int busy_segment(struct xdp_md *ctx, const struct pkt *pkt,
					   __u32 listener)
{
	struct scratch *scratch = compose_scratch();
	struct stile_answer *answer;
	int window, reply;

	if (!pkt || !scratch)
		return BUSY_FOREIGN;
	window = busy_window(ctx, pkt);
	if (window < 0 || !judge_may_answer(pkt))
		return BUSY_FOREIGN;
	scratch->window = window;
	answer = busy_look(scratch, pkt, listener);
	if (!answer || attempt_has_socket(ctx, pkt))
		return BUSY_FOREIGN;
	reply = busy_take(ctx, pkt, answer, scratch);
	if (reply == BUSY_SILENT)
		return reply;
	account_reply(reply);
	return reply == STILE_REPLY_FAILED ? BUSY_SILENT : reply;
}

#endif /* STILE_BPF_BUSY_H */
