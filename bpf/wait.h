/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a client that was refused has to wait: what every answer tells it that has a place for
 * it. Whoever waits that long and asks again is let in, if nobody else spent what its limiters had
 * meanwhile. Reads buckets and sessions, and changes none.
 */
#ifndef STILE_BPF_WAIT_H
#define STILE_BPF_WAIT_H

#include "charge.h"
#include "classify.h"
#include "flow.h"
#include "maps.h"

#define WAIT_MS 1000000 /* ns */
#define WAIT_UNKNOWN (~0ULL)
#define WAIT_NEVER (~0ULL - 1)
#define WAIT_DEFAULT 1000000000ULL /* ns: what a client is told where nobody can tell */

static __always_inline __u64 wait_now(void)
{
	return clock_tick();
}

static __always_inline struct stile_flow_set *wait_set(const struct pkt *pkt, __u64 *ret_tag)
{
	__u64 hash = flow_hash((const __u64 *)policy.flow_keys, pkt);
	__u32 index = flow_index(hash, policy.flow_sets);

	*ret_tag = flow_tag(hash);
	return bpf_map_lookup_elem(&stile_flows, &index);
}

/*
 * ns until the bucket of @source would admit an event that it is asked for @ahead times before, if
 * none came; 0: it would now. WAIT_UNKNOWN: it has no bucket; WAIT_NEVER: no room for so many.
 */
__attribute__((noinline)) __u64 wait_of(__u32 slot, const struct address *source, __u32 ahead)
{
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	struct table_event event;
	struct stile_set *words;
	struct table_set set;
	__u32 way;

	if (!source)
		return 0;
	if (ahead >= bucket_room(limiter))
		return WAIT_NEVER;
	words = charge_open(slot, limiter, source, 0, &event);
	if (!words)
		return 0;
	set = limiter->wide ? table_set_wide((struct stile_set_wide *)words) : table_set(words);
	way = table_find(&set, &event.key);
	opaque(way); /* verifier: the register that is checked is the one that indexes */
	return way < set.ways
		       ? bucket_wait_behind(limiter, load_once(set.state[way]), event.now, ahead)
		       : WAIT_UNKNOWN;
}

/* ns until the datagram's session is held no more; 0: there is none; WAIT_UNKNOWN: it is open. */
__attribute__((noinline)) __u64 wait_of_session(const struct pkt *pkt)
{
	__u64 now = wait_now(), tag, word, *place;
	struct stile_flow_set *set;

	if (!pkt)
		return 0;
	set = wait_set(pkt, &tag);
	if (!set)
		return 0;
	word = flow_find(set, tag, flow_time(now), &place);
	if (word == 0 || flow_kind(word) >= FLOW_NEW)
		return word ? WAIT_UNKNOWN : 0;
	/* To where the unit begins in which it is let go. */
	return ((__u64)flow_left(word, flow_time(now)) << STILE_FLOW_SHIFT) -
	       (now & ((1ULL << STILE_FLOW_SHIFT) - 1));
}

/* The limiters of an event that was refused, as they are asked. */
struct wait {
	__u8 session;  /* 1: of the packet is let in: who counts sessions is not asked */
	__u8 client;   /* enum charge_client */
	__u32 slots;   /* of those that were asked, a byte each, the last one lowest */
	__u64 longest; /* ns until all that know the client would admit it */
	__u64 window;  /* of those that turn away whom they have no room for, and do not know it */
};

/* When a place in a table is free again. The window of places that are held is none to wait for. */
static __always_inline void wait_ask_window(struct wait *wait, const struct stile_limiter *limiter)
{
	__u64 window = bucket_holds(limiter) ? BUCKET_HOLD_WAIT : limiter->window;

	if (window > wait->window)
		wait->window = window;
}

/* How often a limiter has been asked for the event already. */
static __always_inline __u32 wait_ahead(struct wait *wait, __u32 slot)
{
	__u32 ahead = 0, i;

	unrolled
	for (i = 0; i < STILE_JUDGES_MAX; i++)
		ahead += (wait->slots >> 8 * i & 0xff) == slot;
	wait->slots = wait->slots << 8 | slot;
	return ahead;
}

static __always_inline void wait_ask(struct wait *wait, __u32 attachment,
				     const struct address *source)
{
	__u32 slot = charge_slot(attachment);
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	__u64 ns;

	if (attachment == 0 || (wait->session && limiter->unit != STILE_UNIT_DATAGRAMS))
		return;
	if (charge_is_for_new(attachment) && wait->client != CHARGE_CLIENT_NEW)
		return;
	if (limiter->action == STILE_ACTION_COUNT && !(policy.new_sources && limiter->keyed))
		return;
	ns = wait_of(slot, source, wait_ahead(wait, slot));
	if (limiter->keyed)
		wait->client |= ns == WAIT_UNKNOWN ? CHARGE_CLIENT_NEW : CHARGE_CLIENT_KNOWN;
	if (limiter->action == STILE_ACTION_COUNT)
		return;
	if (ns < WAIT_NEVER)
		wait->longest = ns > wait->longest ? ns : wait->longest;
	else if (ns == WAIT_NEVER || limiter->full == STILE_FULL_REJECT)
		wait_ask_window(wait, limiter);
}

static __always_inline void wait_ask_all(struct wait *wait, __u32 edge, __u64 judges,
					 const struct address *source)
{
	__u32 i;

	wait_ask(wait, edge, source);
	wait->client = CHARGE_CLIENT_UNASKED; /* as in charge_peek() */
	for (i = 0; i < STILE_JUDGES_MAX && classify_judge(judges, i); i++)
		wait_ask(wait, classify_judge(judges, i), source);
}

/*
 * ns until every limiter would admit an event like @pkt, which was refused. Where none has to be
 * waited for, a table is full, for as long as anybody can tell: a window.
 */
__attribute__((noinline)) __u64 wait_of_event(const struct pkt *pkt, bool session)
{
	struct wait wait = { .session = session };
	struct pkt_class class = {};

	if (!pkt)
		return 0;
	classify_judges(pkt, classify_listener(pkt), &class);
	wait_ask_all(&wait, class.edge, class.judges, &pkt->source);
	return wait.longest ? wait.longest : wait.window;
}

/* ms until the client of a packet that was refused is admitted, rounded up. */
static __always_inline __u32 wait_ms(const struct pkt *pkt)
{
	__u64 wait, held = 0;

	if (policy.flow_sets && pkt->protocol == STILE_PROTOCOL_UDP)
		held = wait_of_session(pkt);
	wait = wait_of_event(pkt, held == WAIT_UNKNOWN);
	if (held != WAIT_UNKNOWN && held > wait)
		wait = held;
	if (wait == 0)
		wait = WAIT_DEFAULT;
	/* A limiter may read a clock that is up to a tick behind the one that was read here. */
	return (wait + policy.tick + WAIT_MS - 1) / WAIT_MS;
}

#endif /* STILE_BPF_WAIT_H */
