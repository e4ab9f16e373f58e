/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon does for the services: their levels, who is told of them, evictions. */
#ifndef STILE_CMD_RUN_SERVICE_H
#define STILE_CMD_RUN_SERVICE_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd_run.h"
#include "http.h"

/*
 * Servers for agent-checks, as run_servers_bind() and run_servers_adopt(); run_agents_free() takes
 * a list.
 */
int run_agents_bind(struct run *run, const struct config *next, struct diag *diag,
		    struct run_agent **ret_agents);
void run_agents_adopt(struct run *run, const struct config *next, struct run_agent *agents,
		      struct diag *diag);
void run_agents_free(struct run_agent *agents);

/*
 * Service levels: a second has passed, or a load (@loaded), which is no second. 0 or negative
 * errno: -ENOENT where nothing is in force.
 */
int run_levels_step(struct run *run, bool loaded);
int run_level(const struct run *run, const char *listener); /* -1: nobody knows */
enum http_found run_level_write(const struct run *run, const struct http_level *asked, FILE *out,
				unsigned int *ret_wait);

/* prove_sources: auto: after each load, and once a second with what snapshot_take_load() says. */
struct snapshot;
void run_proofs_load(struct run *run);
void run_proofs_second(struct run *run, const struct snapshot *snapshot);
void run_proofs_free(struct run *run);

/* What sheds: after each load and once a second, the same; when nothing is in force any more. */
int run_shedding_step(struct run *run, const struct snapshot *snapshot);
void run_shedding_gone(struct run *run);
void run_shedding_free(struct run *run);

/* on_limit: evict-idle: after each load, and once a second. */
void run_evict_load(struct run *run);
void run_evict_second(struct run *run);
void run_evict_free(struct run *run);

#endif /* STILE_CMD_RUN_SERVICE_H */
