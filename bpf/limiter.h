/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A limiter of the policy, its clock, and where a client is in its table; and an event, as it goes
 * through all of its limiters.
 */
#ifndef STILE_BPF_LIMITER_H
#define STILE_BPF_LIMITER_H

#include "maps.h"
#include "table.h"

#ifdef BUCKET_PURE
#error "maps.h has to be included before bucket.h"
#endif

#define CHARGE_MIX                                                                                 \
	0x9e3779b97f4a7c15ULL /* odd, its bits evenly spread: 2^64 over the golden ratio */

#define CHARGE_LIMITERS (STILE_JUDGES_MAX + 1)
#define CHARGE_LAST (CHARGE_LIMITERS - 1)
#define CHARGE_FIRSTS (policy.new_sources ? CHARGE_LAST : CHARGE_LIMITERS) /* asked before it */

struct charge_request {
	struct address source;
	__u64 hash;   /* of the packet, for the tallies' sake; see tally_next() */
	__u32 waited; /* slot of the limiter that it has waited for, or 0 */
};

/* What is known of a SYN from the ones before it. */
enum charge_known {
	CHARGE_NEW,
	CHARGE_IN_FLIGHT, /* it has its places already */
	CHARGE_WAITING,
};

/* The limiters of one event, as it goes through them. */
struct charge {
	struct charge_request request;
	__u16 attachments[CHARGE_LIMITERS]; /* slots; 0: none */
	__u8 answers[CHARGE_LIMITERS];	    /* enum table_answer */
	__u8 known;			    /* enum charge_known */
	__u8 refusal;			    /* LIMITED or FULL */
	__u16 refused;			    /* attachment slot of the one that refused, or 0 */
};

/* A pointer that the compiler keeps, and does not compute again for every field. */
static __always_inline const struct stile_limiter *charge_limiter_at(__u32 slot)
{
	const struct stile_limiter *limiter =
		(const struct stile_limiter *)&policy.limiters[slot & (STILE_LIMITERS_MAX - 1)];

	opaque(limiter);
	return limiter;
}

static __always_inline __u32 charge_slot(__u32 attachment)
{
	return policy.attachments[attachment & (STILE_ATTACHMENTS_MAX - 1)].limiter;
}

/* What the listener's limiters with keys know of a client: bits, of which KNOWN outweighs NEW. */
enum charge_client { CHARGE_CLIENT_UNASKED = 0, CHARGE_CLIENT_NEW = 1, CHARGE_CLIENT_KNOWN = 2 };

/* Whether the limiter of @attachment judges a client only where it is new to the others. */
static __always_inline bool charge_is_for_new(__u32 attachment)
{
	return policy.new_sources &&
	       policy.attachments[attachment & (STILE_ATTACHMENTS_MAX - 1)].new_sources;
}

/* Whether a limiter that has no room lets events wait for it. */
static __always_inline bool charge_queues(const struct stile_limiter *limiter)
{
	return bucket_holds(limiter) && limiter->queue;
}

static __always_inline __u64 charge_now(const struct stile_limiter *limiter)
{
	if (unlikely(limiter->clock == STILE_CLOCK_PRECISE))
		return clock_precise();
	return clock_tick();
}

/*
 * The set of the table of @limiter, in @slot, that an event's client belongs to, and the event as
 * the table is asked about it. NULL: there is no such limiter, or it has no table.
 */
static __always_inline struct stile_set *charge_open(__u32 slot,
						     const struct stile_limiter *limiter,
						     const struct address *source, __u64 hash,
						     struct table_event *ret_event)
{
	__u32 index = slot & (STILE_LIMITERS_MAX - 1);
	struct key_place place;
	void *map;

	map = bpf_map_lookup_elem(&stile_limiters, &index);
	if (!map)
		return NULL;
	ret_event->now = charge_now(limiter);
	ret_event->random = (hash ^ ret_event->now) * CHARGE_MIX >> 32;
	ret_event->key = key_of(limiter, source);
	place = key_place(limiter, &ret_event->key);
	ret_event->home = place.home;
	ret_event->waited = 0;
	index = place.set;
	return bpf_map_lookup_elem(map, &index);
}

static __always_inline bool charge_refuses(const struct stile_limiter *limiter, int answer)
{
	if (answer == TABLE_FULL)
		return limiter->full == STILE_FULL_REJECT && limiter->action != STILE_ACTION_COUNT;
	return answer == TABLE_LIMITED;
}

/* What the look tells of the client. Where there is no table, nobody is new: it is not to blame. */
static __always_inline __u32 charge_client_of(const struct stile_limiter *limiter, int answer)
{
	if (!policy.new_sources || !limiter->keyed)
		return CHARGE_CLIENT_UNASKED;
	return answer == TABLE_MISSING || answer == TABLE_FULL ? CHARGE_CLIENT_NEW
							       : CHARGE_CLIENT_KNOWN;
}

/* Makes room for a client that has no bucket yet. An enum table_room. */
shared_function int charge_claim(__u32 slot, struct stile_set *words,
				 const struct table_event *event)
{
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	struct table_set set;

	if (!words || !event)
		return TABLE_ROOM_BUSY;
	if (limiter->wide) {
		set = table_set_wide((struct stile_set_wide *)words);
		return table_claim(&set, limiter, event);
	}
	set = table_set(words);
	return table_claim(&set, limiter, event);
}

#endif /* STILE_BPF_LIMITER_H */
