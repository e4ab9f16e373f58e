/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-2-4 against the vector in appendix A of its paper (Aumasson and Bernstein, "SipHash: a
 * fast short-input PRF", 2012), and cookies, which are made of it.
 */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "cookie.h"
#include "util.h"

#define SLOT (1ULL << COOKIE_SLOT_SHIFT) /* ns */
#define NONE (COOKIE_CHOICES << COOKIE_CHOICE_SHIFT)

static const __u64 key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

static void test_vector(void)
{
	struct siphash hash = siphash_begin(key);

	siphash_word_twice(&hash, 0x0706050403020100);
	siphash_word_twice(&hash, 15ULL << 56 | 0x0e0d0c0b0a0908);
	CHECK_EQ("the paper's", siphash_finish_four(&hash), 0xa129ca6149be45e5ULL);
}

/* The paper's steps once more, over bytes; nothing of bpf/ in it. */
struct state {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void rounds(struct state *s, int n)
{
	uint64_t *v = s->v;

	while (n-- > 0) {
		v[0] += v[1], v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1], v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static uint64_t siphash_24(const uint8_t *message, size_t size)
{
	struct state s = { { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 } };

	for (size_t at = 0; at <= size; at += 8) {
		uint64_t word = at + 8 > size ? (uint64_t)size << 56 : 0;

		for (size_t i = 0; i < 8 && at + i < size; i++)
			word |= (uint64_t)message[at + i] << 8 * i;
		s.v[3] ^= word;
		rounds(&s, 2);
		s.v[0] ^= word;
	}
	s.v[2] ^= 0xff;
	rounds(&s, 4);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

static void test_other(void)
{
	uint8_t message[40];

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)i;
	CHECK_EQ("the paper's, of bytes", siphash_24(message, 15), 0xa129ca6149be45e5ULL);
	for (size_t words = 0; words <= 5; words++) {
		struct siphash hash = siphash_begin(key);
		uint64_t word;

		for (size_t i = 0; i < words; i++) {
			memcpy(&word, message + 8 * i, sizeof(word));
			siphash_word_twice(&hash, word);
		}
		siphash_word_twice(&hash, (uint64_t)words * 8 << 56);
		CHECK_EQ("words and bytes", siphash_finish_four(&hash),
			 siphash_24(message, words * 8));
	}
}

static struct pkt packet(bool ipv4)
{
	struct pkt pkt = { .ipv4 = ipv4, .sport = 40000, .dport = 80 };

	memset(&pkt.source, 0x11, sizeof(pkt.source));
	memset(&pkt.destination, 0x22, sizeof(pkt.destination));
	return pkt;
}

/* How far @pkt, which acknowledges @number, is into the conversation at @now. */
static __u32 distance(struct pkt pkt, __u32 number, __u64 now)
{
	pkt.acknowledgment = number + 1;
	return cookie_distance(key, &pkt, now);
}

static void check_choices(bool ipv4, __u64 now)
{
	static const __u32 parts[] = { 0, 1, 2, 535, STILE_ANSWER_BYTES + 1 };
	const struct pkt pkt = packet(ipv4);

	for (__u32 choice = 0; choice < COOKIE_CHOICES; choice++) {
		__u32 cookie = cookie_make(key, &pkt, now, choice);

		for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
			__u32 want = (choice << COOKIE_CHOICE_SHIFT) + parts[i];

			CHECK_EQ("in its slot", distance(pkt, cookie + parts[i], now), want);
			CHECK_EQ("in the next one", distance(pkt, cookie + parts[i], now + SLOT),
				 want);
			CHECK("no more after that",
			      distance(pkt, cookie + parts[i], now + 2 * SLOT) >= NONE);
			CHECK("nor before it",
			      distance(pkt, cookie + parts[i], now - SLOT) >= NONE);
		}
	}
}

static void test_choices(void)
{
	for (__u64 slot = 5; slot < 9; slot++) {
		check_choices(true, slot * SLOT);
		check_choices(true, slot * SLOT + SLOT - 1);
		check_choices(false, slot * SLOT + 12345);
	}
}

static void test_parties(void)
{
	static const __u64 another[2] = { 0x0706050403020101, 0x0f0e0d0c0b0a0908 };

	for (int ipv4 = 0; ipv4 < 2; ipv4++) {
		const struct pkt pkt = packet(ipv4);
		__u32 cookie = cookie_make(key, &pkt, 7 * SLOT, 1);
		struct pkt other = pkt;

		other.sport++;
		CHECK("another port of the client's", distance(other, cookie, 7 * SLOT) >= NONE);
		other = pkt;
		other.dport++;
		CHECK("another service", distance(other, cookie, 7 * SLOT) >= NONE);
		other = pkt;
		((__u8 *)&other.source)[15]++;
		CHECK("another client", distance(other, cookie, 7 * SLOT) >= NONE);
		other = pkt;
		((__u8 *)&other.destination)[15]++;
		CHECK("another address of the service", distance(other, cookie, 7 * SLOT) >= NONE);
		CHECK("another secret", cookie_make(another, &pkt, 7 * SLOT, 1) != cookie);
	}
}

/* One in 2^15 of all numbers is taken for a cookie; the socket decides then. */
static void test_chance(void)
{
	const struct pkt pkt = packet(true);
	unsigned int taken = 0;

	for (__u32 i = 0; i < 1U << 20; i++)
		taken += distance(pkt, i * 4096 + 77, 7 * SLOT) < NONE;
	CHECK("two in 2^16, near enough", taken >= 16 && taken <= 48);
}

CHECK_SUITE(cookie, { "SipHash-2-4 of the paper", test_vector },
	    { "SipHash-2-4 as another computes it", test_other },
	    { "choices, parts and slots", test_choices }, { "whose it is", test_parties },
	    { "numbers that fit by chance", test_chance });
