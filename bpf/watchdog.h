/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the daemon lives, as far as the policy wants to know: by default nothing here is left in
 * the program. Ticks are fine enough for a silence of seconds.
 */
#ifndef STILE_BPF_WATCHDOG_H
#define STILE_BPF_WATCHDOG_H

#include "compiler.h"
#include "maps.h"

/* Whether the daemon has been silent for too long, and the policy says @then of that. */
static __always_inline bool watchdog_says(enum stile_watchdog then,
					  const struct stile_control *control)
{
	__s64 silence;

	if (policy.watchdog != then || !control)
		return false;
	silence = clock_tick() - control->heartbeat;
	return silence > (__s64)policy.watchdog_after;
}

/* Whether what a limiter refuses is let through. */
static __always_inline bool watchdog_counts(void)
{
	__u32 first = 0;

	if (policy.watchdog != STILE_WATCHDOG_COUNT)
		return false;
	return watchdog_says(STILE_WATCHDOG_COUNT, bpf_map_lookup_elem(&stile_control, &first));
}

#endif /* STILE_BPF_WATCHDOG_H */
