/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of the page that is about proofs of sources. */
#include <inttypes.h>

#include "metrics_proofs.h"
#include "snapshot.h"

struct proof_metric {
	const char *name, *type, *help;
	uint64_t (*value)(const struct snapshot *snapshot, size_t slot);
};

static uint64_t proves_now(const struct snapshot *snapshot, size_t slot)
{
	return snapshot_proves_now(snapshot, slot);
}

static uint64_t challenged(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->proofs[slot].counts.challenged;
}

static uint64_t proven(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->proofs[slot].counts.proven;
}

static uint64_t failed(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->proofs[slot].counts.failed;
}

static uint64_t unprovable(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->proofs[slot].counts.unprovable;
}

void metrics_proofs_render(const struct snapshot *snapshot, FILE *out)
{
	static const struct proof_metric metrics[] = {
		{ "stile_prove_sources", "gauge", "Whether sources have to be proven now.",
		  proves_now },
		{ "stile_syns_challenged_total", "counter",
		  "SYNs that were answered with a SYN cookie.", challenged },
		{ "stile_sources_proven_total", "counter",
		  "SYN cookies that came back, and were judged.", proven },
		{ "stile_proofs_failed_total", "counter",
		  "SYN cookies that came back, and that the kernel made no connection of.",
		  failed },
		{ "stile_syns_unprovable_total", "counter",
		  "SYNs judged unproven, as nothing here could take a connection of them.",
		  unprovable },
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help,
			metrics[i].name, metrics[i].type);
		for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
			if (snapshot_proves(snapshot, slot))
				fprintf(out, "%s{listener=\"%s\"} %" PRIu64 "\n", metrics[i].name,
					snapshot->policy.listeners[slot].name,
					metrics[i].value(snapshot, slot));
		}
	}
}
