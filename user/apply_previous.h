/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The generation in force, as the next one finds it: its policy, and the maps that go on or are
 * copied from. For apply.c alone; it reads pins and changes only maps of the next generation.
 */
#ifndef STILE_APPLY_PREVIOUS_H
#define STILE_APPLY_PREVIOUS_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#include "diag.h"
#include "loader.h"
#include "pins.h"
#include "policy.h"

struct apply_previous {
	bool found;
	uint64_t generation; /* 0 where there is none */
	struct stile_policy policy;
	struct loader_kept kept; /* fds of our own; -1: none */
};

/* The policy that is pinned for @generation. 0, -EPROTO (another version's) or negative errno. */
int apply_previous_policy(const struct pins *pins, uint64_t generation,
			  struct stile_policy *ret_policy);

/* 0, also where there is none; or negative errno, with the reason in @diag. */
int apply_previous_read(const struct pins *pins, struct diag *diag,
			struct apply_previous *ret_previous);

/* Opens the bucket tables that @policy keeps. 0 or negative errno. */
int apply_previous_open_tables(const struct pins *pins, const struct policy *policy,
			       struct apply_previous *previous);

/*
 * Copies what commands put on the trusted and the blocked list, and clears the counters of slots
 * that have another owner now. 0 or negative errno.
 */
int apply_previous_carry(const struct pins *pins, const struct apply_previous *previous,
			 const struct policy *policy, const struct loader *loader);

void apply_previous_release(struct apply_previous *previous);

#endif /* STILE_APPLY_PREVIOUS_H */
