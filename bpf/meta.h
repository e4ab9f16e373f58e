/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a table remembers of a client beside its bucket: when it was last seen, whether it came
 * back, and how much it was admitted and refused. Pure. None of it decides whether an event is
 * admitted, so it is stored plainly, and a racing CPU may lose an update. One word:
 *
 *   31      seen again after the tick in which it was new
 *   30..19  last seen, in ticks of 2^seen_shift ns, modulo 4096
 *   18..9   refused
 *   8..0    admitted
 *
 * The two tallies are approximate counters (Morris, "Counting large numbers of events in small
 * registers", CACM 21(10), 1978) with a mantissa: exact while small, and from there each step
 * stands for a power of two and is taken with that probability. So the busier an abuser, the more
 * rarely its cache line is written.
 */
#ifndef STILE_BPF_META_H
#define STILE_BPF_META_H

#include <stile/abi.h>

#include "compiler.h"

#define META_BACK (1U << 31)
#define META_SEEN_OFFSET 19
#define META_SEEN_MASK 4095U
#define META_REFUSED_OFFSET 9
#define META_REFUSED_MANTISSA 6	 /* bits; exact to 127 */
#define META_ADMITTED_MANTISSA 5 /* bits; exact to 63 */
#define META_EXPONENT 4		 /* bits */

static __always_inline __u64 tally_value(__u32 tally, __u32 mantissa)
{
	__u32 exponent = tally >> mantissa;
	__u64 digits = tally & ((1U << mantissa) - 1);

	return exponent == 0 ? digits : (digits | 1U << mantissa) << (exponent - 1);
}

/*
 * The tally after one more event. @random: any number that does not repeat in a pattern. Chance
 * cannot be predicted, so it chooses no branch.
 */
static __always_inline __u32 tally_next(__u32 tally, __u32 mantissa, __u32 random)
{
	/* As many bits of it have to be 0 as the exponent is above 1. */
	__u64 chance = random & ((1U << (tally >> mantissa)) - 1) >> 1;

	if (tally == (1U << (mantissa + META_EXPONENT)) - 1)
		return tally;
	opaque(chance);
	return tally + (__u32)((chance - 1) >> 63);
}

static __always_inline __u32 meta_tick(const struct stile_limiter *limiter, __u64 now)
{
	return now >> limiter->seen_shift & META_SEEN_MASK;
}

/* Of a client that is new at @now. */
static __always_inline __u32 meta_new(const struct stile_limiter *limiter, __u64 now)
{
	return meta_tick(limiter, now) << META_SEEN_OFFSET;
}

static __always_inline __u32 meta_refused_tally(__u32 meta)
{
	return meta >> META_REFUSED_OFFSET & ((1U << (META_REFUSED_MANTISSA + META_EXPONENT)) - 1);
}

static __always_inline __u32 meta_admitted_tally(__u32 meta)
{
	return meta & ((1U << META_REFUSED_OFFSET) - 1);
}

/* Without an event that was admitted a moment ago, where the tally still tells single ones. */
static __always_inline __u32 meta_refund(__u32 meta)
{
	__u32 tally = meta_admitted_tally(meta);

	return tally > 0 && tally < 2U << META_ADMITTED_MANTISSA ? meta - 1 : meta;
}

/* Of a client whose event was admitted or refused at @now. */
static __always_inline __u32 meta_next(__u32 meta, __u32 tick, bool admitted, __u32 random)
{
	__u32 tally = admitted ? meta_admitted_tally(meta) : meta_refused_tally(meta);

	if (admitted)
		meta += tally_next(tally, META_ADMITTED_MANTISSA, random) - tally;
	else
		meta += (tally_next(tally, META_REFUSED_MANTISSA, random) - tally)
			<< META_REFUSED_OFFSET;
	if (likely((meta >> META_SEEN_OFFSET & META_SEEN_MASK) == tick))
		return meta;
	return META_BACK | tick << META_SEEN_OFFSET | (meta & ((1U << META_SEEN_OFFSET) - 1));
}

static __always_inline __u64 meta_admitted(__u32 meta)
{
	return tally_value(meta_admitted_tally(meta), META_ADMITTED_MANTISSA);
}

static __always_inline __u64 meta_refused(__u32 meta)
{
	return tally_value(meta_refused_tally(meta), META_REFUSED_MANTISSA);
}

/* Ticks since it was last seen; right while that is less than 4096. */
static __always_inline __u32 meta_age(__u32 meta, __u32 tick)
{
	return (tick - (meta >> META_SEEN_OFFSET)) & META_SEEN_MASK;
}

#endif /* STILE_BPF_META_H */
