/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose sources have to be proven, and what came of it. */
#include <errno.h>

#include <bpf/bpf.h>

#include "snapshot.h"
#include "snapshot_maps.h"
#include "util.h"

bool snapshot_proves(const struct snapshot *snapshot, size_t slot)
{
	const struct stile_listener *listener = &snapshot->policy.listeners[slot];

	return *listener->name && listener->proves != STILE_PROVE_NEVER;
}

bool snapshot_proves_now(const struct snapshot *snapshot, size_t slot)
{
	return snapshot_proves(snapshot, slot) &&
	       (snapshot->policy.listeners[slot].proves == STILE_PROVE_ALWAYS ||
		snapshot->proofs[slot].since);
}

int snapshot_proofs_read(const struct pins *pins, struct snapshot *snapshot)
{
	const struct snapshot_shape shapes[] = {
		{ "proofs", 4, sizeof(struct stile_proof) },
		{ "proven", 4, sizeof(struct stile_proven) },
	};
	uint64_t generation = snapshot->policy.generation;
	autofd int proofs = snapshot_maps_open(pins, generation, &shapes[0]);
	autofd int proven = snapshot_maps_open(pins, generation, &shapes[1]);
	struct stile_proof proof;
	int r = proofs < 0 ? proofs : proven < 0 ? proven : 0;

	for (uint32_t slot = 1; r == 0 && slot < STILE_LISTENERS_MAX; slot++) {
		struct snapshot_proofs *of = &snapshot->proofs[slot];

		if (!snapshot_proves(snapshot, slot))
			continue;
		r = snapshot_maps_sum(proven, slot, &of->counts, sizeof(of->counts));
		if (r == 0 && bpf_map_lookup_elem(proofs, &slot, &proof) < 0)
			r = -errno;
		else if (r == 0)
			of->since = proof.since;
	}
	return r;
}
