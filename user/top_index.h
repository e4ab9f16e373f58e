/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients found by limiter and key; pure. */
#ifndef STILE_TOP_INDEX_H
#define STILE_TOP_INDEX_H

#include "snapshot.h"

/* Of @clients, none of which may be in it twice. Freed by the caller; NULL: no memory. */
uint32_t *top_index_new(const struct snapshot_client *clients, size_t n_clients);

/* The client of @limiter with that key, by an index of theirs; NULL where there is none. */
const struct snapshot_client *top_index_find(const uint32_t *index,
					     const struct snapshot_client *clients,
					     size_t n_clients,
					     const struct snapshot_client *wanted);

#endif /* STILE_TOP_INDEX_H */
