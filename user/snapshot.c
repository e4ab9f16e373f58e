/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy in force and every counter, as one struct. All of it is of one generation: where a
 * reload replaces the pins while they are being read, reading starts again.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "names.h"
#include "snapshot.h"
#include "snapshot_levels.h"
#include "snapshot_maps.h"
#include "snapshot_queues.h"
#include "snapshot_sessions.h"
#include "snapshot_table.h"
#include "util.h"

#define TRIES 5

static int read_policy(const struct pins *pins, struct stile_policy *ret_policy)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info), slot = 0;
	char path[PATH_MAX];
	autofd int fd = -1;
	int r;

	r = pins_path_current(pins, "policy", path);
	if (r < 0)
		return r;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	r = bpf_obj_get_info_by_fd(fd, &info, &size);
	if (r < 0)
		return r;
	if (info.value_size != sizeof(*ret_policy))
		return -EPROTO;
	r = bpf_map_lookup_elem(fd, &slot, ret_policy);
	if (r < 0)
		return r;
	if (ret_policy->version != STILE_ABI_VERSION || ret_policy->size != sizeof(*ret_policy))
		return -EPROTO;
	return 0;
}

/* As it was noted: the interface may be in another network namespace, and cannot be asked then. */
static enum stile_mode attached_mode(const struct pins *pins,
				     const struct stile_interface *interface)
{
	char noted[PINS_MODE_SIZE];

	if (pins_read_mode(pins, interface->name, noted) < 0)
		return interface->mode;
	for (size_t mode = 0; mode < _STILE_MODE_MAX; mode++) {
		if (strcmp(noted, policy_mode_names[mode]) == 0)
			return (enum stile_mode)mode;
	}
	return interface->mode;
}

static int read_link(const struct pins *pins, const struct stile_interface *interface,
		     struct snapshot_interface *ret_interface)
{
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;
	int r;

	ret_interface->mode = interface->mode;
	r = pins_path_link(pins, interface->name, path);
	if (r < 0)
		return r;
	fd = bpf_obj_get(path);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	r = bpf_obj_get_info_by_fd(fd, &info, &size);
	if (r < 0)
		return r;
	/* The link of an interface that went away is still there, without it. */
	ret_interface->attached = info.xdp.ifindex != 0;
	ret_interface->program = info.prog_id;
	if (ret_interface->attached)
		ret_interface->mode = attached_mode(pins, interface);
	return 0;
}

static int read_interfaces(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "packets", 4, sizeof(struct stile_packets) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	int r = fd < 0 ? fd : 0;

	for (uint32_t slot = 0; r == 0 && slot < STILE_INTERFACES_MAX; slot++) {
		struct snapshot_interface *interface = &snapshot->interfaces[slot];

		if (!*snapshot->policy.interfaces[slot].name)
			continue;
		r = read_link(pins, &snapshot->policy.interfaces[slot], interface);
		if (r == 0)
			r = snapshot_maps_sum(fd, slot, &interface->packets,
					      sizeof(interface->packets));
	}
	return r;
}

static int read_decisions(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "decisions", 4, sizeof(struct stile_decisions) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	int r = fd < 0 ? fd : 0;

	for (uint32_t slot = 1; r == 0 && slot < STILE_ATTACHMENTS_MAX; slot++) {
		if (snapshot->policy.attachments[slot].limiter)
			r = snapshot_maps_sum(fd, slot, &snapshot->decisions[slot],
					      sizeof(snapshot->decisions[slot]));
	}
	return r;
}

static int read_silence(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "control", 4, sizeof(struct stile_control) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	struct stile_control control;
	uint32_t slot = 0;
	int r;

	if (fd < 0)
		return fd;
	r = bpf_map_lookup_elem(fd, &slot, &control);
	if (r == 0 && control.heartbeat < snapshot->now)
		snapshot->silence = snapshot->now - control.heartbeat;
	return r;
}

static int read_replies(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "replies", 4, sizeof(struct stile_replies) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);

	if (fd < 0)
		return fd;
	return snapshot_maps_sum(fd, 0, &snapshot->replies, sizeof(snapshot->replies));
}

static int read_limiter(const struct pins *pins, struct snapshot *snapshot, uint32_t slot)
{
	const struct stile_limiter *limiter = &snapshot->policy.limiters[slot];
	struct snapshot_table table;
	int r;

	r = snapshot_maps_table(pins, snapshot->policy.generation, limiter, &table);
	if (r < 0)
		return r;
	snapshot->limiters[slot].keys = snapshot_table_live(
		limiter, table.sets,
		snapshot_table_clock(&snapshot->policy, limiter, snapshot->now));
	snapshot_maps_table_release(&table);
	return 0;
}

