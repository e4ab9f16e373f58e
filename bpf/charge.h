/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limiters of one event: the interface's, then the listener's or the source's. All judge
 * before any is charged. Between the judging and the charging another CPU may empty a bucket; then
 * what was charged so far is given back, so that an event which is refused costs nobody anything.
 */
#ifndef STILE_BPF_CHARGE_H
#define STILE_BPF_CHARGE_H

#include "account.h"
#include "classify.h"
#include "maps.h"
#include "table.h"
#include "watchdog.h"

#define CHARGE_LIMITERS (STILE_JUDGES_MAX + 1)
#define CHARGE_NO_TABLE 100 /* beyond enum table_answer: the limiter has no table */
#define CHARGE_MIX                                                                                 \
	0x9e3779b97f4a7c15ULL /* odd, its bits evenly spread: 2^64 over the golden ratio */

enum charge_step { CHARGE_PEEK, CHARGE_TAKE, CHARGE_REFUND };

struct charge_request {
	struct address source;
	__u64 hash; /* of the packet, for the tallies' sake; see tally_next() */
};

static __always_inline __u64 charge_now(const volatile struct stile_limiter *limiter)
{
	if (limiter->clock == STILE_CLOCK_PRECISE)
		return bpf_ktime_get_ns();
	return bpf_jiffies64() * policy.tick + policy.tick_base;
}

/* A limiter, the set of its table that an event's client belongs to, and the event. */
struct charge_table {
	const struct stile_limiter *limiter;
	void *words;
	struct table_event event;
};

/* False: there is no such limiter, or it has no table. */
static __always_inline bool charge_open(__u32 slot, const struct charge_request *request,
					struct charge_table *ret_table)
{
	struct table_event *event = &ret_table->event;
	const struct stile_limiter *limiter;
	__u32 index = slot;
	void *map;

	opaque(slot); /* verifier: one register holds the slot and its bound */
	if (slot >= STILE_LIMITERS_MAX || !request)
		return false;
	limiter = (const struct stile_limiter *)&policy.limiters[slot];
	map = bpf_map_lookup_elem(&stile_limiters, &index);
	if (!map)
		return false;
	event->now = charge_now(limiter);
	event->random = (request->hash ^ event->now) * CHARGE_MIX >> 32;
	event->key = key_of(limiter, &request->source);
	index = key_set(limiter, &event->key);
	ret_table->limiter = limiter;
	ret_table->words = bpf_map_lookup_elem(map, &index);
	return ret_table->words;
}

static __always_inline int charge_step_of(const struct table_set *set,
					  const struct charge_table *table, __u32 step)
{
	if (step == CHARGE_TAKE)
		return table_try(set, table->limiter, &table->event);
	if (step == CHARGE_PEEK)
		return table_peek(set, table->limiter, &table->event);
	table_refund(set, table->limiter, &table->event);
	return TABLE_ALLOWED;
}

/*
 * One step of one limiter: an enum table_answer, or CHARGE_NO_TABLE. A global function, as
 * charge_claim is: the verifier looks at each by itself, and once.
 */
__attribute__((noinline)) int charge_limiter(__u32 slot, const struct charge_request *request,
					     __u32 step)
{
	struct charge_table table;
	struct table_set set;

	if (!charge_open(slot, request, &table))
		return CHARGE_NO_TABLE;
	if (table.limiter->wide) {
		set = table_set_wide(table.words);
		return charge_step_of(&set, &table, step);
	}
	set = table_set(table.words);
	return charge_step_of(&set, &table, step);
}

/* Makes room for a client that has no bucket yet, and charges it. An enum table_room. */
__attribute__((noinline)) int charge_claim(__u32 slot, const struct charge_request *request)
{
	struct charge_table table;
	enum table_room room;
	struct table_set set;

	if (!charge_open(slot, request, &table))
		return TABLE_ROOM_BUSY;
	if (table.limiter->wide) {
		set = table_set_wide(table.words);
		room = table_claim(&set, table.limiter, &table.event);
	} else {
		set = table_set(table.words);
		room = table_claim(&set, table.limiter, &table.event);
	}
	if (room == TABLE_ROOM_EVICTED || room == TABLE_ROOM_NONE)
		account_table(slot, room == TABLE_ROOM_EVICTED);
	return room;
}

/*
 * Judges and charges. An event that lost every race is over the limit: never more than that is let
 * in. An enum table_answer, or CHARGE_NO_TABLE.
 */
__attribute__((noinline)) int charge_one(__u32 slot, const struct charge_request *request)
{
	int answer, room, i;

	for (i = 0; i < TABLE_TRIES; i++) {
		answer = charge_limiter(slot, request, CHARGE_TAKE);
		if (likely(answer != TABLE_RACED && answer != TABLE_MISSING))
			return answer;
		if (answer == TABLE_RACED)
			continue;
		room = charge_claim(slot, request);
		if (room == TABLE_ROOM_FREE || room == TABLE_ROOM_EVICTED)
			return TABLE_ALLOWED;
		if (room == TABLE_ROOM_NONE)
			return TABLE_FULL;
		if (room == TABLE_ROOM_BUSY)
			break;
	}
	if (policy.limiters[slot & (STILE_LIMITERS_MAX - 1)].action == STILE_ACTION_COUNT)
		return TABLE_COUNTED;
	return TABLE_LIMITED;
}

