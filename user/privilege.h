/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the process may do to the kernel. */
#ifndef STILE_PRIVILEGE_H
#define STILE_PRIVILEGE_H

#include <stdbool.h>

#define PRIVILEGE_HINT "it takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"

/*
 * Whether the process has the three. Without CAP_PERFMON the verifier refuses a program in words
 * that say nothing of capabilities.
 */
bool privilege_has_all(void);

/*
 * Gives up, for good, whatever a daemon that runs has no use for: it keeps the three, a port below
 * 1024 for its metrics, and the reading of a configuration that is another user's. 0 or negative
 * errno.
 */
int privilege_drop(void);

#endif /* STILE_PRIVILEGE_H */
