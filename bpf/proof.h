/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SYN cookies (RFC 4987, 3.6) that keep the options of TCP: nothing is kept of a handshake but the
 * number of the SYN that answered it, and the time stamp. Pure. The number:
 *
 *   31      whether the time slot it was made in is odd, see cookie.h
 *   30..29  the nearest of four segment sizes below the client's
 *   28      SACK is permitted
 *   27..24  the client's window scale; 15: none
 *   23..0   the client's own number, and 24 bits of the hash added to it
 *
 * So the first segment after the SYN, and no other, is what fits it wholly. One whose bytes come
 * later fits but for those: the ones before it are still under way, or were lost.
 *
 * The time stamp: 16 bits of the client's segment size as it is; whether it speaks ECN; and time,
 * so that it hardly ever goes back.
 */
#ifndef STILE_BPF_PROOF_H
#define STILE_BPF_PROOF_H

#include "compiler.h"
#include "cookie.h"
#include "options.h"

#define PROOF_NUMBER_MASK 0xffffffU
#define PROOF_SCALE_SHIFT 24
#define PROOF_SACK_SHIFT 28
#define PROOF_SIZE_SHIFT 29
#define PROOF_SIZES 4
#define PROOF_AHEAD_MAX 0x7fffU /* bytes: more than what anybody sends unacknowledged at first */
#define PROOF_STAMP_ECN 16
#define PROOF_STAMP_TIME 17

/* Segment sizes that clients have; the least is what the kernel takes (net/core/filter.c). */
#define PROOF_IPV4_SIZES 536, 1220, 1400, 1460
#define PROOF_IPV6_SIZES 1220, 1340, 1380, 1440

/* What a handshake has agreed on. */
struct proof {
	__u16 mss;
	__u8 window_scale; /* the client's, or OPTIONS_NO_SCALE */
	__u8 sack, timestamps, ecn;
	__u8 reserved[2];
};

static __always_inline __u32 proof_size(bool ipv4, __u32 index)
{
	const __u16 ipv4_sizes[PROOF_SIZES] = { PROOF_IPV4_SIZES };
	const __u16 ipv6_sizes[PROOF_SIZES] = { PROOF_IPV6_SIZES };
	__u32 i, size = 0;

	unrolled
	for (i = 0; i < PROOF_SIZES; i++) {
		if (index == i)
			size = ipv4 ? ipv4_sizes[i] : ipv6_sizes[i];
	}
	return size;
}

/* The largest of the four that is not above @mss, or the least. */
static __always_inline __u32 proof_index(bool ipv4, __u32 mss)
{
	__u32 i, index = 0;

	unrolled
	for (i = 1; i < PROOF_SIZES; i++)
		index += mss >= proof_size(ipv4, i);
	return index;
}

/* What is agreed with a client that asks for @asked. */
static __always_inline struct proof proof_agree(const struct stile_offer *offer,
						const struct options *asked, bool ipv4, bool ecn)
{
	const __u32 least = proof_size(ipv4, 0);
	bool scales = offer->scales && asked->window_scale != OPTIONS_NO_SCALE;

	return (struct proof){
		.mss = asked->mss > least ? asked->mss : least,
		.window_scale = scales ? asked->window_scale : OPTIONS_NO_SCALE,
		.sack = offer->sack && asked->sack,
		.timestamps = offer->timestamps && asked->timestamps,
		.ecn = ecn && offer->ecn && offer->timestamps && asked->timestamps,
	};
}

/* The number of the SYN that answers @pkt at @now, ns of the ticks. */
static __always_inline __u32 proof_make(const __u64 key[2], const struct pkt *pkt, __u64 now,
					const struct proof *proof)
{
	__u32 slot = now >> COOKIE_SLOT_SHIFT;
	__u32 hash = cookie_hash(key, pkt, slot) >> 40;

	return slot << COOKIE_ODD_SHIFT | proof_index(pkt->ipv4, proof->mss) << PROOF_SIZE_SHIFT |
	       (__u32)proof->sack << PROOF_SACK_SHIFT |
	       (__u32)proof->window_scale << PROOF_SCALE_SHIFT |
	       ((hash + pkt->sequence) & PROOF_NUMBER_MASK);
}

static __always_inline __u32 proof_stamp(const struct proof *proof, __u64 now)
{
	return (__u32)(now >> 37) << PROOF_STAMP_TIME | (__u32)proof->ecn << PROOF_STAMP_ECN |
	       proof->mss;
}

/*
 * How many bytes lie between the SYN and the first byte of @pkt, where that acknowledges a cookie
 * and nothing else of ours; of another connection's segment it is anything below 2^24.
 */
static __always_inline __u32 proof_ahead(const __u64 key[2], const struct pkt *pkt, __u64 now)
{
	__u32 sent = pkt->acknowledgment - 1;
	__u32 hash = cookie_hash(key, pkt, cookie_slot(sent, now)) >> 40;

	return (pkt->sequence - 1 - (sent - hash)) & PROOF_NUMBER_MASK;
}

/* What was agreed on, by the first segment after the SYN, which has @options. */
static __always_inline struct proof proof_read(const struct pkt *pkt, const struct options *options)
{
	__u32 sent = pkt->acknowledgment - 1, mss;
	__u32 index = sent >> PROOF_SIZE_SHIFT & (PROOF_SIZES - 1);

	mss = proof_size(pkt->ipv4, index);
	/* The client could have said anything in its SYN too, but not less than is possible. */
	if (options->timestamps && (options->tsecr & 0xffff) >= mss)
		mss = options->tsecr & 0xffff;
	return (struct proof){
		.mss = mss,
		.window_scale = sent >> PROOF_SCALE_SHIFT & 0xf,
		.sack = sent >> PROOF_SACK_SHIFT & 1,
		.timestamps = options->timestamps,
		.ecn = options->timestamps && options->tsecr >> PROOF_STAMP_ECN & 1,
	};
}

#endif /* STILE_BPF_PROOF_H */
