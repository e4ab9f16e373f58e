/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose sources have to be proven, from the daemon to the program, and what it goes by. */
#ifndef STILE_APPLY_PROOFS_H
#define STILE_APPLY_PROOFS_H

#include <stile/abi.h>

#include "pins.h"

/* The maps of the generation in force; fds are -1 where they are not open. */
struct apply_proofs {
	struct stile_proof *proofs; /* by listener slot, in the kernel's memory; NULL: not open */
	int proven, connections, tables;
	int n_cpus;
};

/* What was counted of a listener since protection began. */
struct apply_proofs_counts {
	struct stile_proven proven;
	uint64_t opened;
};

/* 0 or negative errno; released with apply_proofs_close(), which takes one that is not open too. */
int apply_proofs_open(const struct pins *pins, struct apply_proofs *ret_proofs);
void apply_proofs_close(struct apply_proofs *proofs);

/* 0 or negative errno. */
int apply_proofs_read(const struct apply_proofs *proofs, uint32_t listener,
		      struct apply_proofs_counts *ret_counts);

/* Clients of the limiter in @slot that made room or found none. 0 or negative errno. */
int apply_proofs_evicted(const struct apply_proofs *proofs, uint32_t limiter,
			 uint64_t *ret_evicted);

/* From now on, at once for every packet; @on false: no more. */
void apply_proofs_switch(const struct apply_proofs *proofs, uint32_t listener, bool on);

#endif /* STILE_APPLY_PROOFS_H */
