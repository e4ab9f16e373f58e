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

/* Makes room for a client that has no bucket yet. An enum table_room. */
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
 * Judges and charges. An event that lost every race is refused: never more than the limit. An enum
 * table_answer, or CHARGE_NO_TABLE.
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
		if (room == TABLE_ROOM_NONE)
			return TABLE_FULL;
		if (room == TABLE_ROOM_BUSY)
			break;
	}
	return TABLE_LIMITED;
}

/* The limiters of one event, as it goes through them. */
struct charge {
	struct charge_request request;
	__u16 attachments[CHARGE_LIMITERS]; /* slots, without gaps, up to the first 0 */
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
			break;
		answer = charge_limiter(charge_slot(attachment), &charge->request, CHARGE_PEEK);
		if (charge_refuses(attachment, answer)) {
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
		if (charge->answers[i] == TABLE_ALLOWED || charge->answers[i] == TABLE_COUNTED)
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
			break;
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

/* Counts what each limiter said, and gives the reason why the event may pass. */
static __always_inline enum stile_reason charge_account(const struct charge *charge)
{
	enum stile_reason reason = STILE_REASON_ALLOWED;
	__u32 i, answer;

	for (i = 0; i < CHARGE_LIMITERS; i++) {
		if (charge->attachments[i] == 0)
			break;
		answer = charge->answers[i];
		if (answer == CHARGE_NO_TABLE) {
			reason = STILE_REASON_NO_TABLE;
			continue;
		}
		account_decision(charge->attachments[i], answer);
		if (answer == TABLE_COUNTED)
			reason = STILE_REASON_COUNTED;
		else if (answer == TABLE_FULL && reason == STILE_REASON_ALLOWED)
			reason = STILE_REASON_FULL;
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
static __always_inline int charge_alone(struct charge *charge)
{
	__u32 attachment = charge->attachments[0], slot = charge_slot(attachment);
	int answer = TABLE_MISSING;
	struct charge_table table;
	struct table_set set;

	if (!charge_limiter_of(attachment)->wide && charge_open(slot, &charge->request, &table)) {
		set = table_set(table.words);
		answer = table_try(&set, table.limiter, &table.event);
	}
	if (unlikely(answer == TABLE_MISSING || answer == TABLE_RACED))
		answer = charge_one(slot, &charge->request);
	if (charge_refuses(attachment, answer)) {
		charge->refused = attachment;
		charge->refusal = answer;
		return 0;
	}
	charge->answers[0] = answer;
	return 1;
}

static __always_inline void charge_attach(struct charge *charge, const struct class *class)
{
	if (class->edge) {
		charge->attachments[0] = class->edge;
		__builtin_memcpy(&charge->attachments[1], class->judges, sizeof(class->judges));
		return;
	}
	__builtin_memcpy(charge->attachments, class->judges, sizeof(class->judges));
}

/* The ruling on an event that the limiters of @class judge. */
static __always_inline struct ruling charge_event(const struct pkt *pkt, const struct class *class,
						  __u64 hash)
{
	struct charge charge = { .request = { .source = pkt->source, .hash = hash } };
	int let_in;

	charge_attach(&charge, class);
	let_in = charge.attachments[1] ? charge_several(&charge) : charge_alone(&charge);
	if (let_in)
		return judge_pass(charge_account(&charge));
	account_decision(charge.refused, charge.refusal);
	return judge_refusal(pkt, charge_limiter_of(charge.refused)->action,
			     charge.refusal == TABLE_FULL ? STILE_REASON_FULL :
							    STILE_REASON_LIMITED);
}

#endif /* STILE_BPF_CHARGE_H */
