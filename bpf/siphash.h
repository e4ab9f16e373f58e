/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): SipHash-1-3 of sixteen
 * bytes, which finds places in tables, and the steps of SipHash-2-4, which cookies are made of.
 * Pure. Who does not know the secret cannot choose words whose hashes are near each other.
 */
#ifndef STILE_BPF_SIPHASH_H
#define STILE_BPF_SIPHASH_H

#include <linux/types.h>

#include "compiler.h"

#define SIPHASH_LENGTH (16ULL << 56) /* the last word of a message: how long it is */

struct siphash {
	__u64 v0, v1, v2, v3;
};

static __always_inline __u64 siphash_rotate(__u64 word, __u32 bits)
{
	return word << bits | word >> (64 - bits);
}

static __always_inline void siphash_round(struct siphash *hash)
{
	hash->v0 += hash->v1;
	hash->v2 += hash->v3;
	hash->v1 = siphash_rotate(hash->v1, 13) ^ hash->v0;
	hash->v3 = siphash_rotate(hash->v3, 16) ^ hash->v2;
	hash->v0 = siphash_rotate(hash->v0, 32);
	hash->v2 += hash->v1;
	hash->v0 += hash->v3;
	hash->v1 = siphash_rotate(hash->v1, 17) ^ hash->v2;
	hash->v3 = siphash_rotate(hash->v3, 21) ^ hash->v0;
	hash->v2 = siphash_rotate(hash->v2, 32);
}

static __always_inline struct siphash siphash_begin(const __u64 secret[2])
{
	return (struct siphash){
		.v0 = secret[0] ^ 0x736f6d6570736575ULL,
		.v1 = secret[1] ^ 0x646f72616e646f6dULL,
		.v2 = secret[0] ^ 0x6c7967656e657261ULL,
		.v3 = secret[1] ^ 0x7465646279746573ULL,
	};
}

static __always_inline void siphash_word(struct siphash *hash, __u64 word)
{
	hash->v3 ^= word;
	siphash_round(hash);
	hash->v0 ^= word;
}

/* The message is @first and @second as little-endian words. */
static __always_inline __u64 siphash_13(const __u64 secret[2], __u64 first, __u64 second)
{
	struct siphash hash = siphash_begin(secret);

	siphash_word(&hash, first);
	siphash_word(&hash, second);
	siphash_word(&hash, SIPHASH_LENGTH);
	hash.v2 ^= 0xff;
	siphash_round(&hash);
	siphash_round(&hash);
	siphash_round(&hash);
	return hash.v0 ^ hash.v1 ^ hash.v2 ^ hash.v3;
}

/* SipHash-2-4's steps: each word of the message, its length in the last one's upper byte. */
static __always_inline void siphash_word_twice(struct siphash *hash, __u64 word)
{
	hash->v3 ^= word;
	siphash_round(hash);
	siphash_round(hash);
	hash->v0 ^= word;
}

static __always_inline __u64 siphash_finish_four(struct siphash *hash)
{
	hash->v2 ^= 0xff;
	siphash_round(hash);
	siphash_round(hash);
	siphash_round(hash);
	siphash_round(hash);
	return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}

#endif /* STILE_BPF_SIPHASH_H */
