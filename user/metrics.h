/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A snapshot as Prometheus text (exposition format 0.0.4). Pure. */
#ifndef STILE_METRICS_H
#define STILE_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "snapshot.h"

/* What only the daemon knows. */
struct metrics_daemon {
	uint64_t reloads_ok, reloads_failed;
	bool last_reload_ok;
	bool shedding[STILE_ATTACHMENTS_MAX];
	uint64_t evicted[STILE_LISTENERS_MAX]; /* connections, by listener slot */
};

/* @daemon NULL: without what only the daemon knows. */
void metrics_render(const struct snapshot *snapshot, const struct metrics_daemon *daemon,
		    FILE *out);

#endif /* STILE_METRICS_H */
