/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proofs of sources, as a part of snapshot.h. */
#ifndef STILE_SNAPSHOT_PROOFS_H
#define STILE_SNAPSHOT_PROOFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

struct pins;
struct snapshot;

struct snapshot_proofs {
	uint64_t since; /* auto: since when they have to be given, ns of CLOCK_MONOTONIC; 0: not */
	struct stile_proven counts;
};

/* Whether sources are proven at the listener in @slot, ever or now. */
bool snapshot_proves(const struct snapshot *snapshot, size_t slot);
bool snapshot_proves_now(const struct snapshot *snapshot, size_t slot);

/* For the files of snapshot.h alone. 0 or negative errno. */
int snapshot_proofs_read(const struct pins *pins, struct snapshot *snapshot);

#endif /* STILE_SNAPSHOT_PROOFS_H */
