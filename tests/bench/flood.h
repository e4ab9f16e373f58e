/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the flooding program is told by the benchmark that loads it; its one global variable. */
#ifndef STILE_BENCH_FLOOD_H
#define STILE_BENCH_FLOOD_H

#include <linux/types.h>

#define FLOOD_FRAME 80 /* bytes, at most; a multiple of 8 */

/* Offsets in an untagged TCP/IPv4 frame whose IP header has no options. */
#define FLOOD_IP_CHECK 24
#define FLOOD_ADDRESS 26
#define FLOOD_PORT 34
#define FLOOD_SEQUENCE 38
#define FLOOD_TCP_CHECK 50

struct flood {
	__u64 frame[FLOOD_FRAME / 8]; /* the template; what changes, and both checksums, is 0 */
	__u32 length;		      /* bytes of it */
	__u32 ifindex;		      /* where they go */
	__u32 ip_sum, tcp_sum;	      /* of what does not change, not complemented */
	__u64 keys;   /* addresses to choose from at random; 0: each packet a new one */
	__u64 count;  /* packets made; new addresses go on where the last run ended */
	__u64 random; /* the generator's state; not 0 */
	__u32 mask;   /* the bits of the address that change */
	__u32 base;   /* the others */
};

#endif /* STILE_BENCH_FLOOD_H */
