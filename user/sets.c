/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A way that changes hands gets its key last, so a set whose lock is free and whose keys stand
 * still was read whole.
 */
#include <string.h>

#include "sets.h"

#define COPY_TRIES 1000

bool sets_copy(const struct stile_limiter *limiter, const void *sets, uint32_t index,
	       union sets_set *ret_set)
{
	const union sets_set *set = (const union sets_set *)sets + index;
	size_t keys = limiter->wide ? sizeof(set->wide.key) : sizeof(set->narrow.key);

	for (int i = 0; i < COPY_TRIES; i++) {
		memcpy(ret_set, set, sizeof(*ret_set));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!ret_set->narrow.lock && !load_once(set->narrow.lock) &&
		    memcmp(ret_set, set, keys) == 0)
			return true;
	}
	return false;
}

struct table_set sets_ways(const struct stile_limiter *limiter, union sets_set *set)
{
	return limiter->wide ? table_set_wide(&set->wide) : table_set(&set->narrow);
}

struct key sets_key(const struct table_set *set, uint32_t way)
{
	if (set->wide)
		return (struct key){ set->key[2 * way], set->key[2 * way + 1] };
	return (struct key){ set->key[way], 0 };
}

bool sets_is_empty(const struct table_set *set, uint32_t way)
{
	const struct key key = sets_key(set, way);

	return (key.hi | key.lo) == 0 || key.hi == KEY_NOBODY;
}
