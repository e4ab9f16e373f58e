/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of a client that found no place. Internal to snapshot. */
#ifndef STILE_SNAPSHOT_EXPLAIN_PLACES_H
#define STILE_SNAPSHOT_EXPLAIN_PLACES_H

#include "snapshot.h"

/*
 * Whether the event that @verdict has refused waits for a place instead, or has an idle connection
 * of its client closed for it, as charge_event_several() in bpf/charge.h. 0 or negative errno.
 */
int snapshot_explain_places(const struct pins *pins, const struct snapshot *snapshot,
			    const struct snapshot_event *event, struct snapshot_verdict *verdict);

#endif /* STILE_SNAPSHOT_EXPLAIN_PLACES_H */
