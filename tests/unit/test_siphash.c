/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-1-3 against another implementation: hash() of CPython 3.11 is just that, for bytes. The
 * secrets are those that PYTHONHASHSEED=0, 42 and 4294967295 give.
 */
#include <stdint.h>

#include "check.h"
#include "siphash.h"
#include "util.h"

static void test_siphash(void)
{
	static const uint64_t secrets[][2] = {
		{ 0, 0 },
		{ 0xdc504fd368cd90af, 0xb920bb9ffe99e9c1 },
		{ 0x8d85be4c852e2b23, 0x778977fb98719852 },
	};
	static const struct {
		const char *what;
		uint64_t first, second;
		uint64_t want[ARRAY_SIZE(secrets)];
	} rows[] = {
		{ "nothing but zeros",
		  0,
		  0,
		  { 0x76be999e3e25b2a0, 0xb43d0a00e2df88b5, 0x15066529d103b04c } },
		{ "every byte another",
		  0x0706050403020100,
		  0x0f0e0d0c0b0a0908,
		  { 0x8972188433a5c5b7, 0x339176f3ac59ce05, 0x82d48377687ed73e } },
		{ "nothing but ones",
		  ~0ULL,
		  ~0ULL,
		  { 0x35029a3b6274a39b, 0xb7c4f7681ad15316, 0x392712a2ea4d05c1 } },
		{ "the key of an IPv4 client",
		  0x09014d0a00000100,
		  0,
		  { 0x6112b2d077a3ec87, 0xb637b6e892ca7f71, 0x243473b51f0af4b7 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t j = 0; j < ARRAY_SIZE(secrets); j++)
			CHECK_EQ(rows[i].what,
				 siphash_13((const __u64 *)secrets[j], rows[i].first,
					    rows[i].second),
				 rows[i].want[j]);
}

CHECK_SUITE(siphash, { "as another computes it", test_siphash });
