/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers that look random and are the same in every run: SplitMix64 (Steele, OOPSLA 2014). */
#ifndef STILE_RANDOM_H
#define STILE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t word = *state += 0x9e3779b97f4a7c15;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
	word = (word ^ word >> 27) * 0x94d049bb133111eb;
	return word ^ word >> 31;
}

/* 0 to @n - 1; @n is not 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((unsigned __int128)random_next(state) * n >> 64);
}

/* True @percent times out of a hundred. */
static inline int random_chance(uint64_t *state, unsigned int percent)
{
	return random_below(state, 100) < percent;
}

#endif /* STILE_RANDOM_H */
