/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internet checksums (RFC 1071) of answers, always from scratch: a packet that comes from a local
 * stack may carry a checksum that nobody has finished. Pure. Sums are over native loads of bytes in
 * network order, so the folded result is stored as it is.
 */
#ifndef STILE_BPF_CHECKSUM_H
#define STILE_BPF_CHECKSUM_H

#include "compiler.h"
#include "key.h"

static __always_inline __u64 checksum_word(__u64 sum, __u64 word)
{
	return sum + (word >> 32) + (word & 0xffffffff);
}

static __always_inline __u16 checksum_fold(__u64 sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16 & 0xffff) + (sum & 0xffff) + (sum >> 32);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return ~sum;
}

/* The pseudo-header (RFC 9293, 3.1; RFC 8200, 8.1). */
static __always_inline __u64 checksum_pseudo(const struct address *from, const struct address *to,
					     bool ipv4, __u32 length, __u32 protocol)
{
	__u64 sum = (__u64)swap32(length) + swap32(protocol);

	if (ipv4)
		return sum + address_ipv4(from) + address_ipv4(to);
	sum = checksum_word(checksum_word(sum, from->word[0]), from->word[1]);
	return checksum_word(checksum_word(sum, to->word[0]), to->word[1]);
}

/* @words 32-bit words at @start, which the caller knows to be there. */
static __always_inline __u64 checksum_words(__u64 sum, const void *start, __u32 words)
{
	const __u32 *word = start;
	__u32 i;

	for (i = 0; i < words; i++)
		sum += word[i];
	return sum;
}

#endif /* STILE_BPF_CHECKSUM_H */
