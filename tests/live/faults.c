/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long, and by which numbers: a fault that was found once can be looked for again. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

unsigned int faults_rounds(unsigned int few)
{
	const char *text = getenv("STILE_FAULT_ROUNDS");
	unsigned long rounds = text ? strtoul(text, NULL, 10) : 0;

	return rounds ? (unsigned int)rounds : few;
}

uint64_t faults_seed(void)
{
	const char *text = getenv("STILE_FAULT_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);

	printf("STILE_FAULT_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}
