/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Beside version 1, cgroup2 is mounted wherever the distribution likes: proc(5), mountinfo. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "cgroup.h"
#include "util.h"

/* Blanks and backslashes are written as three octal digits. */
static void unescape(char *text)
{
	char *to = text;
	unsigned int code;

	while (*text) {
		if (sscanf(text, "\\%3o", &code) == 1) {
			*to++ = (char)code;
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

int cgroup_find_mount(FILE *mountinfo, char ret_path[PATH_MAX])
{
	autofree char *line = NULL;
	char root[PATH_MAX], path[PATH_MAX];
	int found = -ENOENT;
	size_t size = 0;

	while (getline(&line, &size, mountinfo) >= 0) {
		if (!strstr(line, " - cgroup2 ") ||
		    sscanf(line, "%*s %*s %*s %4095s %4095s", root, path) != 2)
			continue;
		if (found == 0 && strcmp(root, "/") != 0)
			continue;
		unescape(path);
		memcpy(ret_path, path, strlen(path) + 1);
		found = 0;
		if (strcmp(root, "/") == 0)
			break;
	}
	return found;
}

int cgroup_root(char ret_path[PATH_MAX])
{
	autofile FILE *mountinfo = fopen("/proc/self/mountinfo", "re");

	return mountinfo ? cgroup_find_mount(mountinfo, ret_path) : -errno;
}

int cgroup_open(const char *path, uint64_t *ret_id)
{
	autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat found;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fstat(fd, &found) < 0)
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return -EMEDIUMTYPE;
	*ret_id = found.st_ino; /* that is what kernfs makes of an id, where words have 64 bits */
	return take_fd(&fd);
}

const char *cgroup_reason(int error)
{
	return error == -EMEDIUMTYPE ? "it is no directory of a cgroup2 file system"
				     : strerror(-error);
}
