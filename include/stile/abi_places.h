/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of abi.h that is about the places of algorithm: concurrency. */
#ifndef STILE_ABI_PLACES_H
#define STILE_ABI_PLACES_H

#include "abi.h"

#define STILE_QUEUE_MAX 1023   /* SYNs that may wait for a place of one bucket */
#define STILE_SWEEP_SETS 1024  /* of handshakes that stile_sweep looks at in one run */
#define STILE_HANDSHAKE_WAYS 4 /* handshakes of a set */

/* Bits: what a listener has to do with places. */
enum stile_places {
	STILE_PLACES_HELD = 1,	  /* a limiter of concurrency judges there */
	STILE_PLACES_AWAITED = 2, /* such a one with unit: establishments */
	STILE_PLACES_EVICTED = 4, /* on_limit: evict-idle */
};

/*
 * stile_handshakes (array): SYNs that were let in by a limiter of concurrency, or that wait for
 * one, until they are answered for; see bpf/handshake.h.
 */
struct stile_handshake {
	__u64 since; /* ns of CLOCK_MONOTONIC; 0: free, 1: being changed */
	__u8 source[16];
	__u8 destination[16];
	__u16 sport, dport;		  /* host order */
	__u32 generation;		  /* of the policy in which it got its places */
	__u16 slice;			  /* in which it got them, see bpf/places.h */
	__u16 silence;			  /* waiting: from since to its last SYN, 2^26 ns */
	__u8 kind;			  /* enum stile_handshake_kind */
	__u8 slots[STILE_JUDGES_MAX + 1]; /* of limiters where it has a place; 0: none */
	__u8 reserved[6];
};
STILE_SIZE(struct stile_handshake, 64);

enum stile_handshake_kind { STILE_HANDSHAKE_IN_FLIGHT, STILE_HANDSHAKE_WAITING };

/* What stile_sweep is told, as the beginning of a frame. */
struct stile_sweep {
	__u64 cookies; /* ns of CLOCK_MONOTONIC: of SYNs until then, a cookie may have been sent */
	__u32 first;   /* set */
	__u32 reserved;
};
STILE_SIZE(struct stile_sweep, 16);

struct stile_handshake_set {
	struct stile_handshake way[STILE_HANDSHAKE_WAYS];
};
STILE_SIZE(struct stile_handshake_set, 256);

/* stile_evictions (ring buffer): on_limit: evict-idle had no place for a SYN of this client. */
struct stile_eviction {
	__u8 address[16];
	__u16 listener; /* slot */
	__u16 limiter;	/* slot of the one that refused */
	__u32 reserved;
};
STILE_SIZE(struct stile_eviction, 24);

#endif /* STILE_ABI_PLACES_H */
