/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pin of the attachment to a cgroup, and the note which one that is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pins.h"

static int remove_file(const char *path)
{
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

static int path_note(const struct pins *pins, char ret_path[PATH_MAX])
{
	int length = snprintf(ret_path, PATH_MAX, "%s/" PINS_CGROUP_PATH, pins->root);

	return length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int pins_read_cgroup(const struct pins *pins, char ret_directory[PATH_MAX])
{
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t length;

	if (path_note(pins, path) < 0)
		return -ENAMETOOLONG;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	memcpy(ret_directory, target, (size_t)length);
	ret_directory[length] = '\0';
	return 0;
}

int pins_note_cgroup(const struct pins *pins, const char *directory)
{
	char path[PATH_MAX], noted[PATH_MAX];
	int result;

	if (pins_read_cgroup(pins, noted) == 0 && strcmp(noted, directory) == 0)
		return 0;
	if (path_note(pins, path) < 0)
		return -ENAMETOOLONG;
	result = remove_file(path);
	if (result < 0)
		return result;
	return symlink(directory, path) < 0 ? -errno : 0;
}

int pins_remove_cgroup(const struct pins *pins)
{
	char path[PATH_MAX];
	int result;

	if (pins_path_cgroup(pins, path) < 0)
		return -ENAMETOOLONG;
	result = remove_file(path);
	if (result == 0 && path_note(pins, path) == 0)
		result = remove_file(path);
	return result;
}
