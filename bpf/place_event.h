/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A SYN at a listener whose limiters count places: what is known of it from the ones before it, and
 * what is kept of it for those that follow. Global functions, so that no frame of these lies on the
 * stack while limiters are asked, and other policies have nothing of them. Between stile_xdp() and
 * place_try() there is room for one frame of 64 bytes.
 */
#ifndef STILE_BPF_PLACE_EVENT_H
#define STILE_BPF_PLACE_EVENT_H

#include "connection.h"
#include "place.h"

static __always_inline __u32 place_slice(__u32 slot, __u64 now)
{
	return places_slice(charge_limiter_at(slot), now);
}

/* Ticks are fine enough for slices and silences. */
static __always_inline __u64 place_now(void)
{
	return clock_tick();
}

/* A limiter of places that has the handshake in its list; 0: none that is still the same. */
static __always_inline __u32 place_first(const struct stile_handshake *way)
{
	__u32 i, slot, first = 0;

	for (i = 0; i < PLACE_SLOTS; i++) {
		slot = way->slots[i];
		if (first == 0 && place_is_known(slot, way->generation))
			first = slot;
	}
	return first;
}

/* The handshake of a SYN that came again lives on, however many slices it takes. */
static __always_inline void place_renew(struct stile_handshake *way, __u64 now)
{
	__u32 slot = place_first(way), slice;

	if (slot == 0)
		return;
	slice = place_slice(slot, now);
	if (way->slice == slice)
		return;
	place_end(way, PLACES_END_RENEW);
	way->slice = slice;
}

/* What is known of @pkt: an enum charge_known, with the slot of what it waits for added. */
static __always_inline int place_look(const struct pkt *pkt)
{
	struct stile_handshake_set *set = place_set(pkt);
	struct stile_handshake *way;
	__u64 since, now = place_now();
	__u32 slot;

	if (!set)
		return 0;
	way = handshake_find(set, pkt);
	if (!way)
		return CHARGE_NEW;
	since = handshake_take_found(way, pkt);
	if (since == 0)
		return CHARGE_NEW;
	if (way->kind == STILE_HANDSHAKE_IN_FLIGHT) {
		place_renew(way, now);
		handshake_put(way, now);
		return CHARGE_IN_FLIGHT;
	}
	slot = place_first(way);
	handshake_put(way, slot ? since : 0); /* 0: what it waited for is no more */
	return slot ? CHARGE_WAITING + slot : CHARGE_NEW;
}

/* A SYN that came again, and whose socket is there. */
__attribute__((noinline)) int place_touch(const struct pkt *pkt)
{
	return pkt ? place_look(pkt) : CHARGE_NEW;
}

/* Before the limiters judge. 0: there is none that has not judged this SYN already. */
__attribute__((noinline)) int place_begin(const struct pkt *pkt, struct charge *charge)
{
	__u32 i, left = 0;
	int known;

	if (!pkt || !charge)
		return 1;
	known = place_look(pkt);
	if (known >= CHARGE_WAITING) {
		charge->known = CHARGE_WAITING;
		charge->request.waited = known - CHARGE_WAITING;
		return 1;
	}
	charge->known = known;
	if (known == CHARGE_NEW)
		return 1;
	for (i = 0; i < CHARGE_LIMITERS; i++) {
		if (bucket_holds(charge_limiter_at(charge_slot(charge->attachments[i]))))
			charge->attachments[i] = 0;
		left += charge->attachments[i];
	}
	return left;
}

/* The way of @charge's SYN, as the caller's: its own where it waited, or another. NULL: none. */
static __always_inline struct stile_handshake *place_way(const struct pkt *pkt,
							 const struct charge *charge)
{
	struct stile_handshake_set *set = place_set(pkt);
	struct stile_handshake *way;

	if (!set)
		return NULL;
	if (charge->known == CHARGE_WAITING) {
		way = handshake_find(set, pkt);
		if (way && handshake_take_found(way, pkt))
			return way;
	}
	return handshake_claim(set);
}

static __always_inline bool place_has(const struct charge *charge, __u32 i)
{
	return charge->attachments[i] &&
	       bucket_holds(charge_limiter_at(charge_slot(charge->attachments[i]))) &&
	       (charge->answers[i] == TABLE_ALLOWED || charge->answers[i] == TABLE_COUNTED);
}

/* One that was let in, or that waits at the limiter which refused. 0: it is not remembered. */
static __always_inline int place_write(const struct pkt *pkt, const struct charge *charge,
				       enum stile_handshake_kind kind)
{
	struct stile_handshake *way;
	__u64 now = place_now();
	__u32 i, slot = 0;

