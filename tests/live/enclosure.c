/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cgroup for all that the tests start, shown to them as the root of cgroup2: a daemon that is
 * told nothing of cgroups attaches there, and not to the host's.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "enclosure.h"
#include "util.h"

#define CGROUP "stile-live"

static bool path_of(char path[PATH_MAX + 64])
{
	char root[PATH_MAX];

	if (cgroup_root(root) < 0)
		return false;
	snprintf(path, PATH_MAX + 64, "%s/" CGROUP, root);
	return true;
}

bool enclosure_enter(const char *directory)
{
	char path[PATH_MAX + 64];
	autofd int fd = -1;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "0", 1) == 1;
}

bool enclosure_begin(void)
{
	char root[PATH_MAX], path[PATH_MAX + 64];

	if (!path_of(path))
		return true; /* there is no cgroup2 to be attached to */
	if ((mkdir(path, 0755) < 0 && errno != EEXIST) || cgroup_root(root) < 0 ||
	    !enclosure_enter(path))
		return false;
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, root, NULL, MS_PRIVATE, NULL) == 0 &&
	       mount(path, root, NULL, MS_BIND, NULL) == 0;
}

int enclosure_end(void)
{
	char path[PATH_MAX + 64];

	if (!path_of(path) || rmdir(path) == 0 || errno == ENOENT)
		return 0;
	return 1;
}
