/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of clients in the tables of limiters, beside being taken. Whoever has one (a handshake, a
 * connection) lists the slots of its limiters, and in which generation; a limiter whose table is
 * younger has never heard of it.
 */
#ifndef STILE_BPF_PLACE_H
#define STILE_BPF_PLACE_H

#include "classify.h"
#include "flow.h"
#include "handshake.h"
#include "limiter.h"
#include "maps.h"
#include "table_places.h"

#define PLACE_SLOTS (STILE_JUDGES_MAX + 1) /* of limiters, in a list */
#define PLACE_TRIES 8			   /* at a bucket that others change at the same time */

static __always_inline struct stile_handshake_set *place_set(const struct pkt *pkt)
{
	__u64 hash = flow_hash((const __u64 *)policy.flow_keys, pkt);
	__u32 index = flow_index(hash, policy.handshake_sets);

	return bpf_map_lookup_elem(&stile_handshakes, &index);
}

/*
 * One try at the bucket of @client, with the slice above the @change: as table_change_places(). The
 * set is opened and changed in one frame, and who calls it tries again, because there is no room
 * for another one on the stack.
 */
shared_function int place_try(__u32 slot, const struct address *client, __u32 change)
{
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	struct table_event event;
	struct stile_set *words;
	struct table_set set;

	if (!client)
		return TABLE_MISSING;
	words = charge_open(slot, limiter, client, 0, &event);
	if (!words)
		return TABLE_MISSING;
	if (limiter->wide) {
		set = table_set_wide((struct stile_set_wide *)words);
		return table_change_places(&set, limiter, &event, change >> 8, change & 0xff);
	}
	set = table_set(words);
	return table_change_places(&set, limiter, &event, change >> 8, change & 0xff);
}

/* Changes the bucket of @client. False: it has none, or there is no room to wait. */
static __always_inline bool place_change(__u32 slot, const struct address *client, __u32 slice,
					 enum places_change change)
{
	int i, answer;

	for (i = 0; i < TABLE_TRIES; i++) {
		answer = place_try(slot, client, slice << 8 | change);
		if (answer != TABLE_RACED)
			return answer == TABLE_ALLOWED;
	}
	return false;
}

/* A bucket for @client, which has none, with one handshake in flight. An enum table_room. */
shared_function int place_claim(__u32 slot, const struct address *client)
{
	struct table_event event;
	struct stile_set *words;

	if (!client)
		return TABLE_ROOM_NONE;
	words = charge_open(slot, charge_limiter_at(slot), client, 0, &event);
	return words ? charge_claim(slot, words, &event) : TABLE_ROOM_NONE;
}

/* A place for a connection that has none, limit or not. 0: there is no room for its client. */
shared_function int place_open(__u32 slot, const struct address *client)
{
	const struct stile_limiter *limiter = charge_limiter_at(slot);
	int i, room;

	for (i = 0; i < PLACE_TRIES; i++) {
		if (place_change(slot, client, 0, PLACES_OPEN))
			return 1;
		room = place_claim(slot, client);
		if (room == TABLE_ROOM_NONE)
			return 0;
		if (room == TABLE_ROOM_FREE || room == TABLE_ROOM_EVICTED)
			return place_change(slot, client,
					    places_slice(limiter, charge_now(limiter)),
					    PLACES_END_OPEN);
	}
	return 0;
}

/* Whether the limiter in @slot is still the one that was listed in @generation. */
static __always_inline bool place_is_known(__u32 slot, __u32 generation)
{
	return slot && charge_limiter_at(slot)->since <= generation;
}

/* Changes all places of a handshake that the caller has taken. */
static __always_inline void place_end(const struct stile_handshake *way, enum places_change change)
{
	__u32 i, slot;

	for (i = 0; i < PLACE_SLOTS; i++) {
		slot = way->slots[i];
		if (place_is_known(slot, way->generation))
			place_change(slot, (const struct address *)way->source, way->slice, change);
	}
}

#endif /* STILE_BPF_PLACE_H */
