/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that says which process is the daemon, locked by it: there is one or none. */
#ifndef STILE_PIDFILE_H
#define STILE_PIDFILE_H

#include <sys/types.h>

/*
 * Writes our process id to @path, whose directory is made where it is missing, and holds the file:
 * its fd, or negative errno. -EBUSY: another process holds it, *ret_other (0 where it has not
 * written its id yet).
 */
int pidfile_take(const char *path, pid_t *ret_other);

/*
 * Calls @each with the process that holds any other file *.pid of the folder of @path; stops at a
 * non-zero result and returns it.
 */
int pidfile_each_other(const char *path, int (*each)(pid_t other, void *context), void *context);

/* Removes one that nobody holds, of a process that was killed. */
void pidfile_sweep(const char *path);

/* Removes it; @fd is closed. */
void pidfile_remove(const char *path, int fd);

#endif /* STILE_PIDFILE_H */
