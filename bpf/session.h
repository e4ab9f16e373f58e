/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sessions as the limiters' events: a datagram opens one, belongs to one that was let in, or to one
 * that is held until its limiter could let another in. Global functions: where no limiter counts
 * sessions, the program calls none of them.
 */
#ifndef STILE_BPF_SESSION_H
#define STILE_BPF_SESSION_H

#include "account.h"
#include "charge.h"
#include "classify.h"
#include "flow.h"
#include "maps.h"
#include "wait.h"

/* A lowered burst may ask for more than a session can be held for; then it is judged again. */
#define SESSION_HOLD_MAX (2 * STILE_WINDOW_NS_MAX)

static __always_inline bool session_counts(__u32 attachment)
{
	return attachment &&
	       charge_limiter_at(charge_slot(attachment))->unit != STILE_UNIT_DATAGRAMS;
}

/* The slot of the listener that these limiters judge at, if one counts sessions; otherwise 0. */
__attribute__((noinline)) int session_listener(__u32 edge, __u64 judges)
{
	__u32 i, attachment = edge;
	int listener = 0;

	unrolled
	for (i = 0; i <= STILE_JUDGES_MAX; i++) {
		if (session_counts(attachment))
			listener = policy.attachments[attachment & (STILE_ATTACHMENTS_MAX - 1)]
					   .listener;
		attachment = classify_judge(judges, i & (STILE_JUDGES_MAX - 1));
	}
	return listener;
}

/*
 * Those of @judges that count datagrams, with no gap between them. A client with a session that was
 * let in is none that is new.
 */
__attribute__((noinline)) __u64 session_others(__u64 judges)
{
	__u64 others = 0;
	__u32 i, attachment;

	unrolled
	for (i = 0; i < STILE_JUDGES_MAX; i++) {
		attachment = classify_judge(judges, STILE_JUDGES_MAX - 1 - i);
		if (attachment && !session_counts(attachment) && !charge_is_for_new(attachment))
			others = classify_put_before(others, attachment);
	}
	return others;
}

/* Leaves the limiters that count datagrams in charge. */
static __always_inline void session_leave_others(struct pkt_class *class)
{
	class->judges = session_others(class->judges);
	if (session_counts(class->edge))
		class->edge = 0;
}

/* Until when a session at @listener that was seen at @now may be silent. */
static __always_inline __u32 session_until(__u32 listener, __u32 now)
{
	return now + policy.listeners[listener & (STILE_LISTENERS_MAX - 1)].session_idle + 1;
}

/* What is known of the datagram's session, which it keeps open: an enum flow_kind. */
__attribute__((noinline)) int session_look(const struct pkt *pkt, __u32 listener)
{
	__u32 now = flow_time(wait_now());
	struct stile_flow_set *set;
	__u64 tag, word, *place;

	if (!pkt)
		return FLOW_NONE;
	set = wait_set(pkt, &tag);
	if (!set)
		return FLOW_NONE;
	word = flow_find(set, tag, now, &place);
	if (word == 0)
		return FLOW_NONE;
	if (flow_kind(word) >= FLOW_NEW)
		flow_touch(place, word, session_until(listener, now));
	return flow_kind(word);
}

static __always_inline void session_put(const struct pkt *pkt, enum flow_kind kind, __u32 until,
					__u32 now)
{
	struct stile_flow_set *set;
	enum flow_room room;
	__u64 tag;

	set = wait_set(pkt, &tag);
	if (!set)
		return;
	room = flow_put(set, flow_word(tag, kind, until), now);
	if (room != FLOW_ROOM_FREE)
		account_table(0, room == FLOW_ROOM_EVICTED);
}

/* Its session was let in. */
__attribute__((noinline)) int session_open(const struct pkt *pkt, __u32 listener)
{
	__u32 now = flow_time(wait_now());

	if (pkt)
		session_put(pkt, FLOW_NEW, session_until(listener, now), now);
	return 0;
}

/* Its session was refused: it is held until the limiter that refused could let another one in. */
__attribute__((noinline)) int session_hold(const struct pkt *pkt, __u32 refused, __u32 reason,
					   __u32 kind)
{
	const struct stile_limiter *limiter = charge_limiter_at(charge_slot(refused));
	__u64 now = wait_now(), wait = limiter->window;

	if (!pkt)
		return 0;
	if (reason == STILE_REASON_LIMITED)
		wait = wait_of(charge_slot(refused), &pkt->source, 0);
	if (wait > SESSION_HOLD_MAX)
		wait = SESSION_HOLD_MAX;
	/* A limiter may read a clock that is up to a tick ahead of this one. */
	session_put(pkt, kind, flow_time(now + wait + policy.tick) + 1, flow_time(now));
	return 0;
}

/* What its datagrams get from now on. */
static __always_inline enum flow_kind session_kind(const struct ruling *ruling)
{
	if (ruling->verdict != STILE_VERDICT_REPLY)
		return FLOW_HELD;
	return ruling->reply == STILE_REPLY_BUSY ? FLOW_HELD_BUSY : FLOW_HELD_ANSWERED;
}

static __always_inline void session_remember(const struct pkt *pkt, __u32 listener,
					     const struct ruling *ruling)
{
	if (ruling->refused && charge_is_for_new(ruling->refused))
		return; /* or forged sources would fill this table, too */
	if (ruling->refused)
		session_hold(pkt, ruling->refused, ruling->reason, session_kind(ruling));
	else
		session_open(pkt, listener);
}

#endif /* STILE_BPF_SESSION_H */
