/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two threads that meet, go through a round on one bucket table, and meet again, many times over.
 * The clock is frozen, so that what they admit together is a number that is known beforehand.
 */
#ifndef STILE_RACE_H
#define STILE_RACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "host_table.h"

#define RACE_THREADS 2
#define RACE_KEYS 64
#define RACE_SETS 16
#define RACE_KINDS 8 /* of limiters: four algorithms, narrow and wide */
#define RACE_WINDOW 1000000000ULL
#define RACE_NOW (1000 * RACE_WINDOW + 1)

struct round {
	unsigned int number;
	const struct stile_limiter *limiter;
	union host_set sets[RACE_SETS];
	const struct key *keys;
	unsigned int n_keys;
	unsigned int asks; /* of each thread, for each key */
	bool refunds;	   /* half of what is admitted is given back at once */
	unsigned int allowed[RACE_THREADS][RACE_KEYS];
	unsigned int claims[RACE_THREADS][RACE_KEYS];
	unsigned int refunded[RACE_THREADS][RACE_KEYS];
};

struct race {
	struct round round;
	unsigned int rounds;
	void (*prepare)(struct round *round); /* before a round; the tables are empty */
	void (*run)(struct round *round, unsigned int thread);
	bool (*check)(const struct round *round); /* after it; false ends the race */
	/* Between the threads. */
	atomic_uint arrived;
	bool over;
};

/* The calling thread is one of the two. */
void race_run(struct race *race);

/* One of RACE_KINDS limiters, with @sets sets. */
struct stile_limiter race_limiter(size_t kind, uint32_t sets);

/* What one thread would admit for one new client. */
unsigned int race_budget(const struct stile_limiter *limiter);

/* @n clients, so chosen that no set has more than @most of them. */
void race_choose_keys(const struct stile_limiter *limiter, struct key *keys, unsigned int n,
		      unsigned int most);

/* A pause that differs, so that the threads come to a place at any distance from each other. */
void race_lag(const struct round *round, unsigned int thread);

/* No lock is held, and no client has two ways. True where that is so. */
bool race_is_whole(const struct round *round);

#endif /* STILE_RACE_H */
