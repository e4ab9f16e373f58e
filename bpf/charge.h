/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limiters of one event: the interface's, then the listener's or the source's. All judge
 * before any is charged. Between the judging and the charging another CPU may empty a bucket, or
 * a limiter that is named twice may have had room for one; then what was charged so far is given
 * back, so that an event which is refused costs nobody anything.
 */
#ifndef STILE_BPF_CHARGE_H
#define STILE_BPF_CHARGE_H

#include "accept.h"
#include "account.h"
#include "classify.h"
#include "limiter.h"
#include "maps.h"
#include "place_event.h"
#include "refuse.h"
#include "watchdog.h"

#define CHARGE_NO_TABLE 100 /* beyond enum table_answer: the limiter has no table */

enum charge_step { CHARGE_PEEK, CHARGE_TAKE, CHARGE_REFUND };

static __always_inline int charge_step_of(const struct table_set *set,
					  const struct stile_limiter *limiter,
					  const struct table_event *event, __u32 step)
{
	if (step == CHARGE_TAKE)
		return table_try(set, limiter, event);
	if (step == CHARGE_PEEK)
		return table_peek(set, limiter, event);
	table_refund(set, limiter, event);
	return TABLE_ALLOWED;
}

/*
 * One step at a set that is open: an enum table_answer. A global function, as those that follow:
 * the verifier looks at each by itself, and once. But their stack adds up: kernel 6.1 rounds each
 * frame up to 32 bytes, and takes 512 from stile_xdp() down to charge_claim().
 */
__attribute__((noinline)) int charge_step(__u32 slot, struct stile_set *words,
					  const struct table_event *event, __u32 step)
{
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	struct table_set set;

	if (!words || !event)
		return CHARGE_NO_TABLE;
	if (limiter->wide) {
		set = table_set_wide((struct stile_set_wide *)words);
		return charge_step_of(&set, limiter, event, step);
	}
	set = table_set(words);
	return charge_step_of(&set, limiter, event, step);
}

/* An event that lost every race is over the limit: never more than that is let in. */
static __always_inline int charge_lost(__u32 slot)
{
	if (charge_limiter_at(slot)->action == STILE_ACTION_COUNT)
		return TABLE_COUNTED;
	return TABLE_LIMITED;
}

/* Charges a client that has no bucket yet: an enum table_answer; RACED: it may have one by now. */
static __always_inline int charge_new(__u32 slot, struct stile_set *words,
				      const struct table_event *event)
{
	int room = charge_claim(slot, words, event);

	if (likely(room == TABLE_ROOM_FREE))
		return TABLE_ALLOWED;
	if (room == TABLE_ROOM_RACED || room == TABLE_ROOM_BUSY)
		return room == TABLE_ROOM_RACED ? TABLE_RACED : charge_lost(slot);
	account_table(slot, room == TABLE_ROOM_EVICTED);
	return room == TABLE_ROOM_EVICTED ? TABLE_ALLOWED : TABLE_FULL;
}

/* Judges and charges, where the last @answer was TABLE_RACED or TABLE_MISSING. */
static __always_inline int charge_settle(__u32 slot, struct stile_set *words,
					 const struct table_event *event, int answer)
{
	int i;

	for (i = 0; i < TABLE_TRIES; i++) {
		if (answer == TABLE_MISSING)
			answer = charge_new(slot, words, event);
		if (answer == TABLE_RACED)
			answer = charge_step(slot, words, event, CHARGE_TAKE);
		if (answer != TABLE_RACED && answer != TABLE_MISSING)
			return answer;
	}
	return charge_lost(slot);
}

__attribute__((noinline)) int charge_again(__u32 slot, struct stile_set *words,
					   const struct table_event *event, int answer)
{
	return charge_settle(slot, words, event, answer);
}

/* One step of one limiter: an enum table_answer, or CHARGE_NO_TABLE. */
__attribute__((noinline)) int charge_limiter(__u32 slot, const struct charge_request *request,
					     __u32 step)
{
	struct table_event event;
	struct stile_set *words;

	if (!request)
		return CHARGE_NO_TABLE;
	words = charge_open(slot, charge_limiter_at(slot), &request->source, request->hash, &event);
	if (!words)
		return CHARGE_NO_TABLE;
	if (BUCKET_MAY_HOLD)
		event.waited = request->waited == slot;
	if (step == CHARGE_TAKE)
		return charge_settle(slot, words, &event, TABLE_RACED);
	return charge_step(slot, words, &event, step);
}

/* Asks one of them. False: the event will not be let in, whatever the others say. */
static __always_inline bool charge_peek_at(struct charge *charge, __u32 i, __u32 *client)
{
	const __u32 attachment = charge->attachments[i], slot = charge_slot(attachment);
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	int answer;

	if (attachment == 0)
		return true;
	answer = charge_limiter(slot, &charge->request, CHARGE_PEEK);
	if (i > 0) /* the interface's tells nothing of the listener's clients */
		*client |= charge_client_of(limiter, answer);
	if (!charge_refuses(limiter, answer) ||
	    (BUCKET_MAY_HOLD && charge->refused && charge_queues(limiter)))
		return true;
	if (answer == TABLE_FULL)
		account_table(slot, false);
	charge->refused = attachment;
	charge->refusal = answer;
	return answer != TABLE_FULL && charge_queues(limiter);
}