	way = place_way(pkt, charge);
	if (!way)
		return 0;
	handshake_write(way, pkt);
	for (i = 0; i < CHARGE_LIMITERS; i++) {
		way->slots[i] = 0;
		if (kind == STILE_HANDSHAKE_IN_FLIGHT && place_has(charge, i))
			way->slots[i] = slot = charge_slot(charge->attachments[i]);
	}
	if (kind == STILE_HANDSHAKE_WAITING)
		way->slots[0] = slot = charge_slot(charge->refused);
	way->kind = kind;
	way->silence = 0;
	way->generation = policy.generation;
	way->slice = place_slice(slot, now);
	handshake_put(way, slot ? now : 0);
	return slot;
}

/* A SYN that was let in. */
__attribute__((noinline)) int place_remember(const struct pkt *pkt, const struct charge *charge)
{
	if (!pkt || !charge || charge->known == CHARGE_IN_FLIGHT)
		return 0;
	return place_write(pkt, charge, STILE_HANDSHAKE_IN_FLIGHT);
}

/* One that has joined those who wait. */
__attribute__((noinline)) int place_remember_waiting(const struct pkt *pkt,
						     const struct charge *charge)
{
	return pkt && charge && place_write(pkt, charge, STILE_HANDSHAKE_WAITING);
}

/* Who waited and still finds no place: true where it goes on waiting. */
__attribute__((noinline)) int place_wait_on(const struct pkt *pkt, const struct charge *charge)
{
	struct stile_handshake_set *set;
	struct stile_handshake *way;
	__u64 since, now = place_now();
	__u32 slot, slice;
	bool same;

	if (!pkt || !charge)
		return false;
	slot = charge_slot(charge->refused);
	same = slot == charge->request.waited && charge->refusal == TABLE_LIMITED;
	set = place_set(pkt);
	if (!set)
		return false;
	way = handshake_find(set, pkt);
	if (!way)
		return false;
	since = handshake_take_found(way, pkt);
	if (since == 0)
		return false;
	slice = place_slice(slot, now);
	if (same && way->slice != slice) { /* the turn of the slice forgot it */
		same = place_change(slot, &pkt->source, slice, PLACES_JOIN);
		way->slice = slice;
	} else if (!same) {
		place_end(way, PLACES_LEAVE);
	}
	way->silence = handshake_silence(since, now);
	handshake_put(way, same ? since : 0);
	return same;
}

static __always_inline bool place_join(const struct pkt *pkt, const struct charge *charge)
{
	__u32 slot = charge_slot(charge->refused);

	if (charge->refusal != TABLE_LIMITED || !charge_queues(charge_limiter_at(slot)) ||
	    !place_change(slot, &pkt->source, 0, PLACES_JOIN))
		return false;
	if (place_remember_waiting(pkt, charge))
		return true;
	place_change(slot, &pkt->source, place_slice(slot, place_now()), PLACES_LEAVE);
	return false;
}

/* After a limiter had no room for the SYN: whether it waits for some. */
static __always_inline bool place_wait(const struct pkt *pkt, const struct charge *charge)
{
	if (charge->known == CHARGE_WAITING)
		return place_wait_on(pkt, charge);
	return place_join(pkt, charge);
}

/* Whether a connection of the client's may be closed for a new one. */
__attribute__((noinline)) int place_may_evict(const struct pkt *pkt, __u32 listener)
{
	return pkt && classify_has(listener, STILE_PLACES_EVICTED) &&
	       connection_held(listener, &pkt->source) > 0;
}

/* Asks the daemon to close a connection of the client's. False: it has none, or nobody reads. */
__attribute__((noinline)) int place_evict(const struct pkt *pkt, const struct charge *charge,
					  __u32 listener)
{
	struct stile_eviction eviction = { .listener = listener };

	if (!pkt || !charge)
		return false;
	eviction.limiter = charge_slot(charge->refused);
	if (charge->refusal != TABLE_LIMITED ||
	    !bucket_holds(charge_limiter_at(eviction.limiter)) || !place_may_evict(pkt, listener))
		return false;
	__builtin_memcpy(eviction.address, &pkt->source, sizeof(eviction.address));
	return bpf_ringbuf_output(&stile_evictions, &eviction, sizeof(eviction), 0) == 0;
}

#endif /* STILE_BPF_PLACE_EVENT_H */
