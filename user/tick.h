/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the kernel's tick counter maps to CLOCK_MONOTONIC, from samples of both: ns = ticks * tick +
 * base, modulo 2^64. Pure. The kernel advances the counter after the moment it stands for, never
 * before, so that the map can be made to lag, but not to run ahead.
 */
#ifndef STILE_TICK_H
#define STILE_TICK_H

#include <stdint.h>

/* Both clocks, read one after the other. */
struct tick_sample {
	uint64_t time; /* ns of CLOCK_MONOTONIC */
	uint64_t ticks;
};

struct tick_fit {
	uint64_t tick; /* ns */
	struct tick_sample last;
	int64_t base;	    /* lowest of all edges seen: still a little ahead of the real one */
	int64_t doubt;	    /* ns between the two samples around that edge */
	unsigned int edges; /* how often the counter was seen to move */
};

void tick_begin(struct tick_fit *fit, uint64_t tick);

/* Samples in the order they were taken. */
void tick_add(struct tick_fit *fit, const struct tick_sample *sample);

/* The base; only where an edge was seen. */
uint64_t tick_base(const struct tick_fit *fit);

#endif /* STILE_TICK_H */
