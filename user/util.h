/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations that release what they hold (autofd, autofree, ...), and small shared helpers.
 * It knows nothing of Stile.
 */
#ifndef STILE_UTIL_H
#define STILE_UTIL_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline void fd_release(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void free_release(void *pointer)
{
	free(*(void **)pointer);
}

static inline void file_release(FILE **file)
{
	if (*file)
		(void)fclose(*file); /* read or flushed before: nothing left to lose */
}

#define autofd __attribute__((cleanup(fd_release)))
#define autofree __attribute__((cleanup(free_release)))
#define autofile __attribute__((cleanup(file_release)))

#endif /* STILE_UTIL_H */
