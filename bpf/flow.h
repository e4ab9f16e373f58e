/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sessions on UDP: which flows were let in and which are held, by source, destination and ports.
 * Pure. A session is one word, changed by compare-and-swap, in a set of eight:
 *
 *   63..31  tag: 33 bits of the flow's hash
 *   30..28  enum flow_kind
 *   27..0   until when, in units of 2^24 ns, modulo 2^28 (52 days)
 *
 * Only the hash is kept, so a datagram may be taken for one of another flow: with a chance of one
 * in 2^30 in a full set. The hash is keyed and universal (Carter and Wegman, "Universal classes of
 * hash functions", JCSS 18(2), 1979), so that nobody can aim. What is forgotten is judged again:
 * that costs a client another event, and lets nobody past a limit.
 */
#ifndef STILE_BPF_FLOW_H
#define STILE_BPF_FLOW_H

#include <stile/abi.h>

#include "compiler.h"
#include "parse.h"

#define FLOW_TAG_OFFSET 31
#define FLOW_KIND_OFFSET 28
#define FLOW_TIME_MASK ((1U << FLOW_KIND_OFFSET) - 1)
#define FLOW_TRIES 2 /* races that a new session may lose before it is not remembered */

/* The longest that anything is remembered for; further off it is long ago instead. */
#define FLOW_LEFT_MAX (3 * STILE_WINDOW_NS_MAX >> STILE_FLOW_SHIFT)

/* The less worth keeping, the lower. */
enum flow_kind {
	FLOW_NONE,
	FLOW_HELD,	    /* refused, and its datagrams are dropped */
	FLOW_HELD_ANSWERED, /* refused, and its datagrams are answered by ICMP */
	FLOW_HELD_BUSY,	    /* refused, and its datagrams are answered in their language */
	FLOW_NEW,	    /* let in, and seen in a single moment */
	FLOW_OPEN,	    /* let in, and seen again */
};

/*
 * Multiplies every half word by a secret word, which makes the sum's upper half universal; the rest
 * spreads that over the whole word and loses nothing.
 */
static __always_inline __u64 flow_hash(const __u64 keys[STILE_FLOW_KEYS], const struct pkt *pkt)
{
	const __u64 *from = pkt->source.word, *to = pkt->destination.word;
	__u64 hash = keys[0] + keys[1] * ((__u32)pkt->sport << 16 | pkt->dport);

	hash += keys[2] * (__u32)from[0] + keys[3] * (from[0] >> 32);
	hash += keys[4] * (__u32)from[1] + keys[5] * (from[1] >> 32);
	hash += keys[6] * (__u32)to[0] + keys[7] * (to[0] >> 32);
	hash += keys[8] * (__u32)to[1] + keys[9] * (to[1] >> 32);
	hash ^= hash >> 32;
	hash *= 0x9e3779b97f4a7c15ULL; /* odd: 2^64 over the golden ratio */
	return hash ^ hash >> 29;
}

static __always_inline __u32 flow_index(__u64 hash, __u32 sets)
{
	return (hash >> 32) * sets >> 32;
}

static __always_inline __u64 flow_tag(__u64 hash)
{
	return hash & ((1ULL << (64 - FLOW_TAG_OFFSET)) - 1);
}

static __always_inline __u64 flow_word(__u64 tag, enum flow_kind kind, __u32 until)
{
	return tag << FLOW_TAG_OFFSET | (__u64)kind << FLOW_KIND_OFFSET | (until & FLOW_TIME_MASK);
}

static __always_inline __u32 flow_kind(__u64 word)
{
	return word >> FLOW_KIND_OFFSET & 7;
}

/* @ns of CLOCK_MONOTONIC in the unit of sessions; the one in which @ns lies. */
static __always_inline __u32 flow_time(__u64 ns)
{
	return ns >> STILE_FLOW_SHIFT & FLOW_TIME_MASK;
}

/* Units until the word means nothing any more; 0: it does not. */
static __always_inline __u32 flow_left(__u64 word, __u32 now)
{
	__u32 left = (word - now) & FLOW_TIME_MASK;

	return flow_kind(word) == FLOW_NONE || left > FLOW_LEFT_MAX ? 0 : left;
}

/* What is known of the flow: its word, and the place of it; 0: nothing. */
static __always_inline __u64 flow_find(struct stile_flow_set *set, __u64 tag, __u32 now,
				       __u64 **ret_place)
{
	__u64 word;
	__u32 way;

	unrolled
	for (way = 0; way < STILE_FLOW_WAYS; way++) {
		word = load_once(set->flow[way]);
		if (word >> FLOW_TAG_OFFSET != tag || !flow_left(word, now))
			continue;
		*ret_place = &set->flow[way];
		return word;
	}
	return 0;
}

/*
 * A session that is open was seen again, and may be silent until @until. Who loses the race lost
 * it to the same news.
 */
static __always_inline void flow_touch(__u64 *place, __u64 word, __u32 until)
{
	if (((word ^ until) & FLOW_TIME_MASK) == 0)
		return;
	__sync_val_compare_and_swap(place, word,
				    flow_word(word >> FLOW_TAG_OFFSET, FLOW_OPEN, until));
}

/* 0: the flow's own way; 1: free; more where another is remembered there. */
static __always_inline __u64 flow_worth(__u64 word, __u64 tag, __u32 now)
{
	__u64 left = flow_left(word, now);

	if (left == 0)
		return 1;
	if (word >> FLOW_TAG_OFFSET == tag)
		return 0;
	return (__u64)flow_kind(word) << FLOW_KIND_OFFSET | left;
}

/* The way that is worth least, in the low bits, and what it is worth above them. */
static __always_inline __u64 flow_victim(const struct stile_flow_set *set, __u64 tag, __u32 now)
{
	__u64 least = ~0ULL, candidate;
	__u32 way;

	unrolled
	for (way = 0; way < STILE_FLOW_WAYS; way++) {
		candidate = flow_worth(load_once(set->flow[way]), tag, now) << 3 | way;
		opaque(candidate); /* verifier: whatever it is worth */
		if (candidate < least)
			least = candidate;
	}
	return least;
}

/* What became of a flow that is to be remembered. */
enum flow_room {
	FLOW_ROOM_FREE,
	FLOW_ROOM_EVICTED, /* another one had to make room */
	FLOW_ROOM_NONE,	   /* it is not remembered */
};

/*
 * Remembers @word, whether its flow is remembered yet or not. One that is held takes nobody's
 * place; where one that was let in needs a place, those held go first, then those that came once,
 * then the longest silent.
 */
static __always_inline enum flow_room flow_put(struct stile_flow_set *set, __u64 word, __u32 now)
{
	__u64 tag = word >> FLOW_TAG_OFFSET, victim, found;
	int try;

	unrolled
	for (try = 0; try < FLOW_TRIES; try++) {
		victim = flow_victim(set, tag, now);
		if (victim >> 3 > 1 && flow_kind(word) < FLOW_NEW)
			return FLOW_ROOM_NONE;
		found = load_once(set->flow[victim & 7]);
		if (flow_worth(found, tag, now) != victim >> 3)
			continue;
		/* Another CPU let this very session in a moment ago. */
		if (victim >> 3 == 0 && flow_kind(word) < FLOW_NEW && flow_kind(found) >= FLOW_NEW)
			return FLOW_ROOM_FREE;
		if (__sync_val_compare_and_swap(&set->flow[victim & 7], found, word) == found)
			return victim >> 3 > 1 ? FLOW_ROOM_EVICTED : FLOW_ROOM_FREE;
	}
	return FLOW_ROOM_NONE;
}

#endif /* STILE_BPF_FLOW_H */
