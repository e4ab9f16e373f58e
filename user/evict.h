/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes room for a client's new connection by closing the one of its own that has been idle for
 * longest (on_limit: evict-idle).
 */
#ifndef STILE_EVICT_H
#define STILE_EVICT_H

#include <stdint.h>

#include "prefix.h"
#include "snapshot_places.h"
#include "sockdiag.h"

#define EVICT_IDLE_MS 1000 /* one through which data went since is at work, and stays */

/* How long data has gone neither way, ms; 0: it is not known, or not over. */
uint32_t evict_idle(const struct sockdiag_socket *socket);

/*
 * Closes the connection of @client at the listener in slot @listener that has been idle for
 * longest. 0; -ENOENT where none is idle; -EOPNOTSUPP where the kernel cannot; or -errno.
 */
int evict_longest_idle(struct sockdiag *diag, const struct snapshot_places *places,
		       const struct prefix *client, uint32_t listener);

#endif /* STILE_EVICT_H */
