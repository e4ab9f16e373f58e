/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handshakes that hold places, and SYNs that wait for one, by addresses and ports, in sets of four.
 * Pure. A way belongs to whoever puts HANDSHAKE_BUSY into its first word by compare-and-swap, until
 * that puts a time or 0 there; so each handshake ends once, whoever sees its end first. What a full
 * set forgets holds its place until the slices have turned (places.h), and nobody has it sooner.
 */
#ifndef STILE_BPF_HANDSHAKE_H
#define STILE_BPF_HANDSHAKE_H

#include <stile/abi.h>

#include "compiler.h"
#include "parse.h"

#define HANDSHAKE_BUSY 1ULL
#define HANDSHAKE_GRACE 1000000000ULL /* ns until a socket has come of a SYN, or none comes */
#define HANDSHAKE_SILENCE_SHIFT 26    /* silences are in units of 2^26 ns, some 67 ms */
#define HANDSHAKE_SILENCE_MAX 0xffffU

/* 0 where @way is the handshake of @pkt, or was until it was freed. */
static __always_inline __u64 handshake_differs(const struct stile_handshake *way,
					       const struct pkt *pkt)
{
	const __u64 *from = (const __u64 *)way->source, *to = (const __u64 *)way->destination;

	return ((load_once(from[0]) ^ pkt->source.word[0]) |
		(load_once(from[1]) ^ pkt->source.word[1]) |
		(load_once(to[0]) ^ pkt->destination.word[0]) |
		(load_once(to[1]) ^ pkt->destination.word[1]) |
		(__u64)(load_once(way->sport) ^ pkt->sport) |
		(__u64)(load_once(way->dport) ^ pkt->dport));
}

/* The way that is the handshake of @pkt, or NULL. Without a branch, as table_find(). */
static __always_inline struct stile_handshake *handshake_find(struct stile_handshake_set *set,
							      const struct pkt *pkt)
{
	__u64 found = 0, here;
	__u32 way;

	unrolled
	for (way = 0; way < STILE_HANDSHAKE_WAYS; way++) {
		here = mask_of(load_once(set->way[way].since) / 2) &
		       ~mask_of(handshake_differs(&set->way[way], pkt));
		found = (found & ~here) | (here & (way + 1));
	}
	found--;
	opaque(found);
	return found < STILE_HANDSHAKE_WAYS ? &set->way[found] : NULL;
}

/* Begins with 0, a free way, or the time of one that is then forgotten. */
static __always_inline void handshake_put(struct stile_handshake *way, __u64 since)
{
	__sync_lock_test_and_set(&way->since, since);
}

/* Makes the way, which was @since, the caller's. */
static __always_inline bool handshake_take(struct stile_handshake *way, __u64 since)
{
	return since != HANDSHAKE_BUSY &&
	       __sync_val_compare_and_swap(&way->since, since, HANDSHAKE_BUSY) == since;
}

/* The same, of the way that was found for @pkt: since when it is there; 0: it is not any more. */
static __always_inline __u64 handshake_take_found(struct stile_handshake *way,
						  const struct pkt *pkt)
{
	__u64 since = load_once(way->since);

	if (since == 0 || !handshake_take(way, since))
		return 0;
	if (!handshake_differs(way, pkt))
		return since;
	handshake_put(way, since); /* another one's by now */
	return 0;
}

/*
 * A way that is free, or else the oldest, as the caller's; NULL: others are at it. The way rides in
 * the time's low bits, which no tick is as short as.
 */
static __always_inline struct stile_handshake *handshake_claim(struct stile_handshake_set *set)
{
	__u64 least = ~0ULL, since, way;

	unrolled
	for (way = 0; way < STILE_HANDSHAKE_WAYS; way++) {
		since = load_once(set->way[way].since);
		since -= 2 * (since != 0); /* one that is being changed comes last */
		since = (since & ~(STILE_HANDSHAKE_WAYS - 1ULL)) | way;
		opaque(since); /* verifier: whatever it is */
		if (since < least)
			least = since;
	}
	way = least & (STILE_HANDSHAKE_WAYS - 1);
	opaque(way); /* verifier: one pointer, whichever way it is */
	way &= STILE_HANDSHAKE_WAYS - 1;
	return handshake_take(&set->way[way], load_once(set->way[way].since)) ? &set->way[way]
									      : NULL;
}

static __always_inline void handshake_write(struct stile_handshake *way, const struct pkt *pkt)
{
	__builtin_memcpy(way->source, &pkt->source, sizeof(way->source));
	__builtin_memcpy(way->destination, &pkt->destination, sizeof(way->destination));
	way->sport = pkt->sport;
	way->dport = pkt->dport;
}

/* Of one that waits and was heard of at @now. */
static __always_inline __u16 handshake_silence(__u64 since, __u64 now)
{
	__u64 silence = (now - since) >> HANDSHAKE_SILENCE_SHIFT;

	return silence < HANDSHAKE_SILENCE_MAX ? silence : HANDSHAKE_SILENCE_MAX;
}

/*
 * Whether one that waits has given up by @now. Each time, a client waits at most twice as long as
 * the time before (RFC 6298, 5.5), the first time a second (2.1): as long as it has waited so far,
 * and that second. One more for a SYN that was late.
 */
static __always_inline bool handshake_gave_up(const struct stile_handshake *way, __u64 since,
					      __u64 now)
{
	__u64 waited = (__u64)way->silence << HANDSHAKE_SILENCE_SHIFT;

	return (__s64)(now - since - 2 * waited) > (__s64)(2 * HANDSHAKE_GRACE);
}

#endif /* STILE_BPF_HANDSHAKE_H */
