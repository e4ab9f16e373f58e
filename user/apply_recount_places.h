/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places that connections hold in the tables of limiters of concurrency, held against lists of
 * sockets. For apply_recount.c alone, which knows in which moments that means something.
 */
#ifndef STILE_APPLY_RECOUNT_PLACES_H
#define STILE_APPLY_RECOUNT_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"

#define RECOUNT_DOUBTS_MAX 4096 /* buckets; those beyond it are for the next time */

struct recount_notes {
	const struct stile_socket *notes;
	size_t n;
};

/* A bucket whose connections are not as many as were found. */
struct recount_doubt {
	uint32_t slot; /* of its limiter */
	uint32_t set, way;
	uint64_t key[2];
	uint64_t state;
	uint64_t found;
};

struct recount_doubts {
	struct recount_doubt doubts[RECOUNT_DOUBTS_MAX];
	size_t n;
};

/* 0 or negative errno. */
int recount_places_doubt(const struct pins *pins, const struct stile_policy *policy,
			 const struct recount_notes *list, struct recount_doubts *ret_doubts);

/*
 * Puts right those of @doubts that have not changed since, and that another list says the same of.
 * The number of them, or negative errno.
 */
int recount_places_correct(const struct pins *pins, const struct stile_policy *policy,
			   const struct recount_notes *list, const struct recount_doubts *doubts);

#endif /* STILE_APPLY_RECOUNT_PLACES_H */
