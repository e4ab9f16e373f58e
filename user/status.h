/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stile status knows, and its two renderings. */
#ifndef STILE_STATUS_H
#define STILE_STATUS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <jansson.h>

#include "snapshot.h"

struct status {
	const char *instance;
	struct snapshot *snapshot;
	struct snapshot_ports *ports;
	size_t n_ports;
	struct snapshot_source *sources;
	size_t n_sources;
	time_t since;	 /* when protection began, by the wall clock */
	uint64_t uptime; /* ns since then */
};

/* 0 or -ENOMEM. */
int status_print(const struct status *status, FILE *out);

/* Two of its tables; and what ends each: 0 or -ENOMEM. */
struct table_print;
int status_print_load(const struct status *status, FILE *out);
int status_print_connections(const struct status *status, FILE *out);
int status_print_finish(struct table_print *table, FILE *out);

/* NULL where there is no memory for it. */
json_t *status_json(const struct status *status);

/* The accept queues, and what of them is one listener's (null: not on tcp, or not known). */
int status_print_queues(const struct status *status, FILE *out);
json_t *status_queue_json(const struct snapshot *snapshot, uint32_t slot);

/* Proofs of sources, the same (null: the listener asks for none). */
int status_print_proofs(const struct status *status, FILE *out);
json_t *status_proofs_json(const struct snapshot *snapshot, uint32_t slot);

/*
 * The limiters that a list of attachments names: @judges up to the first 0, @n at most. Calls @each
 * with every name, but the next.
 */
void status_each_limiter(const struct stile_policy *policy, const uint16_t *judges, size_t n,
			 void (*each)(const char *name, void *context), void *context);

/* The limiter among @judges that judges new sources only, or NULL. */
const char *status_new_sources(const struct stile_policy *policy, const uint16_t *judges);

/* The limiter that packets bring with them from the interface in @slot, or NULL. */
const char *status_edge(const struct stile_policy *policy, uint32_t slot);

#endif /* STILE_STATUS_H */
