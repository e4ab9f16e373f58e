/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon does about open connections; a part of cmd_run.h. */
#ifndef STILE_CMD_RUN_CONNECTIONS_H
#define STILE_CMD_RUN_CONNECTIONS_H

#include <stdbool.h>

#include "apply_cgroup.h"

struct run;

struct run_connections {
	unsigned int seconds; /* until the next recount */
	int error;	      /* of the last one, told once */
	bool told_unwatched;
	enum apply_cgroup_state cgroup;
};

/* Counts what is open anew, after each load and from time to time. */
void run_connections_recount(struct run *run);

/* Once a second. */
void run_connections_tick(struct run *run);

#endif /* STILE_CMD_RUN_CONNECTIONS_H */
