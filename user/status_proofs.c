/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proofs of sources, of the listeners that ask for them. */
#include "names.h"
#include "phrase.h"
#include "status.h"
#include "table_print.h"
#include "util.h"

static void add_listener(const struct snapshot *snapshot, size_t slot, struct table_print *table)
{
	const struct snapshot_proofs *proofs = &snapshot->proofs[slot];
	const struct stile_listener *listener = &snapshot->policy.listeners[slot];
	char since[PHRASE_SIZE];

	table_print_cell(table, "%s", listener->name);
	table_print_cell(table, "%s", policy_prove_names[listener->proves]);
	if (listener->proves == STILE_PROVE_ALWAYS)
		table_print_cell(table, "yes");
	else if (!proofs->since)
		table_print_cell(table, "no");
	else
		table_print_cell(table, "for %s",
				 phrase_duration(snapshot->now > proofs->since
							 ? snapshot->now - proofs->since
							 : 0,
						 since));
	table_print_cell(table, "%llu", proofs->counts.challenged);
	table_print_cell(table, "%llu", proofs->counts.proven);
	table_print_cell(table, "%llu", proofs->counts.failed);
	table_print_cell(table, "%llu", proofs->counts.unprovable);
}

int status_print_proofs(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false },	{ "PROVE-SOURCES", false }, { "NOW", false },
		{ "CHALLENGED", true }, { "PROVEN", true },	    { "FAILED", true },
		{ "UNPROVABLE", true },
	};
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++)
		if (snapshot_proves(status->snapshot, slot))
			add_listener(status->snapshot, slot, &table);
	return status_print_finish(&table, out);
}

json_t *status_proofs_json(const struct snapshot *snapshot, uint32_t slot)
{
	const struct stile_proven *counts = &snapshot->proofs[slot].counts;

	if (!snapshot_proves(snapshot, slot))
		return json_null();
	return json_pack("{ss, sb, sI, sI, sI, sI}", "when",
			 policy_prove_names[snapshot->policy.listeners[slot].proves], "now",
			 snapshot_proves_now(snapshot, slot), "challenged_total",
			 (json_int_t)counts->challenged, "proven_total", (json_int_t)counts->proven,
			 "failed_total", (json_int_t)counts->failed, "unprovable_total",
			 (json_int_t)counts->unprovable);
}
