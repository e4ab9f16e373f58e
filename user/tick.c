/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counter moved between the last sample that showed the old value and the first that showed
 * the new one. Kernels since 6.4 let it move at multiples of the tick (tick_setup_device), so a
 * base a little above a multiple is taken to be that multiple; where that is wrong, the map lags
 * by an eighth of a tick at most. On others the edge is where the old value was seen last.
 */
#include "tick.h"

#define TICK_SNAP 8 /* part of a tick */

void tick_begin(struct tick_fit *fit, uint64_t tick)
{
	*fit = (struct tick_fit){ .tick = tick };
}

void tick_add(struct tick_fit *fit, const struct tick_sample *sample)
{
	struct tick_sample last = fit->last;
	int64_t base;

	fit->last = *sample;
	if (last.time == 0 || sample->ticks == last.ticks)
		return;
	base = (int64_t)(sample->time - sample->ticks * fit->tick);
	if (fit->edges == 0 || base < fit->base) {
		fit->base = base;
		fit->doubt = (int64_t)(sample->time - last.time);
	}
	fit->edges++;
}

uint64_t tick_base(const struct tick_fit *fit)
{
	int64_t tick = (int64_t)fit->tick;
	int64_t over = fit->base % tick;

	if (over < 0)
		over += tick;
	return (uint64_t)(fit->base - (over < tick / TICK_SNAP ? over : fit->doubt));
}
