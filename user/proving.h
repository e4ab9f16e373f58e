/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prove_sources: auto: when the sources of a listener's clients have to be proven. At once when
 * handshakes come to nothing, or what forged sources fill is nearly full; no more when that has
 * been over for a while. Pure; a step is a tenth of a second, which is the caller's.
 */
#ifndef STILE_PROVING_H
#define STILE_PROVING_H

#include <stdbool.h>
#include <stdint.h>

#define PROVING_STEPS 10	/* in a second */
#define PROVING_QUIET_STEPS 100 /* that have to be quiet in a row */
#define PROVING_UNANSWERED 128	/* SYNs, beyond as many as were answered: it begins */
#define PROVING_ANSWERED_MIN 32 /* as few, beyond a quarter of those: it is quiet */
#define PROVING_EVICTED 16	/* clients in a second that had to make room: a table is full */

/* Why it began. */
enum proving_reason {
	PROVING_NONE,
	PROVING_HANDSHAKES, /* SYNs come to nothing */
	PROVING_TABLE,	    /* a limiter's table has no room */
	PROVING_QUEUE,	    /* the accept or the SYN queue is nearly full */
	_PROVING_MAX,
};

/* Counters, which only rise, and what a second brought. */
struct proving_input {
	uint64_t asked;	   /* SYNs that were let in or answered with a cookie */
	uint64_t opened;   /* connections, whatever they came of */
	uint64_t proven;   /* cookies that came back */
	bool counted;	   /* opened is known, and of a service of this host */
	bool table, queue; /* nearly full */
};

/* All zero, but for the counters that it begins with: nothing has to be proven. */
struct proving {
	bool known, on;
	enum proving_reason reason;  /* of the last beginning */
	struct proving_input before; /* that of the last step */
	uint64_t waiting;	     /* SYNs that were not answered, those of long ago less */
	uint64_t done;		     /* those that were, the same */
	unsigned int quiet;	     /* steps in a row */
};

/* A step later. Whether it has begun or ended. */
bool proving_step(struct proving *proving, const struct proving_input *input);

#endif /* STILE_PROVING_H */
