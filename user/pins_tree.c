/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The directories of the pins. Only names are known here: whatever is pinned is an opaque file, so
 * all of this works on any file system. A process may be killed between any two lines; what it
 * leaves is either not in force, and emptied by the next one, or whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pins.h"
#include "util.h"

/* The name that was pinned as @pinned, which is not shorter. */
static void name_unescape(const char *pinned, char *ret_name)
{
	unsigned int code;
	int length;

	while (*pinned) {
		length = 0;
		if (sscanf(pinned, "%%%2x%n", &code, &length) == 1 && length == 3)
			*ret_name++ = (char)code;
		else
			*ret_name++ = *pinned;
		pinned += length == 3 ? 3 : 1;
	}
	*ret_name = '\0';
}

/* Is @name "gen-" and a number? */
static bool generation_parse(const char *name, uint64_t *ret_generation)
{
	uint64_t generation;
	int end = 0;

	if (sscanf(name, PINS_GENERATION "%" SCNu64 "%n", &generation, &end) != 1 || name[end])
		return false;
	*ret_generation = generation;
	return true;
}

int pins_current(const struct pins *pins, uint64_t *ret_generation)
{
	char path[PATH_MAX], target[NAME_MAX + 1];
	ssize_t length;

	if (pins_path_current(pins, NULL, path) < 0)
		return -ENAMETOOLONG;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	return generation_parse(target, ret_generation) ? 0 : -EPROTO;
}

