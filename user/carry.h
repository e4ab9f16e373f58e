/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What buckets owe, carried into the table of the next generation where that is of another size or
 * counts tokens in another time. Pure: memory in, memory out. apply.h knows what generations are.
 *
 * The number of tokens that a client has spent is kept, and the events of windows are, whatever the
 * limit and the burst were and will be. The table before is in use until the programs are swapped,
 * so carry_fill() goes before the swap and carry_catch_up() after it: what the program before has
 * admitted since the fill is charged then. Until it is, and that is the whole of the error, a
 * client may be let in as often beyond its limit as it was between its fill and the swap.
 */
#ifndef STILE_CARRY_H
#define STILE_CARRY_H

#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

struct carry {
	const struct stile_limiter *before, *now; /* the same but for limit, burst and sets */
	const void *from;			  /* sets of before, which may change meanwhile */
	void *seen; /* the same, as far as they were carried; at first all zero */
	void *to;   /* sets of now; at first all zero */
};

/*
 * While nobody else uses carry->to. Where a set has too few ways, those stay that are worth most to
 * its limiter. @clock: now, as the limiter's clock shows it. The number of live buckets that found
 * no room; called again, it carries what has changed since.
 */
size_t carry_fill(const struct carry *carry, uint64_t clock);

/*
 * While programs use carry->to. It takes no lock, so that it may be killed anywhere, and therefore
 * makes no new bucket. The number of clients that were charged since the last call and have none.
 */
size_t carry_catch_up(const struct carry *carry, uint64_t clock);

#endif /* STILE_CARRY_H */
