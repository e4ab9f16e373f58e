/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bucket tables read while the kernel changes them; for the files of snapshot.h alone. Pure. */
#ifndef STILE_SNAPSHOT_TABLE_H
#define STILE_SNAPSHOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "snapshot.h"

/* @now as the limiter's clock shows it. */
uint64_t snapshot_table_clock(const struct stile_policy *policy,
			      const struct stile_limiter *limiter, uint64_t now);

/* Buckets that differ from a new one at @clock. */
uint64_t snapshot_table_live(const struct stile_limiter *limiter, const void *sets, uint64_t clock);

/* What the bucket table of limiter @slot knows, at snapshot.now. */
struct snapshot_table_view {
	const struct stile_policy *policy;
	uint32_t slot;
	const void *sets;
	uint64_t now;
	uint32_t ahead; /* events that are charged to the same bucket before the one asked about */
};

/* The clients of set @index, in @clients. Returns their number. */
size_t snapshot_table_clients(const struct snapshot_table_view *view, uint32_t index,
			      struct snapshot_client clients[STILE_SET_WAYS]);

enum snapshot_table_found {
	SNAPSHOT_TABLE_KNOWN, /* it has a bucket */
	SNAPSHOT_TABLE_NEW,   /* it has none, and would get one */
	SNAPSHOT_TABLE_FULL,  /* it has none, and there is no room */
};

/* The client that @address is to the limiter; a new one where it has no bucket. */
enum snapshot_table_found snapshot_table_find(const struct snapshot_table_view *view,
					      const uint8_t address[16],
					      struct snapshot_client *ret_client);

#endif /* STILE_SNAPSHOT_TABLE_H */
