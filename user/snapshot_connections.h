/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a snapshot that is about open connections. */
#ifndef STILE_SNAPSHOT_CONNECTIONS_H
#define STILE_SNAPSHOT_CONNECTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"

struct snapshot;
struct snapshot_client;
struct snapshot_event;

/* TCP connections of a listener. */
struct snapshot_connections {
	uint64_t open;
	uint64_t opened;    /* ever, since protection began */
	uint64_t overflow;  /* whose client is not counted */
	uint64_t recounted; /* times that the count had to be put right */
};

struct snapshot_cgroup {
	bool attached;
	char path[PATH_MAX]; /* "": nothing is to be attached */
};

/* Whether the open connections of the listener in @slot are counted. */
bool snapshot_counts_connections(const struct snapshot *snapshot, size_t slot);

/* What the counters of one listener come to; pure. */
struct snapshot_connections snapshot_connections_of(const struct stile_connections *counters,
						    const struct stile_recount *recount);

/* snapshot_holders.c: what clients hold. */
/*
 * Counts what @clients hold. With @rest, who holds connections and is none of them is put behind
 * them, as a client of limiter 0. 0 or negative errno.
 */
int snapshot_holders_fill(const struct pins *pins, const struct snapshot *snapshot, bool rest,
			  struct snapshot_client **clients, size_t *n_clients);

/* How many connections its address, or the /64 of that, holds at the listener. */
int snapshot_held(const struct pins *pins, const struct snapshot *snapshot,
		  const struct snapshot_event *event, uint64_t *ret_open);

/* For snapshot.c alone: fills snapshot->connections and snapshot->cgroup. 0 or negative errno. */
int snapshot_connections_read(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_CONNECTIONS_H */
