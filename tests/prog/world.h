/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A loaded program whose maps are pinned, as the daemon pins them, so that it can be explained. */
#ifndef STILE_WORLD_H
#define STILE_WORLD_H

#include "pins.h"
#include "prog.h"
#include "snapshot.h"

struct world {
	struct prog prog;
	struct pins pins;
	uint64_t now, drawn;
	const char *const *clients;
	uint16_t n_clients, first_port, n_ports;
	uint16_t port; /* of the packet that is told of */
	uint8_t protocol;
	uint32_t listener; /* slot, of the last that was explained */
	bool seen[_STILE_REASON_MAX];
};
#define autoworld __attribute__((cleanup(world_end)))

bool world_begin(struct world *world, const char *config);
void world_end(struct world *world);

/* The same buckets at another time. */
bool world_move(struct world *world, uint64_t now);

/* What would become of @spec, at the listener whose name is "at" and its port. */
bool world_explain(struct world *world, const struct pkt_spec *spec,
		   struct snapshot_verdict *ret_verdict);

#endif /* STILE_WORLD_H */
