/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel side asks the daemon to evict, from a ring buffer. */
#ifndef STILE_APPLY_EVICTIONS_H
#define STILE_APPLY_EVICTIONS_H

#include <stile/abi.h>

#include "pins.h"

struct apply_evictions;

/* 0 or negative errno. @asked is called by apply_evictions_read() alone. */
int apply_evictions_open(const struct pins *pins,
			 void (*asked)(const struct stile_eviction *eviction, void *context),
			 void *context, struct apply_evictions **ret_evictions);
void apply_evictions_close(struct apply_evictions *evictions);

/* Readable where something is asked; borrowed. */
int apply_evictions_fd(const struct apply_evictions *evictions);

/* Tells of all that is asked by now. 0 or negative errno. */
int apply_evictions_read(struct apply_evictions *evictions);

#endif /* STILE_APPLY_EVICTIONS_H */