/*
 * Whether every limiter would let the event in; charges none. Where one refuses that lets events
 * wait, the others are asked as well: it only waits for what nothing else refuses. The one for new
 * clients comes last, and is out of it where the client is known.
 */
static __always_inline bool charge_peek(struct charge *charge)
{
	__u32 i, client = CHARGE_CLIENT_UNASKED;

	for (i = 0; i < CHARGE_FIRSTS; i++) {
		if (!charge_peek_at(charge, i, &client))
			return false;
	}
	if (!policy.new_sources)
		return charge->refused == 0;
	if (client != CHARGE_CLIENT_NEW && charge_is_for_new(charge->attachments[CHARGE_LAST]))
		charge->attachments[CHARGE_LAST] = 0;
	return charge_peek_at(charge, CHARGE_LAST, &client) && charge->refused == 0;
}

/* Whether an event that had this @answer was charged; an empty token bucket gives none. */
static __always_inline bool charge_took(const struct stile_limiter *limiter, int answer)
{
	return answer == TABLE_ALLOWED ||
	       (answer == TABLE_COUNTED && limiter->algorithm != STILE_ALGORITHM_TOKEN_BUCKET);
}

static __always_inline void charge_give_back_at(struct charge *charge, __u32 i)
{
	__u32 slot = charge_slot(charge->attachments[i]);

	if (charge->attachments[i] != 0 && charge_took(charge_limiter_at(slot), charge->answers[i]))
		charge_limiter(slot, &charge->request, CHARGE_REFUND);
}

static __always_inline bool charge_take_at(struct charge *charge, __u32 i)
{
	const __u32 attachment = charge->attachments[i], slot = charge_slot(attachment);
	int answer;

	if (attachment == 0)
		return true;
	answer = charge_limiter(slot, &charge->request, CHARGE_TAKE);
	charge->answers[i] = answer;
	if (!charge_refuses(charge_limiter_at(slot), answer))
		return true;
	charge->refused = attachment;
	charge->refusal = answer;
	return false;
}

static __always_inline void charge_give_back(struct charge *charge, __u32 taken)
{
	__u32 i;

	if (charge_is_for_new(charge->attachments[CHARGE_LAST]))
		charge_give_back_at(charge, CHARGE_LAST);
	for (i = 0; i < CHARGE_FIRSTS; i++) {
		if (i < taken)
			charge_give_back_at(charge, i);
	}
}

static __always_inline bool charge_take_firsts(struct charge *charge)
{
	__u32 i;

	for (i = 0; i < CHARGE_FIRSTS; i++) {
		if (!charge_take_at(charge, i)) {
			charge_give_back(charge, i);
			return false;
		}
	}
	return true;
}

/*
 * One for new clients is charged first: whom it refuses, even where that is for a race that was
 * lost, must not have got a bucket of the others.
 */
static __always_inline bool charge_take(struct charge *charge)
{
	if (!policy.new_sources)
		return charge_take_firsts(charge);
	if (charge_is_for_new(charge->attachments[CHARGE_LAST]))
		return charge_take_at(charge, CHARGE_LAST) && charge_take_firsts(charge);
	if (!charge_take_firsts(charge))
		return false;
	if (charge_take_at(charge, CHARGE_LAST))
		return true;
	charge_give_back(charge, CHARGE_LAST);
	return false;
}

/* The reason why an event may pass, by what one limiter said. */
static __always_inline enum stile_reason charge_reason(int answer)
{
	if (answer == TABLE_COUNTED)
		return STILE_REASON_COUNTED;
	return answer == TABLE_FULL ? STILE_REASON_FULL : STILE_REASON_ALLOWED;
}

/* Counts what each limiter said. The reason: no_table before counted before full before allowed. */
static __always_inline enum stile_reason charge_account(const struct charge *charge)
{
	enum stile_reason reason = STILE_REASON_ALLOWED;
	__u32 i, answer;

	for (i = 0; i < CHARGE_LIMITERS; i++) {
		if (charge->attachments[i] == 0)
			continue;
		answer = charge->answers[i];
		if (answer == CHARGE_NO_TABLE) {
			reason = STILE_REASON_NO_TABLE;
			continue;
		}
		account_decision(charge->attachments[i], answer);
		if (reason == STILE_REASON_ALLOWED ||
		    (reason == STILE_REASON_FULL && answer == TABLE_COUNTED))
			reason = charge_reason(answer);
	}
	return reason;
}

/*
 * One limiter alone judges and charges in one step, and the first try is made in place: most
 * packets of most policies come this way.
 */
