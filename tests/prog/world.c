/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pins of an instance of the tests' own, and what explain reads from them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "loader.h"
#include "world.h"

#define INSTANCE "test-prog-explain"

void world_end(struct world *world)
{
	prog_unload(&world->prog);
	(void)pins_remove_all(&world->pins); /* checked when the next one begins */
}

static int pin(const char *name, int fd, void *context)
{
	const struct world *world = context;
	char path[PATH_MAX];
	int r;

	r = pins_path(&world->pins, world->prog.policy.kernel.generation, name, path);
	return r < 0 ? r : bpf_obj_pin(fd, path);
}

/* Where the daemon would have pinned it. */
static bool pin_all(struct world *world)
{
	uint64_t generation = world->prog.policy.kernel.generation;

	return CHECK_EQ("a generation is made", pins_create_generation(&world->pins, generation),
			0) &&
	       CHECK_EQ("all of it is pinned", loader_each(world->prog.loader, pin, world), 0) &&
	       CHECK_EQ("it is put in force", pins_switch(&world->pins, generation), 0) &&
	       CHECK_EQ("the one before goes", pins_remove_others(&world->pins, generation), 0);
}

bool world_begin(struct world *world, const char *config)
{
	world->now = PROG_NOW;
	world->drawn = 20260101;
	return CHECK_EQ("the instance has a name", pins_init(&world->pins, INSTANCE), 0) &&
	       prog_load(&world->prog, config, world->now) &&
	       CHECK_EQ("nothing is left from before", pins_remove_all(&world->pins), 0) &&
	       CHECK_EQ("bpffs is there", pins_prepare(&world->pins), 0) && pin_all(world);
}

bool world_move(struct world *world, uint64_t now)
{
	world->now = now;
	return prog_move(&world->prog, now) && pin_all(world);
}

bool world_explain(struct world *world, const struct pkt_spec *spec,
		   struct snapshot_verdict *ret_verdict)
{
	struct snapshot_event event = { .interface = 0 };
	struct snapshot *snapshot = NULL;
	char name[8];
	int r;

	snprintf(name, sizeof(name), "at%u", spec->dport);
	while (event.listener < STILE_LISTENERS_MAX - 1 &&
	       strcmp(world->prog.policy.kernel.listeners[event.listener].name, name) != 0)
		event.listener++;
	if (!CHECK_EQ(spec->from, prefix_parse_address(spec->from, event.address), 0) ||
	    !CHECK_EQ("a snapshot is taken", snapshot_take(&world->pins, &snapshot), 0))
		return false;
	world->listener = event.listener;
	r = snapshot_explain(&world->pins, snapshot, &event, ret_verdict);
	snapshot_free(snapshot);
	return CHECK_EQ("explain answers", r, 0);
}
