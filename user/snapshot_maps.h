/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pinned maps opened, checked for their shape, and read; for the files of snapshot.h alone. */
#ifndef STILE_SNAPSHOT_MAPS_H
#define STILE_SNAPSHOT_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"

struct snapshot_shape {
	const char *name; /* of the pin */
	uint32_t key_size, value_size;
};

/* The map's fd, or negative errno; -EPROTO where it has another shape. */
int snapshot_maps_open(const struct pins *pins, uint64_t generation,
		       const struct snapshot_shape *shape);

/* The number of entries that the map has room for, or negative errno. */
int64_t snapshot_maps_room(int fd);

/* Entry @slot of a per-CPU array of 64-bit counters, added up over the CPUs. */
int snapshot_maps_sum(int fd, uint32_t slot, void *ret_counters, size_t size);

/* The first @n entries of an array; *ret_values is freed by the caller. */
int snapshot_maps_array(int fd, uint32_t n, size_t value_size, void **ret_values);

/* Keys and values of a hash or a trie, key after key and value after value. */
struct snapshot_pairs {
	size_t key_size, value_size, n;
	unsigned char *keys, *values;
};

int snapshot_maps_pairs(int fd, const struct snapshot_shape *shape,
			struct snapshot_pairs *ret_pairs);
void snapshot_maps_pairs_release(struct snapshot_pairs *pairs);

/* A limiter's bucket table, mapped read-only: the kernel goes on changing it. */
struct snapshot_table {
	const void *sets; /* struct stile_set or, where the limiter is wide, stile_set_wide */
	size_t size;	  /* bytes */
};

int snapshot_maps_table(const struct pins *pins, uint64_t generation,
			const struct stile_limiter *limiter, struct snapshot_table *ret_table);
void snapshot_maps_table_release(struct snapshot_table *table);

/* All entries of the array @shape, as many as it has room for. *ret_values is the caller's. */
int snapshot_maps_whole(const struct pins *pins, uint64_t generation,
			const struct snapshot_shape *shape, void **ret_values, uint32_t *ret_n);

#endif /* STILE_SNAPSHOT_MAPS_H */
