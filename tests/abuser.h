/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flood of forged sources that wants a bucket table to forget who abuses the service, in virtual
 * time: clients that keep their rate, abusers far above it, and beside them addresses without end.
 * What the table admits is compared with a bucket of everybody's own that is never forgotten.
 */
#ifndef STILE_ABUSER_H
#define STILE_ABUSER_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

struct abuser_plan {
	const struct stile_limiter *limiter;
	uint64_t tick;	   /* ns; 0: the precise clock */
	uint64_t duration; /* ns */
	uint64_t seed;
	uint64_t flood;			   /* forged packets per second */
	unsigned int packets;		   /* of each forged source */
	unsigned int between;		   /* packets of others between two of them */
	unsigned int clients, client_rate; /* packets per second of each */
	unsigned int abusers, abuser_rate;
};

struct abuser_result {
	uint64_t abuser_sent, abuser_admitted, abuser_exact;
	uint64_t client_sent, client_refused; /* refused though their own bucket would admit */
	uint64_t flood_sent, flood_admitted;
	uint64_t evictions;
};

/*
 * The limiter that a configuration makes of @settings, the inside of a YAML block, where the
 * kernel ticks every @tick ns. False: it makes none, and what is wrong was printed.
 */
bool abuser_limiter(const char *settings, uint64_t tick, struct stile_limiter *ret_limiter);

/* False: out of memory. */
bool abuser_run(const struct abuser_plan *plan, struct abuser_result *ret_result);

#endif /* STILE_ABUSER_H */
