/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The places of a connection: those that its handshake took, where that is known, and those of the
 * limiters that would have judged it. All under the socket's lock, as in connection.h.
 */
#ifndef STILE_BPF_PLACE_SOCKET_H
#define STILE_BPF_PLACE_SOCKET_H

#include "place.h"

/* Gives the places of a connection back; those of establishments only, where it was @answered. */
shared_function int place_leave(struct stile_socket *note, __u32 answered)
{
	struct address client;
	__u32 i, slot;

	if (!note)
		return 0;
	note->awaits = 0;
	__builtin_memcpy(&client, note->address, sizeof(client));
	for (i = 0; i < PLACE_SLOTS; i++) {
		slot = note->places[i];
		if (answered && charge_limiter_at(slot)->unit != STILE_UNIT_ESTABLISHMENTS)
			continue;
		note->places[i] = 0;
		if (place_is_known(slot, note->generation))
			place_change(slot, &client, 0, PLACES_CLOSE);
	}
	return 0;
}

static __always_inline bool place_lists(const struct stile_socket *note, __u32 slot)
{
	__u32 i, found = 0;

	for (i = 0; i < PLACE_SLOTS; i++)
		found |= note->places[i] == slot;
	return found;
}

static __always_inline void place_list(struct stile_socket *note, __u32 slot)
{
	__u32 i;

	for (i = 0; i < PLACE_SLOTS; i++) {
		if (note->places[i] == 0) {
			note->places[i] = slot;
			return;
		}
	}
}

/* The places of the handshake that @note's connection comes of, if it is known, are its own now. */
static __always_inline void place_take_over(const struct pkt *pkt, struct stile_socket *note)
{
	struct stile_handshake_set *set = place_set(pkt);
	struct stile_handshake *way;
	__u32 i, slot;

	if (!set)
		return;
	way = handshake_find(set, pkt);
	if (!way || !handshake_take_found(way, pkt))
		return;
	if (way->kind == STILE_HANDSHAKE_WAITING)
		place_end(way, PLACES_LEAVE);
	for (i = 0; i < PLACE_SLOTS && way->kind == STILE_HANDSHAKE_IN_FLIGHT; i++) {
		slot = way->slots[i];
		if (!place_is_known(slot, way->generation))
			continue;
		if (place_change(slot, &pkt->source, way->slice, PLACES_END_OPEN) ||
		    place_open(slot, &pkt->source))
			place_list(note, slot);
	}
	handshake_put(way, 0);
}

/* Counts @note's connection where it has no place of a limiter that would have judged it. */
static __always_inline void place_count(const struct pkt *pkt, __u32 listener,
					struct stile_socket *note)
{
	struct pkt_class class = {};
	__u32 i, slot;

	if (!policy.enabled || !classify_judges(pkt, listener, &class) ||
	    classify_trusted(&pkt->source))
		return;
	for (i = 0; i < STILE_JUDGES_MAX; i++) {
		slot = charge_slot(classify_judge(class.judges, i));
		if (slot == 0 || !bucket_holds(charge_limiter_at(slot)) || place_lists(note, slot))
			continue;
		if (charge_limiter_at(slot)->unit == STILE_UNIT_ESTABLISHMENTS && !note->awaits)
			continue;
		if (place_open(slot, &pkt->source))
			place_list(note, slot);
	}
}

/*
 * Gives a connection, whose client @pkt is as if from, the places of @listener's limiters. @fresh:
 * it has just been established.
 */
shared_function int place_enter(const struct pkt *pkt, __u32 listener, struct stile_socket *note,
				__u32 fresh)
{
	__u32 i;

	if (!pkt || !note)
		return 0;
	for (i = 0; i < PLACE_SLOTS; i++) {
		if (!place_is_known(note->places[i], note->generation))
			note->places[i] = 0;
	}
	listener &= STILE_LISTENERS_MAX - 1;
	if (fresh) {
		note->awaits = classify_has(listener, STILE_PLACES_AWAITED);
		place_take_over(pkt, note);
	}
	place_count(pkt, listener, note);
	note->generation = policy.generation;
	return 0;
}

#endif /* STILE_BPF_PLACE_SOCKET_H */
