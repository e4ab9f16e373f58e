/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pinned maps opened, checked for their shape, and read. A map is never read into a buffer before
 * its sizes were compared: the kernel writes as much as the map has, not as much as we expect.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "snapshot_maps.h"
#include "util.h"

static int map_info(int fd, struct bpf_map_info *ret_info)
{
	uint32_t size = sizeof(*ret_info);

	memset(ret_info, 0, sizeof(*ret_info));
	return bpf_obj_get_info_by_fd(fd, ret_info, &size);
}

int snapshot_maps_open(const struct pins *pins, uint64_t generation,
		       const struct snapshot_shape *shape)
{
	struct bpf_map_info info;
	char path[PATH_MAX];
	autofd int fd = -1;
	int r;

	r = pins_path(pins, generation, shape->name, path);
	if (r < 0)
		return r;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	r = map_info(fd, &info);
	if (r < 0)
		return r;
	if (info.key_size != shape->key_size || info.value_size != shape->value_size)
		return -EPROTO;
	return take_fd(&fd);
}

int64_t snapshot_maps_room(int fd)
{
	struct bpf_map_info info;
	int r = map_info(fd, &info);

	return r < 0 ? r : (int64_t)info.max_entries;
}

int snapshot_maps_sum(int fd, uint32_t slot, void *ret_counters, size_t size)
{
	int n_cpus = libbpf_num_possible_cpus();
	size_t n = size / sizeof(uint64_t);
	autofree uint64_t *values = NULL;
	uint64_t *sums = ret_counters;
	int r;

	if (n_cpus < 0)
		return n_cpus;
	values = calloc((size_t)n_cpus, size);
	if (!values)
		return -ENOMEM;
	r = bpf_map_lookup_elem(fd, &slot, values);
	if (r < 0)
		return r;
	memset(ret_counters, 0, size);
	for (size_t i = 0; i < (size_t)n_cpus * n; i++)
		sums[i % n] += values[i];
	return 0;
}

int snapshot_maps_array(int fd, uint32_t n, size_t value_size, void **ret_values)
{
	autofree unsigned char *values = calloc(n, value_size);

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		int r = bpf_map_lookup_elem(fd, &i, values + i * value_size);

		if (r < 0)
			return r;
	}
	*ret_values = values;
	values = NULL;
	return 0;
}

/* Reads on from the @previous key, or from the first. -ENOENT at the end. */
static int next_pair(int fd, const void *previous, struct snapshot_pairs *pairs)
{
	unsigned char *key = pairs->keys + pairs->n * pairs->key_size;
	unsigned char *value = pairs->values + pairs->n * pairs->value_size;
	int r;

	r = bpf_map_get_next_key(fd, previous, key);
	if (r < 0)
		return r;
	r = bpf_map_lookup_elem(fd, key, value);
	if (r == 0)
		pairs->n++;
	/* An entry that was removed in between is none; its key still leads on. */
	return r == -ENOENT ? 0 : r;
}

int snapshot_maps_pairs(int fd, const struct snapshot_shape *shape,
			struct snapshot_pairs *ret_pairs)
{
	struct snapshot_pairs pairs = {
		.key_size = shape->key_size,
		.value_size = shape->value_size,
	};
	int64_t room = snapshot_maps_room(fd);
	unsigned char key[64];
	int r = 0;

	if (room < 0)
		return (int)room;
	if (pairs.key_size > sizeof(key))
		return -EMSGSIZE;
	pairs.keys = calloc((size_t)room, pairs.key_size);
	pairs.values = calloc((size_t)room, pairs.value_size);
	if (!pairs.keys || !pairs.values)
		r = -ENOMEM;
	/* Removals beside us can lead back to the start: not more entries than there is room. */
	for (int64_t i = 0; r == 0 && i < room; i++) {
		size_t n = pairs.n;

		r = next_pair(fd, i ? key : NULL, &pairs);
		memcpy(key, pairs.keys + n * pairs.key_size, pairs.key_size);
	}
	if (r < 0 && r != -ENOENT) {
		snapshot_maps_pairs_release(&pairs);
		return r;
	}
	*ret_pairs = pairs;
	return 0;
}

void snapshot_maps_pairs_release(struct snapshot_pairs *pairs)
{
	free(pairs->keys);
	free(pairs->values);
	*pairs = (struct snapshot_pairs){ 0 };
}

int snapshot_maps_table(const struct pins *pins, uint64_t generation,
			const struct stile_limiter *limiter, struct snapshot_table *ret_table)
{
	char name[sizeof("limiter-") + STILE_NAME_SIZE];
	const struct snapshot_shape shape = { name, sizeof(uint32_t), sizeof(struct stile_set) };
	struct snapshot_table table;
	autofd int fd = -1;
	int64_t room;

	snprintf(name, sizeof(name), "limiter-%.*s", STILE_NAME_SIZE, limiter->name);
	fd = snapshot_maps_open(pins, generation, &shape);
	if (fd < 0)
		return fd;
	room = snapshot_maps_room(fd);
	if (room < 0)
		return (int)room;
	if (room < limiter->sets)
		return -EPROTO;
	table.size = (size_t)limiter->sets * sizeof(struct stile_set);
	table.sets = mmap(NULL, table.size, PROT_READ, MAP_SHARED, fd, 0);
	if (table.sets == MAP_FAILED)
		return -errno;
	*ret_table = table;
	return 0;
}

void snapshot_maps_table_release(struct snapshot_table *table)
{
	if (table->sets)
		(void)munmap((void *)table->sets, table->size); /* only a wrong size could fail */
	*table = (struct snapshot_table){ 0 };
}

int snapshot_maps_whole(const struct pins *pins, uint64_t generation,
			const struct snapshot_shape *shape, void **ret_values, uint32_t *ret_n)
{
	autofd int fd = snapshot_maps_open(pins, generation, shape);
	int64_t room = fd < 0 ? fd : snapshot_maps_room(fd);
	int r;

	if (room < 0)
		return (int)room;
	r = snapshot_maps_array(fd, (uint32_t)room, shape->value_size, ret_values);
	if (r == 0)
		*ret_n = (uint32_t)room;
	return r;
}
