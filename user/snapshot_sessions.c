/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a word of the table means is asked of the kernel side's own code. */
#include <errno.h>
#include <sys/mman.h>

#include "../bpf/flow.h"
#include "snapshot_maps.h"
#include "snapshot_sessions.h"
#include "util.h"

void snapshot_sessions_count(const struct stile_flow_set *sets, uint32_t n, uint64_t clock,
			     struct snapshot_sessions *ret_sessions)
{
	uint32_t now = flow_time(clock);

	ret_sessions->open = ret_sessions->held = 0;
	for (uint32_t i = 0; i < n * STILE_FLOW_WAYS; i++) {
		uint64_t word = load_once(sets[i / STILE_FLOW_WAYS].flow[i % STILE_FLOW_WAYS]);

		if (!flow_left(word, now))
			continue;
		if (flow_kind(word) >= FLOW_NEW)
			ret_sessions->open++;
		else
			ret_sessions->held++;
	}
}

/* The tick clock, which sessions go by, as the kernel side reads it. */
static uint64_t clock_of(const struct snapshot *snapshot)
{
	const struct stile_policy *policy = &snapshot->policy;

	if (policy->tick == 0)
		return policy->tick_base;
	return snapshot->now - (snapshot->now - policy->tick_base) % policy->tick;
}

static int count(const struct pins *pins, struct snapshot *snapshot)
{
	const struct stile_policy *policy = &snapshot->policy;
	const struct snapshot_shape shape = { "flows", sizeof(uint32_t),
					      sizeof(struct stile_flow_set) };
	size_t size = policy->flow_sets * sizeof(struct stile_flow_set);
	autofd int fd = snapshot_maps_open(pins, policy->generation, &shape);
	int64_t room = fd < 0 ? fd : snapshot_maps_room(fd);
	const struct stile_flow_set *sets;

	if (room < policy->flow_sets)
		return room < 0 ? (int)room : -EPROTO;
	sets = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (sets == MAP_FAILED)
		return -errno;
	snapshot_sessions_count(sets, policy->flow_sets, clock_of(snapshot), &snapshot->sessions);
	(void)munmap((void *)sets, size); /* only a wrong size could fail */
	return 0;
}

int snapshot_sessions_read(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "tables", 4, sizeof(struct stile_table_stats) };
	struct stile_table_stats *stats = &snapshot->sessions.stats;
	autofd int fd = -1;
	int r;

	if (!snapshot->policy.flow_sets)
		return 0;
	r = count(pins, snapshot);
	if (r < 0)
		return r;
	fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	return fd < 0 ? fd : snapshot_maps_sum(fd, 0, stats, sizeof(*stats));
}
