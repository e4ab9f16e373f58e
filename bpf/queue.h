/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is let in while a service's accept queue fills. Pure. Each client has a threshold that falls
 * with the room that is left: it is let in while what it holds and asks for is less than the free
 * places (after Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches", IEEE/ACM Transactions on Networking 6(2), 1998, section III, with a factor of one). So
 * the heaviest are shed first, and who has nothing yet is let in as long as there is a place.
 *
 * What clients ask for is counted in a small table, one word for a client at a listener:
 *
 *   63..48  tag: more of the hash that finds its set
 *   47..32  half, the number of a span of QUEUE_SHIFT, modulo 2^16
 *   31..16  SYNs of the half before
 *   15..0   SYNs of this half
 *
 * A set that is full gives up its lightest client: a flood of new ones leaves the heavy in place.
 */
#ifndef STILE_BPF_QUEUE_H
#define STILE_BPF_QUEUE_H

#include <stile/abi.h>

#include "compiler.h"
#include "key.h"

#define QUEUE_SHIFT 29 /* a half is 2^29 ns, some 0.54 s */
#define QUEUE_COUNT_MAX 0xffffU

/* An accept queue as the kernel keeps it; it takes backlog + 1 connections. */
struct queue_state {
	__u32 length, backlog;
	__u32 young; /* handshakes in flight whose SYN-ACK was sent once */
};

/* From how many on it is over the limit: never later than when it is full. */
static __always_inline __u32 queue_threshold(const struct queue_state *queue, __u32 limit,
					     __u8 percent)
{
	__u64 places = (__u64)queue->backlog + 1;

	if (percent)
		return places * percent / 100;
	return limit < places ? limit : places;
}

/*
 * How long the queue is to a client that has asked so often: its own handshakes in flight count as
 * if they waited already, and nobody else's, which may be forged.
 */
static __always_inline __u64 queue_length_to(const struct queue_state *queue, __u64 asked)
{
	return (__u64)queue->length + (asked < queue->young ? asked : queue->young);
}

/* Whether a client of that weight is let in though the queue is over its limit. */
static __always_inline bool queue_has_room(const struct queue_state *queue, __u64 weight)
{
	return queue->length <= queue->backlog &&
	       weight < (__u64)queue->backlog + 1 - queue->length;
}

/* The client as it is weighed: an IPv4 address or an IPv6 /64, as one word. */
static __always_inline __u64 queue_client(const struct address *source)
{
	return address_is_ipv4(source) ? source->word[1] : source->word[0];
}

/* Where a client's SYNs at @listener are counted: the set by its highest bits, the tag below. */
static __always_inline __u64 queue_hash(const __u64 seed[2], __u64 client, __u32 listener)
{
	return (client ^ (__u64)listener << 32 ^ seed[0]) * seed[1];
}

static __always_inline __u32 queue_set(__u64 hash)
{
	return hash >> (64 - STILE_ASKING_BITS);
}

/* With the place of the counts left empty. */
static __always_inline __u64 queue_tag(__u64 hash)
{
	return (hash << STILE_ASKING_BITS | 1ULL << 48) & 0xffffULL << 48; /* never 0 */
}

static __always_inline bool queue_is_of(__u64 word, __u64 tag)
{
	return (word & 0xffffULL << 48) == tag;
}

/* SYNs of the word's client within the last half to whole span of two halves. */
static __always_inline __u32 queue_asked(__u64 word, __u64 now)
{
	__u16 age = (now >> QUEUE_SHIFT) - (word >> 32);

	if (age > 1)
		return 0;
	return (word & QUEUE_COUNT_MAX) + (age == 0 ? word >> 16 & QUEUE_COUNT_MAX : 0);
}

/* The word after one more SYN. */
static __always_inline __u64 queue_ask(__u64 word, __u64 tag, __u64 now)
{
	__u16 half = now >> QUEUE_SHIFT, age = half - (word >> 32);
	__u64 count = word & QUEUE_COUNT_MAX, before = word >> 16 & QUEUE_COUNT_MAX;

	if (!queue_is_of(word, tag) || age > 1)
		before = count = 0;
	else if (age == 1) {
		before = count;
		count = 0;
	}
	if (count < QUEUE_COUNT_MAX)
		count++;
	return tag | (__u64)half << 32 | before << 16 | count;
}

#endif /* STILE_BPF_QUEUE_H */
