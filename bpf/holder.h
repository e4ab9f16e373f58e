/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many connections a client has open at one listener, as one word of a hash table that is
 * changed by compare-and-swap. Pure.
 *
 *   63..40 tag      of the key: the kernel may give the memory of an entry that was deleted to
 *                   another key while somebody still holds a pointer to it
 *   39..24 changes  modulo 2^16: whoever counts sockets sees whether one came or went meanwhile
 *   23..0  open     0: it is being deleted by whoever closed the last, and never comes back
 */
#ifndef STILE_BPF_HOLDER_H
#define STILE_BPF_HOLDER_H

#include <stile/abi.h>

#include "compiler.h"
#include "key.h"

#define HOLDER_OPEN_MASK ((1ULL << 24) - 1)
#define HOLDER_CHANGE (1ULL << 24)
#define HOLDER_CHANGES_MASK (0xffffULL << 24)
#define HOLDER_TAG_OFFSET 40

static __always_inline __u64 holder_open(__u64 state)
{
	return state & HOLDER_OPEN_MASK;
}

static __always_inline void holder_key(const struct address *client, __u32 listener,
				       struct stile_holder_key *ret_key)
{
	struct address masked = *client;

	if (!address_is_ipv4(client))
		masked.word[1] = 0;
	__builtin_memcpy(ret_key->address, &masked, sizeof(ret_key->address));
	ret_key->listener = listener;
	ret_key->reserved = 0;
}

/* Any mixing will do: it only has to differ between keys that share memory by chance. */
static __always_inline __u64 holder_tag(const struct stile_holder_key *key)
{
	struct address address;
	__u64 hash;

	__builtin_memcpy(&address, key->address, sizeof(address));
	hash = (address.word[0] ^ key->listener) * 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ hash >> 32 ^ address.word[1]) * 0xbf58476d1ce4e5b9ULL;
	return (hash ^ hash << 32) >> HOLDER_TAG_OFFSET << HOLDER_TAG_OFFSET;
}

/* Of a client's first connection. */
static __always_inline __u64 holder_first(const struct stile_holder_key *key)
{
	return holder_tag(key) | 1;
}

/* Whether @state is @key's, and may be changed. */
static __always_inline bool holder_lives(__u64 state, const struct stile_holder_key *key)
{
	return state >> HOLDER_TAG_OFFSET == holder_tag(key) >> HOLDER_TAG_OFFSET &&
	       holder_open(state) != 0;
}

/* @state with @open connections instead, after one more change. */
static __always_inline __u64 holder_with(__u64 state, __u64 open)
{
	__u64 changes = (state + HOLDER_CHANGE) & HOLDER_CHANGES_MASK;

	return state >> HOLDER_TAG_OFFSET << HOLDER_TAG_OFFSET | changes |
	       (open & HOLDER_OPEN_MASK);
}

#endif /* STILE_BPF_HOLDER_H */
