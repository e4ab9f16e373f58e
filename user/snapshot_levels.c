/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels, as the daemon notes them. */
#include <string.h>

#include "../bpf/places.h"
#include "snapshot_levels.h"
#include "snapshot_maps.h"
#include "snapshot_table.h"
#include "util.h"

#define LASTS UINT64_C(5000000000) /* ns; they are noted each second */

int snapshot_levels_read(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shape = { "levels", 4, sizeof(struct stile_level) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	autofree void *levels = NULL;
	int r;

	if (fd < 0)
		return fd;
	r = snapshot_maps_array(fd, STILE_LISTENERS_MAX, sizeof(struct stile_level), &levels);
	if (r == 0)
		memcpy(snapshot->levels, levels, sizeof(snapshot->levels));
	return r;
}

static int read_held(const struct pins *pins, struct snapshot *snapshot, uint32_t slot)
{
	static const uint8_t nobody[16] = { 0 }; /* there is one bucket, whoever asks */
	struct snapshot_table_view view = {
		.policy = &snapshot->policy,
		.slot = slot,
		.now = snapshot->now,
	};
	const struct stile_limiter *limiter = &snapshot->policy.limiters[slot];
	uint64_t clock = snapshot_table_clock(&snapshot->policy, limiter, snapshot->now);
	struct snapshot_client all;
	struct snapshot_table table;
	struct places places;
	int r;

	r = snapshot_maps_table(pins, snapshot->policy.generation, &snapshot->policy.limiters[slot],
				&table);
	if (r < 0)
		return r;
	view.sets = table.sets;
	if (snapshot_table_find(&view, nobody, &all) == SNAPSHOT_TABLE_KNOWN) {
		places = places_read(limiter, all.state, clock);
		snapshot->limiters[slot].held = places_held(&places);
	}
	snapshot_maps_table_release(&table);
	return 0;
}

int snapshot_places_held_read(const struct pins *pins, struct snapshot *snapshot)
{
	int r = 0;

	for (uint32_t slot = 1; r == 0 && slot < STILE_LIMITERS_MAX; slot++) {
		const struct stile_limiter *limiter = &snapshot->policy.limiters[slot];

		if (limiter->sets && !limiter->keyed &&
		    limiter->algorithm == STILE_ALGORITHM_CONCURRENCY)
			r = read_held(pins, snapshot, slot);
	}
	return r;
}

int snapshot_level(const struct snapshot *snapshot, uint32_t slot)
{
	const struct stile_level *level = &snapshot->levels[slot];

	return level->at && snapshot->now < level->at + LASTS ? level->level : -1;
}
