/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A limiter's bucket table in the memory of a test, and an event charged to it as the kernel side
 * does it: charge_again() of bpf/charge.h, which needs maps, is this loop over the same functions.
 */
#ifndef STILE_HOST_TABLE_H
#define STILE_HOST_TABLE_H

#include <stdint.h>

#include "table.h"

/* Either kind of set. */
union host_set {
	struct stile_set narrow;
	struct stile_set_wide wide;
};

struct host_table {
	const struct stile_limiter *limiter;
	union host_set *sets; /* limiter->sets of them, at first all zero; whole cache lines */
};

/* What was done for an event, beside the answer. */
struct host_work {
	unsigned int claims;	/* ways that changed hands for it */
	unsigned int evictions; /* of them at a live bucket's cost */
	unsigned int busy;	/* locks that another thread held for too long */
};

static inline struct table_set host_table_set(const struct host_table *table, uint32_t index)
{
	union host_set *set = &table->sets[index];

	return table->limiter->wide ? table_set_wide(&set->wide) : table_set(&set->narrow);
}

static inline enum table_answer host_set_charge(const struct table_set *set,
						const struct stile_limiter *limiter,
						const struct table_event *event,
						struct host_work *work)
{
	enum table_answer answer;
	enum table_room room;

	for (int i = 0; i < TABLE_TRIES; i++) {
		answer = table_try(set, limiter, event);
		if (answer != TABLE_RACED && answer != TABLE_MISSING)
			return answer;
		if (answer == TABLE_RACED)
			continue;
		room = table_claim(set, limiter, event);
		work->evictions += room == TABLE_ROOM_EVICTED;
		if (room == TABLE_ROOM_FREE || room == TABLE_ROOM_EVICTED) {
			work->claims++;
			return TABLE_ALLOWED;
		}
		if (room == TABLE_ROOM_NONE)
			return TABLE_FULL;
		if (room == TABLE_ROOM_BUSY) {
			work->busy++;
			break;
		}
	}
	return TABLE_LIMITED;
}

static inline enum table_answer host_table_charge(const struct host_table *table,
						  const struct table_event *event,
						  struct host_work *work)
{
	const struct key_place place = key_place(table->limiter, &event->key);
	const struct table_set set = host_table_set(table, place.set);
	struct table_event placed = *event;

	placed.home = place.home;
	return host_set_charge(&set, table->limiter, &placed, work);
}

/* The key in a way; zeros where it is empty. */
static inline struct key host_set_key(const struct table_set *set, uint32_t way)
{
	if (set->wide)
		return (struct key){ set->key[2 * way], set->key[2 * way + 1] };
	return (struct key){ set->key[way], 0 };
}

#endif /* STILE_HOST_TABLE_H */
