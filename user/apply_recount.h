/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open connections listed by the kernel: those that nobody told of are counted, and what is counted
 * and not there is put right. For the daemon, after each load and from time to time.
 */
#ifndef STILE_APPLY_RECOUNT_H
#define STILE_APPLY_RECOUNT_H

#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"

struct apply_recount {
	struct {
		char name[STILE_NAME_SIZE];
		int64_t excess; /* that was counted and not there; negative: the other way */
	} listeners[STILE_LISTENERS_MAX];
	unsigned int n_listeners; /* whose count was put right */
	size_t n_clients;	  /* the same of clients */
	size_t n_places;	  /* the same of buckets of limiters of concurrency */
	size_t n_unwatched;	  /* sockets whose end only the next recount will find */
};

/* 0, also where nothing is counted; or negative errno: -EOPNOTSUPP where the kernel cannot. */
int apply_recount(const struct pins *pins, struct apply_recount *ret_recount);

/*
 * Counts those that nobody told of as the policy of @generation has it, and gives all of them their
 * places. 0 or negative errno, as above.
 */
int apply_seed(const struct pins *pins, uint64_t generation);

#endif /* STILE_APPLY_RECOUNT_H */
