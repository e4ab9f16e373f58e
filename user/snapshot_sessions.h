/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of sessions read while the kernel changes it; for snapshot.c alone. */
#ifndef STILE_SNAPSHOT_SESSIONS_H
#define STILE_SNAPSHOT_SESSIONS_H

#include "snapshot.h"

/* Counts those in @n sets at @clock (ns); pure. */
void snapshot_sessions_count(const struct stile_flow_set *sets, uint32_t n, uint64_t clock,
			     struct snapshot_sessions *ret_sessions);

/* Fills snapshot->sessions, by its policy and its moment. 0 or negative errno. */
int snapshot_sessions_read(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_SESSIONS_H */
