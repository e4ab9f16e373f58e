/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the pins are: names, the mount they need, and the lock of whoever changes them. What is
 * done with the directories is in pins_tree.c.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "pins.h"
#include "util.h"

#define INSTANCE_LENGTH_MAX 32
#define LOCK_PATIENCE_MS 10000
#define LOCK_STEP_MS 5

/* Formats a path. 0 or -ENAMETOOLONG. */
__attribute__((format(printf, 2, 3))) static int path_format(char ret_path[PATH_MAX],
							     const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(ret_path, PATH_MAX, format, arguments);
	va_end(arguments);
	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The path of @name in @directory as it is pinned, after @prefix. 0 or -ENAMETOOLONG. */
static int path_in(const char *directory, const char *prefix, const char *name,
		   char ret_path[PATH_MAX])
{
	char pinned[NAME_MAX * 3 + 1];
	size_t at = 0;

	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	for (; *name; name++) {
		if (*name == '.' || *name == '%')
			at += (size_t)sprintf(pinned + at, "%%%02x", (unsigned int)*name);
		else
			pinned[at++] = *name;
	}
	pinned[at] = '\0';
	return path_format(ret_path, "%s/%s%s", directory, prefix, pinned);
}

static bool instance_is_valid(const char *instance)
{
	size_t length = strlen(instance);

	if (length == 0 || length > INSTANCE_LENGTH_MAX)
		return false;
	for (const char *at = instance; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
			return false;
	return strcmp(instance, "control") != 0; /* its socket would be the default one's */
}

int pins_init(struct pins *ret_pins, const char *instance)
{
	bool is_default = strcmp(instance, PINS_DEFAULT_INSTANCE) == 0;

	if (!instance_is_valid(instance))
		return -EINVAL;
	(void)path_format(ret_pins->root, PINS_STILE "/%s", instance); /* short enough, all four */
	(void)path_format(ret_pins->control, PINS_RUN "/%s.sock",
			  is_default ? "control" : instance);
	(void)path_format(ret_pins->lock, PINS_RUN "/%s.lock", instance);
	(void)path_format(ret_pins->pid, PINS_RUN "/%s.pid", instance);
	return 0;
}

static int directory_make(const char *path)
{
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int bpffs_is_mounted(void)
{
	struct statfs fs;

	if (statfs(PINS_BPFFS, &fs) < 0)
		return -errno;
	return fs.f_type == BPF_FS_MAGIC;
}

/*
 * Two processes must not both mount: the second mount would hide what the first one pinned. So the
 * mount point itself is the lock, and what is there is asked again under it.
 */
static int bpffs_mount(void)
{
	autofd int point = open(PINS_BPFFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int mounted;

	if (point < 0 || flock(point, LOCK_EX) < 0)
		return -errno;
	mounted = bpffs_is_mounted();
	if (mounted != 0)
		return mounted < 0 ? mounted : 0;
	if (mount("bpf", PINS_BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
		return -errno;
	return 0;
}

int pins_prepare(const struct pins *pins)
{
	int result;

	result = bpffs_is_mounted();
	if (result == 0)
		result = bpffs_mount();
	if (result < 0)
		return result;
	do {
		result = directory_make(PINS_STILE);
		if (result == 0)
			result = directory_make(pins->root);
	} while (result == -ENOENT); /* another instance's detach removed the first in between */
	if (result == 0)
		result = directory_make(PINS_RUN);
	return result;
}

/* Makes the directory that @path is to be in. Where it cannot, opening the file says why. */
static void parent_make(const char *path)
{
	char parent[PATH_MAX];
	char *slash;

	(void)path_format(parent, "%s", path); /* paths of struct pins fit */
	slash = strrchr(parent, '/');
	if (!slash)
		return;
	*slash = '\0';
	(void)directory_make(parent); /* see above */
}

static bool same_file(int fd, const char *path)
{
	struct stat opened, found;

	return fstat(fd, &opened) == 0 && stat(path, &found) == 0 &&
	       opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

/* pins_remove_all() removes the lock file too: whoever waited for that one tries the next. */
int pins_try_lock(const struct pins *pins)
{
	parent_make(pins->lock);
	for (;;) {
		autofd int fd = open(pins->lock, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (same_file(fd, pins->lock))
			return take_fd(&fd);
	}
}

int pins_lock(const struct pins *pins)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000L };
	int fd = pins_try_lock(pins);

	for (int waited = 0; fd == -EBUSY && waited < LOCK_PATIENCE_MS; waited += LOCK_STEP_MS) {
		(void)nanosleep(&step, NULL); /* a signal only makes it shorter */
		fd = pins_try_lock(pins);
	}
	return fd == -EBUSY ? -ETIMEDOUT : fd;
}

int pins_path_current(const struct pins *pins, const char *name, char ret_path[PATH_MAX])
{
	char directory[PATH_MAX];

	if (path_format(directory, "%s/current", pins->root) < 0)
		return -ENAMETOOLONG;
	if (!name)
		return path_format(ret_path, "%s", directory);
	return path_in(directory, "", name, ret_path);
}

int pins_path(const struct pins *pins, uint64_t generation, const char *name,
	      char ret_path[PATH_MAX])
{
	char directory[PATH_MAX];

	if (path_format(directory, "%s/" PINS_GENERATION "%" PRIu64, pins->root, generation) < 0)
		return -ENAMETOOLONG;
	if (!name)
		return path_format(ret_path, "%s", directory);
	return path_in(directory, "", name, ret_path);
}

int pins_path_link(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX])
{
	return path_in(pins->root, PINS_LINK, ifname, ret_path);
}

int pins_path_admit(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX])
{
	return path_in(pins->root, PINS_ADMIT, ifname, ret_path);
}

int pins_path_cgroup(const struct pins *pins, char ret_path[PATH_MAX])
{
	return path_format(ret_path, "%s/" PINS_CGROUP, pins->root);
}

int pins_path_mode(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX])
{
	return path_in(pins->root, PINS_MODE, ifname, ret_path);
}
