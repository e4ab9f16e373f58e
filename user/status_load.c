/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The load of each listener's service, a row each. */
#include "status.h"
#include "table_print.h"
#include "util.h"

static void add_load(const struct status *status, uint32_t slot, struct table_print *table)
{
	int level = snapshot_level(status->snapshot, slot);

	table_print_cell(table, "%s", status->snapshot->policy.listeners[slot].name);
	if (level < 0)
		table_print_cell(table, "-");
	else
		table_print_cell(table, "%d", level);
}

int status_print_load(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false },
		{ "LEVEL", true },
	};
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++)
		if (*status->snapshot->policy.listeners[slot].name)
			add_load(status, slot, &table);
	return status_print_finish(&table, out);
}
