/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of a bucket table, of either kind, copied out while the kernel changes them. Pure. */
#ifndef STILE_SETS_H
#define STILE_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "../bpf/table.h"

/* Both kinds share one layout up to what table_set() looks at. */
union sets_set {
	struct stile_set narrow;
	struct stile_set_wide wide;
};

/* Set @index of the table @sets. False: it did not stand still; what was read last has to do. */
bool sets_copy(const struct stile_limiter *limiter, const void *sets, uint32_t index,
	       union sets_set *ret_set);

/* Its ways. */
struct table_set sets_ways(const struct stile_limiter *limiter, union sets_set *set);

struct key sets_key(const struct table_set *set, uint32_t way);

/* Whether no client has the way. */
bool sets_is_empty(const struct table_set *set, uint32_t way);

#endif /* STILE_SETS_H */
