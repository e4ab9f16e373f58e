/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose a socket is: the listener of an address and a port, asked of a copy of the very tables that
 * packets are looked up in (bpf/classify.h). On TCP.
 */
#ifndef STILE_SNAPSHOT_PLACES_H
#define STILE_SNAPSHOT_PLACES_H

#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"
#include "sockdiag.h"

struct snapshot_places;

/* Those of the generation of @policy. 0 or negative errno; -ENOENT: it is not there any more. */
int snapshot_places_read(const struct pins *pins, const struct stile_policy *policy,
			 struct snapshot_places **ret_places);
void snapshot_places_free(struct snapshot_places *places);

/* The slot of the listener for that address and port, or 0. */
uint32_t snapshot_places_at(const struct snapshot_places *places, const uint8_t address[16],
			    uint16_t port);

/*
 * Calls @each with the slot of every listener, once, that has a place at which @socket listens: one
 * that is bound to no address listens at all of its families.
 */
void snapshot_places_served(const struct snapshot_places *places,
			    const struct sockdiag_socket *socket,
			    void (*each)(uint32_t listener, void *context), void *context);

#endif /* STILE_SNAPSHOT_PLACES_H */
