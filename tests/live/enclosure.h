/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A cgroup for all that the tests start. */
#ifndef STILE_LIVE_ENCLOSURE_H
#define STILE_LIVE_ENCLOSURE_H

#include <stdbool.h>

/*
 * From here on this process and what it starts are in a cgroup of the tests, and take it for the
 * root of cgroup2.
 */
bool enclosure_begin(void);

/* Removes it when all of them have ended. 1 where it cannot be. */
int enclosure_end(void);

/* Moves this process into the cgroup @directory. */
bool enclosure_enter(const char *directory);

#endif /* STILE_LIVE_ENCLOSURE_H */