static int read_limiters(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "tables", 4, sizeof(struct stile_table_stats) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	int r = fd < 0 ? fd : 0;

	for (uint32_t slot = 1; r == 0 && slot < STILE_LIMITERS_MAX; slot++) {
		struct stile_table_stats *stats = &snapshot->limiters[slot].stats;

		if (!snapshot->policy.limiters[slot].sets)
			continue;
		r = read_limiter(pins, snapshot, slot);
		if (r == 0)
			r = snapshot_maps_sum(fd, slot, stats, sizeof(*stats));
	}
	return r;
}

static int compare_listed(const void *a, const void *b)
{
	const struct snapshot_listed *left = a, *right = b;
	int order = memcmp(left->prefix.address, right->prefix.address, 16);

	return order ? order : (int)left->prefix.bits - (int)right->prefix.bits;
}

/* The entries that hold at @now; one that expired lies there until the daemon removes it. */
static int read_list(const struct snapshot *snapshot, const struct pins *pins, const char *name,
		     struct snapshot_listed **ret_listed, size_t *ret_n)
{
	const struct snapshot_shape shape = { name, sizeof(struct stile_prefix),
					      sizeof(struct stile_listed) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	struct snapshot_listed *listed;
	struct snapshot_pairs pairs;
	size_t n = 0;
	int r;

	r = fd < 0 ? fd : snapshot_maps_pairs(fd, &shape, &pairs);
	if (r < 0)
		return r;
	listed = calloc(pairs.n + 1, sizeof(*listed));
	for (size_t i = 0; listed && i < pairs.n; i++) {
		struct stile_listed entry;
		struct stile_prefix key;

		memcpy(&key, pairs.keys + i * sizeof(key), sizeof(key));
		memcpy(&entry, pairs.values + i * sizeof(entry), sizeof(entry));
		if (entry.expires && entry.expires <= snapshot->now)
			continue;
		listed[n].entry = entry;
		listed[n].prefix.bits = (uint8_t)key.bits;
		memcpy(listed[n++].prefix.address, key.address, sizeof(key.address));
	}
	snapshot_maps_pairs_release(&pairs);
	if (!listed)
		return -ENOMEM;
	qsort(listed, n, sizeof(*listed), compare_listed);
	*ret_listed = listed;
	*ret_n = n;
	return 0;
}

static int read_counters(const struct pins *pins, struct snapshot *snapshot)
{
	int r;

	r = read_interfaces(pins, snapshot);
	if (r == 0)
		r = read_decisions(pins, snapshot);
	if (r == 0)
		r = read_replies(pins, snapshot);
	if (r == 0)
		r = read_silence(pins, snapshot);
	if (r == 0)
		r = read_limiters(pins, snapshot);
	if (r == 0)
		r = snapshot_sessions_read(pins, snapshot);
	if (r == 0)
		r = snapshot_levels_read(pins, snapshot);
	if (r == 0)
		r = snapshot_connections_read(pins, snapshot);
	if (r == 0)
		r = snapshot_queues_take(pins, snapshot);
	if (r == 0)
		r = snapshot_proofs_read(pins, snapshot);
	if (r == 0)
		r = read_list(snapshot, pins, "trusted", &snapshot->trusted, &snapshot->n_trusted);
	if (r == 0)
		r = read_list(snapshot, pins, "blocked", &snapshot->blocked, &snapshot->n_blocked);
	return r;
}

typedef int read_parts(const struct pins *pins, struct snapshot *snapshot);

/* -ESTALE: another generation took over meanwhile. */
static int take_once(const struct pins *pins, read_parts *read, struct snapshot **ret_snapshot)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct timespec now;
	int r;

	if (!snapshot)
		return -ENOMEM;
	r = read_policy(pins, &snapshot->policy);
	if (r == 0) {
		(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: Linux has that clock */
		snapshot->now = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		r = read(pins, snapshot);
		r = r == -ENOENT ? -ESTALE : r;
	}
	if (r < 0) {
		snapshot_free(snapshot);
		return r;
	}
	*ret_snapshot = snapshot;
	return 0;
}

static int take(const struct pins *pins, read_parts *read, struct snapshot **ret_snapshot)
{
	int r = -ESTALE;

	for (int i = 0; i < TRIES && r == -ESTALE; i++)
		r = take_once(pins, read, ret_snapshot);
	return r;
}

int snapshot_take(const struct pins *pins, struct snapshot **ret_snapshot)
{
	return take(pins, read_counters, ret_snapshot);
}

static int read_load(const struct pins *pins, struct snapshot *snapshot)
{
	int r;

	r = read_decisions(pins, snapshot);
	if (r == 0)
		r = snapshot_places_held_read(pins, snapshot);
	return r ? r : snapshot_queues_take(pins, snapshot);
}

int snapshot_take_load(const struct pins *pins, struct snapshot **ret_snapshot)
{
	return take(pins, read_load, ret_snapshot);
}

bool snapshot_is_unattended(const struct snapshot *snapshot)
{
	return snapshot->policy.watchdog != STILE_WATCHDOG_KEEP &&
	       snapshot->silence > snapshot->policy.watchdog_after;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->trusted);
	free(snapshot->blocked);
	free(snapshot);
}
