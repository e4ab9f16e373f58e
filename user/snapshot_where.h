/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a snapshot that says where listeners stand, and for whom they have policies. */
#ifndef STILE_SNAPSHOT_WHERE_H
#define STILE_SNAPSHOT_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"
#include "prefix.h"

struct snapshot;

/* A run of ports at which a listener stands. */
struct snapshot_ports {
	uint32_t listener; /* slot */
	bool everywhere;   /* at every address that names no other listener */
	uint8_t address[16];
	uint16_t first, last;
};

/* By listener, address and port. *ret_ports is freed by the caller. */
int snapshot_read_ports(const struct pins *pins, const struct snapshot *snapshot,
			struct snapshot_ports **ret_ports, size_t *ret_n_ports);

struct snapshot_source {
	uint32_t listener; /* slot */
	struct prefix prefix;
	struct stile_source policy;
};

/* By listener and prefix. *ret_sources is freed by the caller. */
int snapshot_read_sources(const struct pins *pins, const struct snapshot *snapshot,
			  struct snapshot_source **ret_sources, size_t *ret_n_sources);

#endif /* STILE_SNAPSHOT_WHERE_H */
