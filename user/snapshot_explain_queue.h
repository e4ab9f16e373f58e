/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The accept queue's part of an explanation; for snapshot_explain.c. */
#ifndef STILE_SNAPSHOT_EXPLAIN_QUEUE_H
#define STILE_SNAPSHOT_EXPLAIN_QUEUE_H

#include "snapshot.h"

/* What it says of @event; nothing is written where there is nothing to be looked at. */
int snapshot_explain_queue(const struct pins *pins, const struct snapshot *snapshot,
			   const struct snapshot_event *event,
			   struct snapshot_queue_look *ret_look);

#endif /* STILE_SNAPSHOT_EXPLAIN_QUEUE_H */
