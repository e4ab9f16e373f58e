/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels, as the daemon notes them. */
#include <string.h>

#include "snapshot_levels.h"
#include "snapshot_maps.h"
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

int snapshot_level(const struct snapshot *snapshot, uint32_t slot)
{
	const struct stile_level *level = &snapshot->levels[slot];

	return level->at && snapshot->now < level->at + LASTS ? level->level : -1;
}
