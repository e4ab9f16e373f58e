/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel holds of an instance, by the ids of its programs and maps: noted while it is
 * pinned, and asked for after it should be gone. The kernel gives no id twice for a long time.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "faults.h"
#include "util.h"

static bool is_noted(const struct live_objects *objects, struct live_object object)
{
	for (size_t i = 0; i < objects->n; i++) {
		if (objects->items[i].id == object.id &&
		    objects->items[i].is_program == object.is_program)
			return true;
	}
	return false;
}

static void note(struct live_objects *objects, struct live_object object)
{
	struct live_object *grown;

	if (is_noted(objects, object))
		return;
	grown = realloc(objects->items, (objects->n + 1) * sizeof(*grown));
	if (!CHECK("there is memory", grown))
		return;
	objects->items = grown;
	grown[objects->n++] = object;
}

static bool is_program(const char *name)
{
	static const char *const programs[] = { "xdp", "sockops", "seed", "correct" };

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (strcmp(programs[i], name) == 0)
			return true;
	}
	return false;
}

static void note_pin(struct live_objects *objects, const char *path, const char *name)
{
	struct live_object object = { .is_program = is_program(name) };
	struct bpf_prog_info program = {};
	struct bpf_map_info map = {};
	__u32 size = object.is_program ? sizeof(program) : sizeof(map);
	autofd int fd = bpf_obj_get(path);

	if (fd < 0 || bpf_obj_get_info_by_fd(
			      fd, object.is_program ? (void *)&program : (void *)&map, &size) < 0)
		return; /* a reload is under way, and takes it away */
	object.id = object.is_program ? program.id : map.id;
	note(objects, object);
}

void live_note_objects(const struct live *live, struct live_objects *objects)
{
	char folder[128], path[512];
	struct dirent *entry;
	DIR *directory;

	snprintf(folder, sizeof(folder), "/sys/fs/bpf/stile/%s/current", live->instance);
	directory = opendir(folder);
	while (directory && (entry = readdir(directory))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			note_pin(objects, path, entry->d_name);
	}
	if (directory)
		(void)closedir(directory); /* only read */
}

size_t live_count_objects(const struct live_objects *objects)
{
	size_t n = 0;

	for (size_t i = 0; i < objects->n; i++) {
		autofd int fd = objects->items[i].is_program
					? bpf_prog_get_fd_by_id(objects->items[i].id)
					: bpf_map_get_fd_by_id(objects->items[i].id);

		n += fd >= 0;
	}
	return n;
}

struct wish {
	const struct live_objects *objects;
	size_t n;
};

static bool are_left(void *context)
{
	const struct wish *wish = context;

	return live_count_objects(wish->objects) == wish->n;
}

/* The kernel frees them some time after the last reference went. */
bool live_wait_objects(const struct live_objects *objects, size_t n)
{
	struct wish wish = { objects, n };

	return live_wait(are_left, &wish);
}

void live_forget_objects(struct live_objects *objects)
{
	free(objects->items);
	*objects = (struct live_objects){ 0 };
}
