/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A connection may open on one CPU and close on another while they are read one after the other, so
 * that for a moment more seem to have closed than had opened: none is open then.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "snapshot.h"
#include "snapshot_maps.h"
#include "util.h"

struct snapshot_connections snapshot_connections_of(const struct stile_connections *counters,
						    const struct stile_recount *recount)
{
	int64_t open =
		(int64_t)(counters->opened + counters->seeded - counters->closed) - recount->lost;

	return (struct snapshot_connections){
		.open = open > 0 ? (uint64_t)open : 0,
		.opened = counters->opened,
		.overflow = counters->overflow,
		.recounted = recount->times,
	};
}

bool snapshot_counts_connections(const struct snapshot *snapshot, size_t slot)
{
	const struct stile_listener *listener = &snapshot->policy.listeners[slot];

	return snapshot->policy.connections && *listener->name &&
	       listener->protocol == STILE_PROTOCOL_TCP;
}

static int read_cgroup(const struct pins *pins, struct snapshot_cgroup *ret_cgroup)
{
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;
	int r;

	r = pins_path_cgroup(pins, path);
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
	/* The link of a cgroup that was removed is still there, without it. */
	ret_cgroup->attached = info.cgroup.cgroup_id != 0;
	(void)pins_read_cgroup(pins, ret_cgroup->path); /* for people */
	return 0;
}

int snapshot_connections_read(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shapes[] = {
		{ "connections", 4, sizeof(struct stile_connections) },
		{ "recounts", 4, sizeof(struct stile_recount) },
	};
	uint64_t generation = snapshot->policy.generation;
	autofd int counts = snapshot_maps_open(pins, generation, &shapes[0]);
	autofd int recounts = snapshot_maps_open(pins, generation, &shapes[1]);
	struct stile_connections counters;
	struct stile_recount recount;
	int r = counts < 0 ? counts : recounts < 0 ? recounts : 0;

	for (uint32_t slot = 1; r == 0 && slot < STILE_LISTENERS_MAX; slot++) {
		if (!snapshot_counts_connections(snapshot, slot))
			continue;
		r = snapshot_maps_sum(counts, slot, &counters, sizeof(counters));
		if (r == 0)
			r = bpf_map_lookup_elem(recounts, &slot, &recount);
		if (r == 0)
			snapshot->connections[slot] = snapshot_connections_of(&counters, &recount);
	}
	return r < 0 ? r : read_cgroup(pins, &snapshot->cgroup);
}
