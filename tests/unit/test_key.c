/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client's key is, as bytes in memory, for every prefix length; that no client can have the
 * key of another kind; and that the hash spreads keys as evenly as chance would.
 */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "key.h"
#include "random.h"
#include "util.h"

#define NSETS 4096

static struct stile_limiter limiter_of(uint8_t ipv4_prefix, uint8_t ipv6_prefix)
{
	return (struct stile_limiter){
		.keyed = 1,
		.wide = ipv6_prefix > 64,
		.ipv4_prefix = ipv4_prefix,
		.ipv6_prefix = ipv6_prefix,
		.sets = NSETS,
		.seed = { 0x0123456789abcdef, 0xfedcba9876543211 },
	};
}

static struct address address_of(const uint8_t bytes[16])
{
	struct address address;

	memcpy(&address, bytes, sizeof(address));
	return address;
}

static struct address ipv4_of(uint32_t ipv4)
{
	const uint8_t bytes[16] = { [10] = 0xff,
				    [11] = 0xff,
				    [12] = ipv4 >> 24,
				    [13] = ipv4 >> 16 & 0xff,
				    [14] = ipv4 >> 8 & 0xff,
				    [15] = ipv4 & 0xff };

	return address_of(bytes);
}

/* Bit by bit: all but the leading @bits become 0. */
static void mask_bits(uint8_t *bytes, unsigned int n_bytes, unsigned int bits)
{
	for (unsigned int bit = bits; bit < 8 * n_bytes; bit++)
		bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

static void test_prefixes(void)
{
	const uint8_t address[16] = { 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const struct address words = address_of(address);

	for (unsigned int bits = 0; bits <= 128; bits++) {
		const struct stile_limiter limiter = limiter_of(32, (uint8_t)bits);
		const struct key key = key_of(&limiter, &words), shared = { KEY_SHARED, 0 };
		uint8_t want[16];

		memcpy(want, address, sizeof(want));
		mask_bits(want, 16, bits);
		if (bits == 0)
			memcpy(want, &shared, sizeof(want));
		CHECK_MEM_EQ("an IPv6 key is the leading bits, as bytes", &key, want,
			     limiter.wide ? 16 : 8);
		CHECK("a narrow key has no second word", limiter.wide || key.lo == 0);
	}
	for (unsigned int bits = 0; bits <= 32; bits++) {
		struct stile_limiter limiter = limiter_of((uint8_t)bits, 64);
		const struct address ipv4 = ipv4_of(0xfffefdff);
		uint8_t narrow[8] = { 0, 1, 0, 0, 0xff, 0xfe, 0xfd, 0xff };
		uint8_t wide[16] = { [10] = 0xff, 0xff, 0xff, 0xfe, 0xfd, 0xff };
		struct key key = key_of(&limiter, &ipv4);

		mask_bits(narrow + 4, 4, bits);
		mask_bits(wide + 12, 4, bits);
		CHECK_MEM_EQ("a narrow IPv4 key is 0,1,0,0 and the leading bits", &key, narrow, 8);
		limiter = limiter_of((uint8_t)bits, 128);
		key = key_of(&limiter, &ipv4);
		CHECK_MEM_EQ("a wide one is IPv4-mapped", &key, wide, 16);
	}
}

static void test_addresses(void)
{
	const struct address ipv4 = ipv4_of(0x0a4d0109);
	const uint8_t bytes[4] = { 10, 77, 1, 9 };
	const uint8_t near[16] = { [10] = 0xff, 0xfe, 10, 77, 1, 9 };
	const struct address other = address_of(near);
	const __be32 word = address_ipv4(&ipv4);

	CHECK("IPv4-mapped is IPv4", address_is_ipv4(&ipv4));
	CHECK("nearly mapped is not", !address_is_ipv4(&other));
	CHECK_MEM_EQ("the IPv4 address in network order", &word, bytes, 4);
}

/* Whether an IPv6 source's key is nobody's but an IPv6 client's. */
static bool is_ipv6_key(const struct stile_limiter *limiter, struct key key)
{
	const struct key shared = { KEY_SHARED, 0 };
	uint8_t bytes[16];

	memcpy(bytes, &key, sizeof(bytes));
	if (key.hi == shared.hi && key.lo == shared.lo)
		return true;
	if (key.hi == KEY_NOBODY || key.hi == KEY_EVERYONE || (key.hi | key.lo) == 0)
		return false;
	/* Where IPv4 clients live. */
	if (limiter->wide)
		return key.hi != 0 || memcmp(bytes + 8, "\0\0\xff\xff", 4) > 0;
	return bytes[0] != 0 || bytes[1] != 1;
}

/* Sources that an attacker would try: bytes that occur in keys, at their places and elsewhere. */
static struct address forge(uint64_t *random)
{
	static const uint8_t tempting[] = { 0, 0, 0, 0, 1, 0xff, 0xff, 0xfe, 0xfd, 10 };
	uint8_t bytes[16];

	for (int i = 0; i < 16; i++)
		bytes[i] = tempting[random_below(random, sizeof(tempting))];
	if (random_chance(random, 50)) {
		bytes[0] = 0;
		bytes[1] = (uint8_t)random_below(random, 2);
	}
	if (random_chance(random, 30))
		memset(bytes + 2, random_chance(random, 50) ? 0xff : 0, 6);
	if (random_chance(random, 20))
		memset(bytes + 8, 0, 8);
	return address_of(bytes);
}

static void test_no_alias(void)
{
	uint64_t random = 1;
	unsigned int aliases = 0, tried = 0;

	for (int round = 0; round < 1000000; round++) {
		const struct stile_limiter limiter =
			limiter_of(32, (uint8_t)random_below(&random, 129));
		const struct address source = forge(&random);

		if (address_is_ipv4(&source)) /* parse() lets none through */
			continue;
		tried++;
		aliases += !is_ipv6_key(&limiter, key_of(&limiter, &source));
	}
	CHECK("many were tried", tried > 900000);
	CHECK_EQ("no IPv6 source has an IPv4 client's key, an empty one, or a reserved one",
		 aliases, 0);
}

static void test_shared(void)
{
	static const struct {
		const char *what;
		uint8_t address[16];
		bool narrow, wide; /* shares the bucket of all who must not have their own */
	} rows[] = {
		{ "::", {}, true, true },
		{ "::1", { [15] = 1 }, true, true },
		{ "::10.77.1.9, IPv4-compatible", { [12] = 10, 77, 1, 9 }, true, true },
		{ "::fffe:10.77.1.9", { [10] = 0xff, 0xfe, 10, 77, 1, 9 }, true, true },
		{ "::1:ffff:10.77.1.9", { [9] = 1, 0xff, 0xff, 10, 77, 1, 9 }, true, false },
		{ "1:0:a4d:109::, as an IPv4 client's key",
		  { 0, 1, 0, 0, 10, 77, 1, 9 },
		  true,
		  true },
		{ "1:ffff:ffff:fffd::, nobody's",
		  { 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd },
		  true,
		  true },
		{ "0:0:0:1::", { [7] = 1 }, false, false },
		{ "2001:db8::", { 0x20, 0x01, 0x0d, 0xb8 }, false, false },
	};
	const struct stile_limiter narrow = limiter_of(32, 64), wide = limiter_of(32, 128);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct address source = address_of(rows[i].address);

		CHECK_EQ(rows[i].what, key_of(&narrow, &source).hi == KEY_SHARED, rows[i].narrow);
		CHECK_EQ(rows[i].what, key_of(&wide, &source).hi == KEY_SHARED, rows[i].wide);
	}
}

static void test_unkeyed(void)
{
	struct stile_limiter limiter = limiter_of(32, 64);
	const struct address one = ipv4_of(1), other = address_of((const uint8_t[16]){ 0x20, 1 });

	limiter.keyed = 0;
	CHECK("one bucket for every event", key_of(&limiter, &one).hi == KEY_EVERYONE &&
						    key_of(&limiter, &other).hi == KEY_EVERYONE);
}

/* Chi-squared of keys over sets; its mean is n_sets - 1, its deviation the root of twice that. */
static double unevenness(const unsigned int *in_set, unsigned int n_sets, double n_keys)
{
	const double want = n_keys / n_sets;
	double sum = 0;

	for (unsigned int i = 0; i < n_sets; i++)
		sum += (in_set[i] - want) * (in_set[i] - want) / want;
	return sum;
}

static struct address neighbour(uint32_t kind, uint32_t i)
{
	struct address address = ipv4_of(0x0a000000 + (kind == 1 ? i << 8 : i));

	if (kind == 2)
		return ipv4_of(0x0a000000 + i * 2654435761U); /* scattered */
	if (kind > 2) {
		address.word[0] = swap64(0x20010db800000000 + (kind == 3 ? i : 0));
		address.word[1] = swap64(0x1000000000000000 + i);
	}
	return address;
}

/* Neighbours may be spread more evenly than chance does it, but not less, by any seed. */
static void test_spread(void)
{
	static const char *const kinds[] = { "consecutive IPv4", "every 256th IPv4",
					     "scattered IPv4", "consecutive /64s",
					     "one /64's hosts" };
	const uint32_t n_keys = 16 * NSETS;
	uint64_t random = 3;

	for (uint32_t i = 0; i < 8 * ARRAY_SIZE(kinds); i++) {
		const uint32_t kind = i % ARRAY_SIZE(kinds);
		struct stile_limiter limiter = limiter_of(32, kind == 4 ? 128 : 64);
		unsigned int in_set[NSETS] = {}, outside = 0;

		limiter.seed[0] = random_next(&random);
		limiter.seed[1] = random_next(&random) | 1;
		for (uint32_t n = 0; n < n_keys; n++) {
			const struct address address = neighbour(kind, n);
			const struct key key = key_of(&limiter, &address);
			const uint32_t set = key_set(&limiter, &key);

			outside += set >= NSETS;
			in_set[set % NSETS]++;
		}
		CHECK_EQ("sets outside the table", outside, 0);
		/* Six deviations more than chance gives. */
		CHECK(kinds[kind], unevenness(in_set, NSETS, n_keys) < NSETS + 6 * 90.5);
	}
}

CHECK_SUITE(key, { "prefixes", test_prefixes }, { "addresses", test_addresses },
	    { "no key of another kind", test_no_alias }, { "who shares a bucket", test_shared },
	    { "one bucket for all", test_unkeyed }, { "the hash spreads keys", test_spread });