static __always_inline int charge_alone(__u32 slot, const struct stile_limiter *limiter,
					const struct address *source, __u64 hash)
{
	struct table_event event, again;
	int answer = TABLE_RACED;
	struct stile_set *words;
	struct table_set set;

	words = charge_open(slot, limiter, source, hash, &event);
	if (!words)
		return CHARGE_NO_TABLE;
	if (likely(!limiter->wide)) {
		set = table_set(words);
		answer = table_try(&set, limiter, &event);
	}
	if (likely(answer != TABLE_MISSING && answer != TABLE_RACED))
		return answer;
	again = event; /* a copy, so that the event itself can stay in registers */
	if (answer == TABLE_MISSING)
		answer = charge_new(slot, words, &again);
	if (likely(answer != TABLE_RACED))
		return answer;
	return charge_again(slot, words, &again, answer);
}

static __always_inline struct ruling charge_refusal(const struct pkt *pkt, __u32 attachment,
						    int answer)
{
	if (watchdog_counts()) {
		account_decision(attachment, STILE_DECISION_COUNTED);
		return judge_pass(STILE_REASON_COUNTED);
	}
	account_decision(attachment, answer);
	return refuse(pkt, attachment, charge_limiter_at(charge_slot(attachment))->action,
		      answer == TABLE_FULL ? STILE_REASON_FULL : STILE_REASON_LIMITED);
}

static __always_inline struct ruling charge_event_alone(const struct pkt *pkt, __u32 attachment,
							__u64 hash)
{
	__u32 slot = charge_slot(attachment);
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	int answer = charge_alone(slot, limiter, &pkt->source, hash);

	if (charge_refuses(limiter, answer))
		return charge_refusal(pkt, attachment, answer);
	if (answer == CHARGE_NO_TABLE)
		return judge_pass(STILE_REASON_NO_TABLE);
	account_decision(attachment, answer);
	return judge_pass(charge_reason(answer));
}

/* Whether a client that the limiter refuses may get in all the same, once it is proven. */
static __always_inline bool charge_makes_room(const struct pkt *pkt, const struct charge *charge,
					      __u32 listener)
{
	return BUCKET_MAY_HOLD && charge->refusal == TABLE_LIMITED &&
	       (charge_queues(charge_limiter_at(charge_slot(charge->refused))) ||
		place_may_evict(pkt, listener));
}

/* Clients over a limit that can be told so are; all others prove first that they are there. */
static __always_inline struct ruling
charge_unproven(const struct pkt *pkt, const struct charge *charge, bool admitted, __u32 listener)
{
	const struct ruling challenge = { STILE_VERDICT_REPLY, STILE_REASON_CHALLENGED,
					  STILE_REPLY_CHALLENGE, 0 };

	if (admitted || watchdog_counts() || !refuse_speaks_tcp(charge->refused) ||
	    charge_makes_room(pkt, charge, listener))
		return challenge;
	return charge_refusal(pkt, charge->refused, charge->refusal);
}

/* One for new clients, where there is any, is put in the last place, which is free then. */
static __always_inline void charge_put_judges(struct charge *charge, __u64 judges)
{
	__u32 i, attachment;

	for (i = 0; i < STILE_JUDGES_MAX; i++) {
		attachment = classify_judge(judges, i);
		if (charge_is_for_new(attachment))
			charge->attachments[CHARGE_LAST] = attachment;
		else if (attachment)
			charge->attachments[i + 1] = attachment;
	}
}

static __always_inline struct ruling charge_event_several(struct xdp_md *ctx, const struct pkt *pkt,
							  const struct pkt_class *class, __u64 hash)
{
	struct charge charge = { .request = { .source = pkt->source, .hash = hash } };
	const bool places = classify_has_places(class->listener);
	bool admitted;

	charge.attachments[0] = class->edge;
	charge_put_judges(&charge, class->judges);
	if (places && !class->unproven && !place_begin(pkt, &charge))
		return judge_pass(STILE_REASON_REPEATED);
	admitted = charge_peek(&charge);
	if (policy.proves && class->unproven)
		return charge_unproven(pkt, &charge, admitted, class->listener);
	if (admitted && classify_has_queue(class->listener) &&
	    accept_sheds(ctx, pkt, class->listener))
		return accept_refusal(pkt);
	if (admitted && charge_take(&charge)) {
		if (places)
			place_remember(pkt, &charge);
		return judge_pass(class->edge == 0 && class->judges == 0 ? STILE_REASON_UNLIMITED
									 : charge_account(&charge));
	}
	if (places && !watchdog_counts() && place_wait(pkt, &charge))
		return judge_drop(STILE_REASON_WAITING);
	if (places && !watchdog_counts() && place_evict(pkt, &charge, class->listener)) {
		account_decision(charge.refused, STILE_DECISION_LIMITED);
		return judge_drop(STILE_REASON_EVICTING);
	}
	return charge_refusal(pkt, charge.refused, charge.refusal);
}

static __always_inline struct ruling charge_event(struct xdp_md *ctx, const struct pkt *pkt,
						  const struct pkt_class *class, __u64 hash)
{
	if (!class->unproven && class->edge == 0 && classify_judge(class->judges, 1) == 0 &&
	    !classify_has_queue(class->listener) && !classify_has_places(class->listener))
		return charge_event_alone(pkt, classify_judge(class->judges, 0), hash);
	return charge_event_several(ctx, pkt, class, hash);
}

#endif /* STILE_BPF_CHARGE_H */
