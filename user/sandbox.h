/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system calls that are left to the daemon once it has started. */
#ifndef STILE_SANDBOX_H
#define STILE_SANDBOX_H

#include <stdbool.h>

/*
 * Refuses the process all others, for good: starting programs, opening files for writing, memory
 * that becomes code, and whatever else a daemon that runs has no use for. They fail as if they
 * were not permitted. With @sockets it may copy other processes' sockets (user/backlog.c). 0 or
 * negative errno: -EINVAL, -ENOSYS where the kernel has no such filters.
 */
int sandbox_enter(bool sockets);

/* The number of a call that was refused since this was last asked, or -1. Its name, "": unknown. */
int sandbox_refused(void);
void sandbox_name(int number, char ret_name[32]);

#endif /* STILE_SANDBOX_H */
