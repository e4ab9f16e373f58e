/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a limiter is meant to do, told a second time and as plainly as can be, for tests to compare
 * with: events counted by absolute window, tokens as a level that fills with time, every sum in
 * 128 bits. It shares no code with bpf/ and no representation with its packed states.
 */
#ifndef STILE_MODEL_H
#define STILE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#define MODEL_WINDOWS 4 /* that are remembered */

struct model_window {
	uint64_t number; /* time over length: absolute, it never wraps */
	uint64_t events;
};

/* One client's bucket; all zero: new. */
struct model_bucket {
	bool used; /* charged at least once */
	/* Windows. */
	struct model_window windows[MODEL_WINDOWS];
	uint64_t newest; /* number of the window that was charged last */
	/* Tokens: the level at some moment, in the time that it takes to fill, 1/64 ns. */
	__int128 level;
	uint64_t at; /* ns */
};

/* Whether one more event is within the limit at @now. */
bool model_admits(const struct stile_limiter *limiter, const struct model_bucket *bucket,
		  uint64_t now);

/* Charges one event, within the limit or (action count) over it. */
void model_charge(const struct stile_limiter *limiter, struct model_bucket *bucket, uint64_t now);

/* Takes back the last charge. */
void model_refund(const struct stile_limiter *limiter, struct model_bucket *bucket);

/* Whether nothing that ever happened to the bucket matters at @now or later. */
bool model_is_new(const struct stile_limiter *limiter, const struct model_bucket *bucket,
		  uint64_t now);

#endif /* STILE_MODEL_H */
