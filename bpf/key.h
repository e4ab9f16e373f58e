/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a limiter counts by, as the words that its table stores, and the hash that finds its set.
 * Pure. Words hold bytes in network order as they lie in memory, so that a dump shows addresses.
 * No client can choose an address whose key is another family's, or that of an empty way.
 */
#ifndef STILE_BPF_KEY_H
#define STILE_BPF_KEY_H

#include <stile/abi.h>

#include "compiler.h"
#include "siphash.h"

/* Never globally routed (RFC 4291: 0000::/8 is reserved), so that IPv4 clients can live there. */
#define KEY_IPV4_TAG (1ULL << 48)
#define KEY_SHARED swap64(0x0001ffffffffffffULL)   /* IPv6 sources in ::/64 and 1::/16 */
#define KEY_EVERYONE swap64(0x0001fffffffffffeULL) /* the one bucket of a limiter without keys */
#define KEY_NOBODY swap64(0x0001fffffffffffdULL)   /* in a way that changes hands */
#define KEY_MAPPED 0xffffULL			   /* RFC 4291, 2.5.5.2 */

/* A client's address: two words of network-order bytes, IPv4-mapped. */
struct address {
	__u64 word[2];
};

/* hi alone is the key of a narrow table; a wide one stores both. Never all zero. */
struct key {
	__u64 hi, lo;
};

static __always_inline bool address_is_ipv4(const struct address *address)
{
	return address->word[0] == 0 && (swap64(address->word[1]) >> 32) == KEY_MAPPED;
}

/* The IPv4 address, in network order. */
static __always_inline __be32 address_ipv4(const struct address *address)
{
	return swap32((__u32)swap64(address->word[1]));
}

static __always_inline __u64 key_mask(__u32 bits)
{
	return bits == 0 ? 0 : ~0ULL << (64 - bits);
}

static __always_inline struct key key_narrow(const struct stile_limiter *limiter,
					     const struct address *address)
{
	__u64 prefix;

	if (address_is_ipv4(address)) {
		prefix = swap64(address->word[1]) & key_mask(32 + limiter->ipv4_prefix);
		return (struct key){ swap64(KEY_IPV4_TAG | (prefix & 0xffffffff)), 0 };
	}
	prefix = swap64(address->word[0]) & key_mask(limiter->ipv6_prefix);
	if (prefix == 0 || prefix >> 48 == KEY_IPV4_TAG >> 48)
		return (struct key){ KEY_SHARED, 0 };
	return (struct key){ swap64(prefix), 0 };
}

static __always_inline struct key key_wide(const struct stile_limiter *limiter,
					   const struct address *address)
{
	struct key key;

	if (address_is_ipv4(address)) {
		key.hi = 0;
		key.lo = address->word[1] & swap64(key_mask(32 + limiter->ipv4_prefix));
		return key;
	}
	key.hi = address->word[0];
	key.lo = address->word[1] & swap64(key_mask(limiter->ipv6_prefix - 64));
	if ((key.hi == 0 && swap64(key.lo) >> 32 <= KEY_MAPPED) ||
	    swap64(key.hi) >> 48 == KEY_IPV4_TAG >> 48)
		return (struct key){ KEY_SHARED, 0 };
	return key;
}

static __always_inline struct key key_of(const struct stile_limiter *limiter,
					 const struct address *address)
{
	if (!limiter->keyed)
		return (struct key){ KEY_EVERYONE, 0 };
	return limiter->wide ? key_wide(limiter, address) : key_narrow(limiter, address);
}

/*
 * Two rounds of multiply and xorshift with a secret word and a secret odd factor. Cheap, and as
 * even as a random function on random and on consecutive addresses; it is no cryptographic hash.
 */
static __always_inline __u64 hash_word(__u64 word, const __u64 seed[2])
{
	word = (word ^ seed[0]) * seed[1];
	word ^= word >> 32;
	word *= seed[1] ^ 0x9e3779b97f4a7c14ULL;
	word ^= word >> 29;
	return word;
}

/* In host order, because a product spreads its lower bits, and there neighbours differ. */
static __always_inline __u64 key_hash(const struct stile_limiter *limiter, const struct key *key)
{
	__u64 hash;

	if (unlikely(limiter->hash == STILE_HASH_SIPHASH))
		return siphash_13(limiter->seed, key->hi, key->lo);
	hash = hash_word(swap64(key->hi), limiter->seed);
	return limiter->wide ? hash_word(hash ^ swap64(key->lo), limiter->seed) : hash;
}

/* Where a client belongs in a table. */
struct key_place {
	__u32 set;
	__u32 home; /* the way of the set that it is given if nobody else has it */
};

/*
 * Where @key belongs in a table of @limiter->sets. What is left of the hash once the set is known
 * chooses the way.
 */
static __always_inline struct key_place key_place(const struct stile_limiter *limiter,
						  const struct key *key)
{
	__u64 ways = limiter->wide ? STILE_SET_WAYS_WIDE : STILE_SET_WAYS;
	__u64 hash = key_hash(limiter, key), product = (hash >> 32) * limiter->sets;

	return (struct key_place){ product >> 32, (product & 0xffffffff) * ways >> 32 };
}

/* The index of @key's set. */
static __always_inline __u32 key_set(const struct stile_limiter *limiter, const struct key *key)
{
	return key_place(limiter, key).set;
}

#endif /* STILE_BPF_KEY_H */
