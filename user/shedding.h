/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a limiter sheds clients of a listener: it begins with the first one refused, and ends
 * when nobody has been refused for a while. Where it keeps beginning again, that while grows, so
 * that a client who is refused now and then fills no log. Pure; a step is a second.
 */
#ifndef STILE_SHEDDING_H
#define STILE_SHEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#define SHEDDING_QUIET_MIN 5   /* steps without a refusal that end it */
#define SHEDDING_QUIET_MAX 320 /* where it began again and again */
#define SHEDDING_FORGET 640    /* steps without a refusal after which it is like new */

enum shedding_change {
	SHEDDING_SAME,
	SHEDDING_BEGINS,
	SHEDDING_ENDS,
};

/* All zero: nothing is known yet. */
struct shedding {
	bool known, on;
	struct stile_decisions before; /* of the last step */
	uint64_t refused;	       /* since it began */
	unsigned int steps;	       /* since it began */
	unsigned int lasted;	       /* of those, up to the last refusal */
	unsigned int quiet;	       /* since the last refusal */
	unsigned int patience;	       /* what quiet has to reach; 0: it never began */
};

/* A step later. @full_refuses: who finds no room in the table is refused. */
enum shedding_change shedding_step(struct shedding *shedding, const struct stile_decisions *now,
				   bool full_refuses);

#endif /* STILE_SHEDDING_H */