/* The limiters of one event, as it goes through them. */
struct charge {
	struct charge_request request;
	__u16 attachments[CHARGE_LIMITERS]; /* slots; 0: none */
	__u8 answers[CHARGE_LIMITERS];	    /* enum table_answer */
	__u32 refused;			    /* attachment slot of the one that refused, or 0 */
	enum table_answer refusal;	    /* LIMITED or FULL */
};

static __always_inline __u32 charge_slot(__u32 attachment)
{
	return policy.attachments[attachment & (STILE_ATTACHMENTS_MAX - 1)].limiter;
}

static __always_inline const struct stile_limiter *charge_limiter_of(__u32 attachment)
{
	return (const struct stile_limiter *)&policy
		.limiters[charge_slot(attachment) & (STILE_LIMITERS_MAX - 1)];
}

static __always_inline bool charge_refuses(__u32 attachment, int answer)
{
	const struct stile_limiter *limiter = charge_limiter_of(attachment);

	if (answer == TABLE_FULL)
		return limiter->full == STILE_FULL_REJECT && limiter->action != STILE_ACTION_COUNT;
	return answer == TABLE_LIMITED;
}

/* Whether every limiter would let the event in; charges none. */
static __always_inline bool charge_peek(struct charge *charge)
{
	__u32 i, attachment;
	int answer;

	for (i = 0; i < CHARGE_LIMITERS; i++) {
		attachment = charge->attachments[i];
		if (attachment == 0)
			continue;
		answer = charge_limiter(charge_slot(attachment), &charge->request, CHARGE_PEEK);
		if (charge_refuses(attachment, answer)) {
			if (answer == TABLE_FULL)
				account_table(charge_slot(attachment), false);
			charge->refused = attachment;
			charge->refusal = answer;
			return false;
		}
	}
	return true;
}

static __always_inline void charge_give_back(struct charge *charge, __u32 n)
{
	__u32 i;

	for (i = 0; i < CHARGE_LIMITERS; i++) {
		if (i >= n)
			break;
		if (charge->attachments[i] != 0 &&
		    (charge->answers[i] == TABLE_ALLOWED || charge->answers[i] == TABLE_COUNTED))
			charge_limiter(charge_slot(charge->attachments[i]), &charge->request,
				       CHARGE_REFUND);
	}
}

static __always_inline bool charge_take(struct charge *charge)
{
	__u32 i, attachment;
	int answer;

	for (i = 0; i < CHARGE_LIMITERS; i++) {
		attachment = charge->attachments[i];
		if (attachment == 0)
			continue;
		answer = charge_one(charge_slot(attachment), &charge->request);
		if (charge_refuses(attachment, answer)) {
			charge->refused = attachment;
			charge->refusal = answer;
			charge_give_back(charge, i);
			return false;
		}
		charge->answers[i] = answer;
	}
	return true;
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

/* Several limiters: all judge before any is charged. 1: let in; 0: see charge->refused. */
__attribute__((noinline)) int charge_several(struct charge *charge)
{
	return charge && charge_peek(charge) && charge_take(charge);
}

/*
 * One limiter alone judges and charges in one step, and the first try of a client that has a
 * bucket already is made in place: most packets of most policies come this way.
 */
static __always_inline int charge_alone(__u32 attachment, const struct charge_request *request)
{
	const struct stile_limiter *limiter = charge_limiter_of(attachment);
	__u32 slot = charge_slot(attachment);
	int answer = TABLE_MISSING;
	struct charge_table table;
	struct table_set set;

	if (!limiter->wide && charge_open(slot, request, &table)) {
		set = table_set(table.words);
		answer = table_try(&set, table.limiter, &table.event);
	}
	if (unlikely(answer == TABLE_MISSING || answer == TABLE_RACED))
		return charge_one(slot, request);
	return answer;
}

static __always_inline struct ruling charge_refusal(const struct pkt *pkt, __u32 attachment,
						    int answer)
{
	if (watchdog_counts()) {
		account_decision(attachment, STILE_DECISION_COUNTED);
		return judge_pass(STILE_REASON_COUNTED);
	}
	account_decision(attachment, answer);
	return judge_refusal(pkt, charge_limiter_of(attachment)->action,
			     answer == TABLE_FULL ? STILE_REASON_FULL : STILE_REASON_LIMITED);
}

static __always_inline struct ruling charge_event_alone(const struct pkt *pkt, __u32 attachment,
							const struct charge_request *request)
{
	int answer = charge_alone(attachment, request);

	if (charge_refuses(attachment, answer))
		return charge_refusal(pkt, attachment, answer);
	if (answer == CHARGE_NO_TABLE)
		return judge_pass(STILE_REASON_NO_TABLE);
	account_decision(attachment, answer);
	return judge_pass(charge_reason(answer));
}

/* The ruling on an event that the limiters of @class judge. */
static __always_inline struct ruling charge_event(const struct pkt *pkt,
						  const struct pkt_class *class, __u64 hash)
{
	const struct charge_request request = { .source = pkt->source, .hash = hash };
	struct charge charge = {};
	__u32 i;

	if (class->edge == 0 && classify_judge(class->judges, 1) == 0)
		return charge_event_alone(pkt, classify_judge(class->judges, 0), &request);
	charge.request = request;
	charge.attachments[0] = class->edge;
	for (i = 0; i < STILE_JUDGES_MAX; i++)
		charge.attachments[i + 1] = classify_judge(class->judges, i);
	if (charge_several(&charge))
		return judge_pass(charge_account(&charge));
	return charge_refusal(pkt, charge.refused, charge.refusal);
}

#endif /* STILE_BPF_CHARGE_H */
