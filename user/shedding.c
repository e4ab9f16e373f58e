/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters that start again stand for another table: what they begin with is no news. */
#include "shedding.h"

static uint64_t since(const struct shedding *shedding, const struct stile_decisions *now,
		      enum stile_decision decision)
{
	uint64_t count = now->count[decision], before = shedding->before.count[decision];

	return shedding->known && count > before ? count - before : 0;
}

static unsigned int next_patience(const struct shedding *shedding)
{
	unsigned int patience = 2 * shedding->patience;

	if (patience == 0 || shedding->quiet >= SHEDDING_FORGET)
		return SHEDDING_QUIET_MIN;
	return patience < SHEDDING_QUIET_MAX ? patience : SHEDDING_QUIET_MAX;
}

static enum shedding_change step_off(struct shedding *shedding, uint64_t refused)
{
	if (refused == 0) {
		if (shedding->quiet < SHEDDING_FORGET)
			shedding->quiet++;
		return SHEDDING_SAME;
	}
	shedding->patience = next_patience(shedding);
	shedding->on = true;
	shedding->refused = refused;
	shedding->steps = 1;
	shedding->lasted = 1;
	shedding->quiet = 0;
	return SHEDDING_BEGINS;
}

static enum shedding_change step_on(struct shedding *shedding, uint64_t refused)
{
	shedding->steps++;
	if (refused) {
		shedding->refused += refused;
		shedding->lasted = shedding->steps;
		shedding->quiet = 0;
		return SHEDDING_SAME;
	}
	if (++shedding->quiet < shedding->patience)
		return SHEDDING_SAME;
	shedding->on = false;
	return SHEDDING_ENDS;
}

enum shedding_change shedding_step(struct shedding *shedding, const struct stile_decisions *now,
				   bool full_refuses)
{
	uint64_t refused = since(shedding, now, STILE_DECISION_LIMITED);

	if (full_refuses)
		refused += since(shedding, now, STILE_DECISION_FULL);
	shedding->before = *now;
	shedding->known = true;
	return shedding->on ? step_on(shedding, refused) : step_off(shedding, refused);
}
