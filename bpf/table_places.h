/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of the places of a client's bucket beside being taken. Pure, and without a lock: a
 * bucket with a connection open stays its client's (table.h), so that none is lost. Who has but
 * handshakes in flight may lose its bucket to another in the very moment, which is then one off
 * until the slices have turned.
 */
#ifndef STILE_BPF_TABLE_PLACES_H
#define STILE_BPF_TABLE_PLACES_H

#include "table.h"

/* One try. ALLOWED: done; LIMITED: there is no room to wait; or MISSING, or RACED. */
static __always_inline enum table_answer table_change_places(const struct table_set *set,
							     const struct stile_limiter *limiter,
							     const struct table_event *event,
							     __u32 slice, enum places_change change)
{
	__u32 way = table_find(set, &event->key);
	__u64 state, next;

	opaque(way); /* verifier: the register that is checked is the one that indexes */
	if (way >= set->ways)
		return TABLE_MISSING;
	state = load_once(set->state[way]);
	if (table_differs(set, way, &event->key))
		return TABLE_RACED;
	next = places_change(limiter, state, event->now, slice, change);
	if (change == PLACES_JOIN && next == state) {
		table_note(set, limiter, way, event, false);
		return TABLE_LIMITED;
	}
	return __sync_val_compare_and_swap(&set->state[way], state, next) == state ? TABLE_ALLOWED
										   : TABLE_RACED;
}

#endif /* STILE_BPF_TABLE_PLACES_H */
