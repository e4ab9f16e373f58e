/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sequence numbers of conversations that Stile keeps no state of. The number of our SYN is
 * keyed hash of who talks to whom and when; what a client acknowledges, less that, says how much
 * of our stream it has. Pure.
 *
 *   31      whether the time slot it was made in is odd: one hash is enough to check it
 *   30..0   30 bits of the hash, and, times 2^13, what the client is to be told (a choice of eight)
 *
 * So of all numbers that an ACK of somebody else's connection can carry, one in 2^15 is taken for
 * ours; and then the socket decides, see busy.h. A cookie is good for one slot, and the next.
 */
#ifndef STILE_BPF_COOKIE_H
#define STILE_BPF_COOKIE_H

#include <stile/abi.h>

#include "compiler.h"
#include "key.h"
#include "parse.h"
#include "siphash.h"

#define COOKIE_SLOT_SHIFT 35 /* a slot is 34 s */
#define COOKIE_CHOICE_SHIFT 13
#define COOKIE_CHOICES 8
#define COOKIE_HASH_MASK 0x3fffffffU
#define COOKIE_ODD_SHIFT 31

_Static_assert(STILE_ANSWER_BYTES + STILE_ANSWER_MATCH + 2 < 1 << COOKIE_CHOICE_SHIFT,
	       "how much a client has may not look like another choice");

/* Of who talks to whom, and when. */
static __always_inline __u64 cookie_hash(const __u64 key[2], const struct pkt *pkt, __u32 slot)
{
	__u64 ports = (__u64)pkt->sport << 48 | (__u64)pkt->dport << 32 | slot;
	struct siphash hash = siphash_begin(key);
	__u64 addresses;

	if (pkt->ipv4) {
		addresses = (__u64)address_ipv4(&pkt->source) << 32 |
			    (__u32)address_ipv4(&pkt->destination);
		siphash_word_twice(&hash, addresses);
	} else {
		siphash_word_twice(&hash, pkt->source.word[0]);
		siphash_word_twice(&hash, pkt->source.word[1]);
		siphash_word_twice(&hash, pkt->destination.word[0]);
		siphash_word_twice(&hash, pkt->destination.word[1]);
	}
	siphash_word_twice(&hash, ports);
	siphash_word_twice(&hash, pkt->ipv4 ? 16ULL << 56 : 40ULL << 56);
	return siphash_finish_four(&hash);
}

/* The slot that @sent, a number which cookie_make() may have made, says that it was made in. */
static __always_inline __u32 cookie_slot(__u32 sent, __u64 now)
{
	__u32 slot = now >> COOKIE_SLOT_SHIFT;

	return slot - ((slot ^ sent >> COOKIE_ODD_SHIFT) & 1);
}

static __always_inline __u32 cookie_base(const __u64 key[2], const struct pkt *pkt, __u32 slot)
{
	return slot << COOKIE_ODD_SHIFT | (cookie_hash(key, pkt, slot) & COOKIE_HASH_MASK);
}

/* The number of the SYN that answers @pkt at @now, ns of CLOCK_MONOTONIC. */
static __always_inline __u32 cookie_make(const __u64 key[2], const struct pkt *pkt, __u64 now,
					 __u32 choice)
{
	return cookie_base(key, pkt, now >> COOKIE_SLOT_SHIFT) + (choice << COOKIE_CHOICE_SHIFT);
}

/*
 * How far what @pkt acknowledges lies behind the number of our SYN: choice * 2^13 and the bytes
 * that the client has. Of a segment of another connection it can be anything.
 */
static __always_inline __u32 cookie_distance(const __u64 key[2], const struct pkt *pkt, __u64 now)
{
	__u32 sent = pkt->acknowledgment - 1;

	return sent - cookie_base(key, pkt, cookie_slot(sent, now));
}

#endif /* STILE_BPF_COOKIE_H */
