/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What both sides share of SYN cookies, which prove that a source is not forged. Data only; a part
 * of abi.h.
 */
#ifndef STILE_PROOF_H
#define STILE_PROOF_H

#include <linux/types.h>

/* When the sources of a listener's clients have to be proven before anything is charged. */
enum stile_prove {
	STILE_PROVE_NEVER,
	STILE_PROVE_AUTO, /* while a flood goes on, see struct stile_proof */
	STILE_PROVE_ALWAYS,
	_STILE_PROVE_MAX,
};

/* What this host agrees to in a handshake: its sysctls of TCP. */
struct stile_offer {
	__u8 timestamps, sack, ecn; /* 1, or 0 */
	__u8 scales;		    /* 1: windows are scaled */
	__u8 window_scale;	    /* by how much its own is */
	__u8 mptcp;		    /* 1: a socket may listen for Multipath TCP */
	__u8 reserved[2];
};

/* stile_proofs (array, by listener slot). */
struct stile_proof {
	__u64 since;	  /* auto: since when sources are proven, ns of CLOCK_MONOTONIC; 0: not */
	__u64 challenged; /* when a SYN got a cookie last, ns of the ticks; 0: never */
	__u64 reserved[6];
};

/* stile_proven (per-CPU array, by listener slot). */
struct stile_proven {
	__u64 challenged; /* SYNs that were answered with a cookie */
	__u64 proven;	  /* segments that brought one back, and were judged */
	__u64 failed;	  /* of those, the ones that the kernel made no connection of */
	__u64 unprovable; /* SYNs judged unproven, since nothing here could make use of a proof */
	__u64 unproven;	  /* auto: SYNs that were let in while nothing had to be proven */
};

#endif /* STILE_PROOF_H */
