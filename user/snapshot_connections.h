/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open connections, as the kernel side has counted them; for snapshot.c alone. */
#ifndef STILE_SNAPSHOT_CONNECTIONS_H
#define STILE_SNAPSHOT_CONNECTIONS_H

#include "snapshot.h"

/* What the counters of one listener come to; pure. */
struct snapshot_connections snapshot_connections_of(const struct stile_connections *counters,
						    const struct stile_recount *recount);

/* Fills snapshot->connections and snapshot->cgroup. 0 or negative errno. */
int snapshot_connections_read(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_CONNECTIONS_H */
