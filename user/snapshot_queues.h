/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sockets of each listener hold: accept queues, and handshakes in flight. */
#ifndef STILE_SNAPSHOT_QUEUES_H
#define STILE_SNAPSHOT_QUEUES_H

#include "snapshot.h"
#include "snapshot_places.h"
#include "sockdiag.h"

/* By listener slot. 0 or negative errno, with some of it written. */
int snapshot_queues_read(struct sockdiag *diag, const struct snapshot_places *places,
			 struct snapshot_queue ret_queues[STILE_LISTENERS_MAX]);

/* The same for @snapshot, by its pins; where sock_diag is not there it has no queues. */
int snapshot_queues_take(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_QUEUES_H */
