/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The backlog of another process's listening socket: a copy of its descriptor is enough to call
 * listen() on it again, and the process is neither stopped nor told. It knows nothing of listeners.
 */
#ifndef STILE_BACKLOG_H
#define STILE_BACKLOG_H

#include <stdint.h>

#include "sockdiag.h"

/* What bounds every backlog of this network namespace: net.core.somaxconn. 0 or negative errno. */
int backlog_cap(uint32_t *ret_cap);

/* Who holds a socket. */
struct backlog_holder {
	int pid;
	char name[16]; /* as /proc/PID/comm has it */
};

/*
 * Sets the backlog of @socket, which listens. 0; -ESRCH where no process that can be seen holds it;
 * -EACCES or -EPERM where that takes CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH; or another negative
 * errno. *ret_holder is written wherever a process was found, else its pid is 0.
 */
int backlog_set(const struct sockdiag_socket *socket, uint32_t backlog,
		struct backlog_holder *ret_holder);

#endif /* STILE_BACKLOG_H */
