/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of the text that is about open connections. */
#include <inttypes.h>

#include "status.h"
#include "table_print.h"
#include "util.h"

static void print_cgroup(const struct snapshot_cgroup *cgroup, FILE *out)
{
	if (!cgroup->attached)
		fprintf(out, "\nCONNECTIONS ARE NOT COUNTED: nothing is attached to %s\n",
			*cgroup->path ? cgroup->path : "a cgroup");
}

int status_print_connections(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "CONNECTIONS", false }, { "OPEN", true },	{ "OPENED", true },
		{ "RECOUNTED", true },	  { "OVERFLOW", true },
	};
	const struct snapshot *snapshot = status->snapshot;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 1; i < STILE_LISTENERS_MAX; i++) {
		const struct snapshot_connections *connections = &snapshot->connections[i];

		if (!snapshot_counts_connections(snapshot, i))
			continue;
		table_print_cell(&table, "%s", snapshot->policy.listeners[i].name);
		table_print_cell(&table, "%" PRIu64, connections->open);
		table_print_cell(&table, "%" PRIu64, connections->opened);
		table_print_cell(&table, "%" PRIu64, connections->recounted);
		table_print_cell(&table, "%" PRIu64, connections->overflow);
	}
	if (snapshot->policy.connections)
		print_cgroup(&snapshot->cgroup, out);
	return status_print_finish(&table, out);
}
