/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the driver program is told by the benchmark that loads it; its one global variable. */
#ifndef STILE_BENCH_DRIVER_H
#define STILE_BENCH_DRIVER_H

#include <linux/types.h>

#define DRIVER_FRAME 448 /* bytes, at most; a multiple of 8 */

enum driver_sources {
	DRIVER_ONE,    /* always the template's own address */
	DRIVER_RANDOM, /* one of .keys addresses, at random */
	DRIVER_TURN,   /* one of .keys addresses, in turn */
	DRIVER_NEW,    /* every packet a new one, in a scattered order */
	_DRIVER_SOURCES_MAX,
};

struct driver {
	__u64 frame[DRIVER_FRAME / 8]; /* the template, as it lies in memory */
	__u32 length;		       /* bytes of it */
	__u32 sources;		       /* enum driver_sources */
	__u64 keys;		       /* addresses to choose from: DRIVER_RANDOM, DRIVER_TURN */
	__u64 count;  /* packets made; start where the last run ended, and new addresses stay new */
	__u64 random; /* the generator's state; not 0 */
	__u32 mask;   /* the bits of the 32 at DRIVER_ADDRESS that change */
	__u32 base;   /* the others */
	__u32 l4;     /* not 0: the offset of a TCP header whose port and sequence number change */
	__u32 reserved;
	__u64 head; /* where a frame begins that no program has moved; 0: not known yet */
};

/* The IPv4 source address, or the second quarter of an IPv6 one, in an untagged frame. */
#define DRIVER_ADDRESS 26

#endif /* STILE_BENCH_DRIVER_H */
