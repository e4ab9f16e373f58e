/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where cgroup2 is mounted, and its directories. It knows nothing of what is attached to them. */
#ifndef STILE_CGROUP_H
#define STILE_CGROUP_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The mount point of cgroup2, or of the first part of it that is mounted, in the text of
 * /proc/self/mountinfo. 0 or -ENOENT.
 */
int cgroup_find_mount(FILE *mountinfo, char ret_path[PATH_MAX]);

/* The same of this process. 0 or negative errno. */
int cgroup_root(char ret_path[PATH_MAX]);

/*
 * Opens the directory. Its fd, the caller's, and by what number the kernel knows it; or negative
 * errno, -EMEDIUMTYPE where it is another file system's.
 */
int cgroup_open(const char *path, uint64_t *ret_id);

/* Why it failed. */
const char *cgroup_reason(int error);

#endif /* STILE_CGROUP_H */
