/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the service levels into a snapshot; for snapshot.c alone. */
#ifndef STILE_SNAPSHOT_LEVELS_H
#define STILE_SNAPSHOT_LEVELS_H

#include "snapshot.h"

int snapshot_levels_read(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_LEVELS_H */
