/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bad news counts at once, good news once it has lasted: a load balancer that is told of room sends
 * load there, which takes the room, and both would swing. Rising by steps lets the load come back
 * little by little.
 */
#include "level.h"

/* The part that is left of @total, of LEVEL_MAX. */
static uint8_t left(uint64_t used, uint64_t total)
{
	if (total == 0 || used == 0)
		return LEVEL_MAX;
	if (used >= total)
		return 0;
	return (uint8_t)((double)(total - used) * LEVEL_MAX / (double)total);
}

static uint8_t lower(uint8_t one, uint8_t other)
{
	return one < other ? one : other;
}

uint8_t level_of(const struct level_input *input)
{
	uint8_t level = left(input->refused, input->events);

	level = lower(level, left(input->held, input->limit));
	level = lower(level, left(input->queued, input->queue_limit));
	if (input->service == LEVEL_SERVICE_NONE)
		return 0;
	return level ? level : 1; /* whoever is sent nothing at all never shows that it is well */
}

static void rise(struct level *level, uint8_t wanted)
{
	/* Up again after a restart: it is to be asked, however little. */
	if (level->value == 0)
		level->value = 1;
	if (level->quiet < LEVEL_QUIET)
		level->quiet++;
	if (level->quiet < LEVEL_QUIET)
		return;
	level->value = wanted - level->value < LEVEL_STEP ? wanted
							  : (uint8_t)(level->value + LEVEL_STEP);
}

void level_step(struct level *level, const struct level_input *input)
{
	struct level_input seen = *input;
	bool listened = level->listened || input->service == LEVEL_SERVICE_LISTENS;
	uint8_t wanted;

	if (!listened)
		seen.service = LEVEL_SERVICE_UNKNOWN;
	wanted = level_of(&seen);
	if (level->known && wanted > level->value)
		rise(level, wanted);
	else
		*level = (struct level){ .known = true, .value = wanted };
	level->listened = listened;
}

unsigned int level_wait(const struct level *level, uint8_t wanted)
{
	unsigned int steps, quiet = LEVEL_QUIET - level->quiet;

	if (level->value >= wanted)
		return 0;
	steps = ((unsigned int)wanted - level->value + LEVEL_STEP - 1) / LEVEL_STEP;
	return (quiet ? quiet : 1) + steps - 1;
}

unsigned int level_percent(uint8_t level)
{
	return (level * 100U + LEVEL_MAX - 1) / LEVEL_MAX;
}
