/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads service levels into a snapshot, or what they are made of; for snapshot.c alone. */
#ifndef STILE_SNAPSHOT_LEVELS_H
#define STILE_SNAPSHOT_LEVELS_H

#include "snapshot.h"

int snapshot_levels_read(const struct pins *pins, struct snapshot *snapshot);

/* The places held of each concurrency limiter that all clients share. 0 or negative errno. */
int snapshot_places_held_read(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_LEVELS_H */
