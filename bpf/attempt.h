/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A SYN that a client sends again, because the answer got lost, is one event. Each admitted SYN
 * leaves a keyed hash of its addresses, ports and sequence number in a small table; a SYN whose
 * hash is there is free of charge if, and only if, its connection is being opened or open right
 * now. The socket decides that, not the hash: whoever replays a SYN of a connection that has ended
 * is charged for a new one. Hashes overwrite each other; a repeat that is not recognised is judged
 * as a new event.
 *
 * Who brought a SYN cookie back is remembered by the number that it acknowledges. That is a ticket
 * for one connection, which is made a moment later, at tc's ingress; until then, segments that came
 * together with the first are neither charged nor dropped. Whoever replays one is charged, too.
 */
#ifndef STILE_BPF_ATTEMPT_H
#define STILE_BPF_ATTEMPT_H

#include "maps.h"
#include "socket.h"

/*
 * One multiplication will do: the hash only saves the look at the socket. Its factor is secret, so
 * that nobody can aim at another's place.
 */
static __always_inline __u64 attempt_hash(const struct pkt *pkt)
{
	__u64 ports = (__u64)pkt->sport << 16 | pkt->dport;
	__u64 number = policy.proves && pkt->flags & FLAG_ACK ? pkt->acknowledgment : pkt->sequence;
	__u64 word = number << 32 ^ ports ^ pkt->source.word[0] ^ pkt->source.word[1];

	return (word ^ policy.seed[0]) * policy.seed[1];
}

/* The hash's highest bits say where it is kept; what is kept is those that follow. */
static __always_inline __u16 attempt_tag(__u64 hash)
{
	return hash >> (48 - STILE_ATTEMPTS_BITS) | 1; /* never 0, the tag of an unused place */
}

/*
 * Whether a socket of this host is opening or has opened the very connection that @pkt asks for. A
 * global function, since few SYNs are repeated.
 */
__attribute__((noinline)) int attempt_has_socket(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct bpf_sock *socket;
	__u32 state;

	if (!pkt)
		return false;
	socket = socket_find(ctx, pkt);
	if (!socket)
		return false;
	state = socket->state;
	bpf_sk_release(socket);
	return state != BPF_TCP_LISTEN && state != BPF_TCP_TIME_WAIT;
}

/* The place of a SYN's tag; NULL, which cannot be, says the same as an unused one. */
static __always_inline __u16 *attempt_place(__u64 hash)
{
	__u32 zero = 0;
	struct stile_attempts *attempts = bpf_map_lookup_elem(&stile_attempts, &zero);
	__u16 *place;

	if (!attempts)
		return NULL;
	place = &attempts->tag[hash >> (64 - STILE_ATTEMPTS_BITS)];
	opaque(place); /* verifier: the pointer that is checked is the one that is used */
	return place;
}

/* Whether @hash was remembered, or another one with its tag. */
static __always_inline bool attempt_is_known(__u64 hash, const __u16 *place)
{
	return place && unlikely(*place == attempt_tag(hash));
}

static __always_inline bool attempt_repeats(struct xdp_md *ctx, const struct pkt *pkt, __u64 hash,
					    const __u16 *place)
{
	return attempt_is_known(hash, place) && attempt_has_socket(ctx, pkt);
}

static __always_inline void attempt_remember(__u64 hash, __u16 *place)
{
	if (place)
		*place = attempt_tag(hash);
}

/* Uses a ticket up. False: it was already; one that others have overwritten counts as unused. */
static __always_inline bool attempt_spend(__u64 hash, __u16 *place)
{
	const __u16 spent = attempt_tag(hash) & ~1; /* no tag */

	if (!place || *place == spent)
		return false;
	if (*place == attempt_tag(hash))
		*place = spent;
	return true;
}

#endif /* STILE_BPF_ATTEMPT_H */