static void directory_release(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

#define autodir __attribute__((cleanup(directory_release)))

/*
 * Calls @each with every name in @path; stops at a non-zero result and returns it. @each may
 * remove what it is called with. 0 where @path is not there.
 */
static int directory_each(const char *path, int (*each)(int directory, const char *name, void *),
			  void *context)
{
	autodir DIR *directory = opendir(path);
	struct dirent *entry;
	int result;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((errno = 0, entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue; /* "." and "..": nothing else on bpffs begins so */
		result = each(dirfd(directory), entry->d_name, context);
		if (result != 0)
			return result;
	}
	return -errno;
}

static int remove_file(int directory, const char *name, void *context)
{
	(void)context; /* it needs none */
	return unlinkat(directory, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int directory_remove(const char *path)
{
	int result;

	result = directory_each(path, remove_file, NULL);
	if (result < 0)
		return result;
	return rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
}

int pins_remove_generation(const struct pins *pins, uint64_t generation)
{
	char path[PATH_MAX];
	uint64_t current = 0;

	if (pins_current(pins, &current) == 0 && current == generation)
		return -EBUSY;
	if (pins_path(pins, generation, NULL, path) < 0)
		return -ENAMETOOLONG;
	return directory_remove(path);
}

int pins_create_generation(const struct pins *pins, uint64_t generation)
{
	char path[PATH_MAX];
	int result;

	result = pins_remove_generation(pins, generation);
	if (result < 0)
		return result;
	if (pins_path(pins, generation, NULL, path) < 0)
		return -ENAMETOOLONG;
	return mkdir(path, 0755) < 0 ? -errno : 0;
}

int pins_switch(const struct pins *pins, uint64_t generation)
{
	char current[PATH_MAX], next[PATH_MAX], target[NAME_MAX + 1];
	int length;

	(void)snprintf(target, sizeof(target), PINS_GENERATION "%" PRIu64, generation);
	length = snprintf(next, sizeof(next), "%s/next", pins->root);
	if (length >= PATH_MAX || pins_path_current(pins, NULL, current) < 0)
		return -ENAMETOOLONG;
	if (unlink(next) < 0 && errno != ENOENT) /* of a process that was killed here */
		return -errno;
	if (symlink(target, next) < 0 || rename(next, current) < 0)
		return -errno;
	return 0;
}

struct others {
	const struct pins *pins;
	uint64_t generation; /* the one that stays; generations count from 1, so 0: none */
};

static int remove_other(int directory, const char *name, void *context)
{
	const struct others *others = context;
	char path[PATH_MAX];
	uint64_t generation;

	(void)directory; /* directory_remove() wants the path */
	if (!generation_parse(name, &generation) || generation == others->generation)
		return 0;
	if (pins_path(others->pins, generation, NULL, path) < 0)
		return -ENAMETOOLONG;
	return directory_remove(path);
}

int pins_remove_others(const struct pins *pins, uint64_t generation)
{
	struct others others = { .pins = pins, .generation = generation };

	return directory_each(pins->root, remove_other, &others);
}

struct links {
	const char *kind; /* what their names begin with */
	int (*each)(const char *ifname, void *context);
	void *context;
};

static int link_each(int directory, const char *name, void *context)
{
	const struct links *links = context;
	char ifname[NAME_MAX + 1];

	(void)directory; /* only the name is asked for */
	if (strncmp(name, links->kind, strlen(links->kind)) != 0)
		return 0;
	name_unescape(name + strlen(links->kind), ifname);
	return links->each(ifname, links->context);
}

int pins_each_link(const struct pins *pins, int (*each)(const char *ifname, void *context),
		   void *context)
{
	struct links links = { .kind = PINS_LINK, .each = each, .context = context };

	return directory_each(pins->root, link_each, &links);
}

int pins_each_admit(const struct pins *pins, int (*each)(const char *ifname, void *context),
		    void *context)
{
	struct links links = { .kind = PINS_ADMIT, .each = each, .context = context };

	return directory_each(pins->root, link_each, &links);
}

struct generations {
	int (*each)(uint64_t generation, void *context);
	void *context;
};

static int generation_each(int directory, const char *name, void *context)
{
	const struct generations *generations = context;
	uint64_t generation;

	(void)directory; /* only the number is asked for */
	if (!generation_parse(name, &generation))
		return 0;
	return generations->each(generation, generations->context);
}

int pins_each_generation(const struct pins *pins, int (*each)(uint64_t generation, void *context),
			 void *context)
{
	struct generations generations = { .each = each, .context = context };

	return directory_each(pins->root, generation_each, &generations);
}

static int file_remove(const char *path)
{
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int pins_note_mode(const struct pins *pins, const char *ifname, const char *mode)
{
	char path[PATH_MAX], noted[PINS_MODE_SIZE];
	int result;

	if (pins_read_mode(pins, ifname, noted) == 0 && strcmp(noted, mode) == 0)
		return 0;
	if (pins_path_mode(pins, ifname, path) < 0)
		return -ENAMETOOLONG;
	result = file_remove(path);
	if (result < 0)
		return result;
	return symlink(mode, path) < 0 ? -errno : 0;
}

int pins_read_mode(const struct pins *pins, const char *ifname, char ret_mode[PINS_MODE_SIZE])
{
	char path[PATH_MAX], target[PINS_MODE_SIZE];
	ssize_t length;

	if (pins_path_mode(pins, ifname, path) < 0)
		return -ENAMETOOLONG;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	memcpy(ret_mode, target, (size_t)length);
	ret_mode[length] = '\0';
	return 0;
}

int pins_remove_link(const struct pins *pins, const char *ifname)
{
	char path[PATH_MAX];
	int result;

	if (pins_path_link(pins, ifname, path) < 0)
		return -ENAMETOOLONG;
	result = file_remove(path);
	if (result == 0 && pins_path_mode(pins, ifname, path) == 0)
		result = file_remove(path);
	return result;
}

static int remove_link(const char *ifname, void *context)
{
	return pins_remove_link(context, ifname);
}

struct owner {
	const struct pins *pins;
	uid_t uid;
	gid_t gid;
};

static int give(int directory, const char *name, const struct owner *owner)
{
	return fchownat(directory, name, owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											  : 0;
}

static int give_entry(int directory, const char *name, void *context)
{
	return give(directory, name, context);
}

static int give_generation(uint64_t generation, void *context)
{
	const struct owner *owner = context;
	char path[PATH_MAX];

	if (pins_path(owner->pins, generation, NULL, path) < 0)
		return -ENAMETOOLONG;
	return directory_each(path, give_entry, context);
}

int pins_give(const struct pins *pins, uid_t uid, gid_t gid)
{
	const char *const folders[] = { pins->root, PINS_STILE, PINS_RUN };
	struct owner owner = { pins, uid, gid };
	int result;

	result = pins_each_generation(pins, give_generation, &owner);
	if (result == 0)
		result = directory_each(pins->root, give_entry, &owner);
	for (size_t i = 0; i < ARRAY_SIZE(folders) && result == 0; i++)
		result = give(AT_FDCWD, folders[i], &owner);
	return result;
}

/*
 * The lock is held, so that nobody is about to pin something. A folder that is another user's than
 * root's stays: its owner could not make it again.
 */
static void remove_traces(const struct pins *pins)
{
	struct stat found;

	if (stat(PINS_STILE, &found) == 0 && found.st_uid == 0)
		(void)rmdir(PINS_STILE); /* other instances may be in it */
	(void)unlink(pins->lock);	 /* whoever waits for it looks again */
}

void pins_remove_empty(const struct pins *pins)
{
	if (rmdir(pins->root) == 0)
		remove_traces(pins);
}

int pins_remove_all(const struct pins *pins)
{
	char path[PATH_MAX];
	int result;

	result = pins_each_link(pins, remove_link, (void *)pins);
	if (result == 0)
		result = pins_remove_cgroup(pins);
	if (result == 0 && pins_path_current(pins, NULL, path) == 0)
		result = file_remove(path);
	if (result == 0)
		result = pins_remove_others(pins, 0);
	if (result < 0)
		return result;
	result = directory_remove(pins->root); /* "next" of a killed process as well */
	if (result < 0 && result != -EACCES) /* it is empty; the one around it is another user's */
		return result;
	remove_traces(pins);
	return 0;
}
