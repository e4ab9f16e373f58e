/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checksums in native words against the same sums made byte by byte. */
#include <stdint.h>
#include <string.h>

#include <netinet/in.h>

#include "check.h"
#include "checksum.h"
#include "pkt.h"
#include "random.h"

static uint16_t as_stored(uint16_t checksum)
{
	return swap16(checksum);
}

static void test_words(void)
{
	uint32_t words[24];
	uint64_t random = 1;
	unsigned int differ = 0;

	for (int round = 0; round < 20000; round++) {
		uint32_t n = 1 + (uint32_t)random_below(&random, 24);
		uint32_t many = random_chance(&random, 20) ? ~0U : 0; /* carries without end */

		for (uint32_t i = 0; i < n; i++)
			words[i] = (uint32_t)random_next(&random) | many;
		differ += checksum_fold(checksum_words(0, words, n)) !=
			  as_stored(pkt_checksum(pkt_sum(0, words, (size_t)n * 4)));
	}
	CHECK_EQ("sums that differ", differ, 0);
}

static void test_fold(void)
{
	CHECK_EQ("nothing", checksum_fold(0), 0xffff);
	CHECK_EQ("all ones", checksum_fold(0xffff), 0);
	CHECK_EQ("the carry of a carry", checksum_fold(0xffffffffffffffff), 0);
	CHECK_EQ("words that carry twice", checksum_fold(0x1ffff0001), 0xfffd);
}

/* RFC 9293, 3.1 and RFC 8200, 8.1, byte by byte. */
static void test_pseudo(void)
{
	uint64_t random = 2;
	unsigned int differ = 0;

	for (int round = 0; round < 20000; round++) {
		bool ipv4 = random_chance(&random, 50);
		uint8_t from[16] = { [10] = 0xff, [11] = 0xff }, to[16], bytes[40] = {};
		uint16_t length = (uint16_t)random_next(&random);
		struct address source, destination;

		memcpy(to, from, sizeof(to));
		for (int i = ipv4 ? 12 : 0; i < 16; i++) {
			from[i] = (uint8_t)random_next(&random);
			to[i] = (uint8_t)random_next(&random);
		}
		memcpy(&source, from, sizeof(source));
		memcpy(&destination, to, sizeof(destination));
		memcpy(bytes, ipv4 ? from + 12 : from, ipv4 ? 4 : 16);
		memcpy(bytes + 16, ipv4 ? to + 12 : to, ipv4 ? 4 : 16);
		bytes[34] = (uint8_t)(length >> 8);
		bytes[35] = (uint8_t)length;
		bytes[39] = IPPROTO_TCP;
		differ += checksum_fold(checksum_pseudo(&source, &destination, ipv4, length,
							IPPROTO_TCP)) !=
			  as_stored(pkt_checksum(pkt_sum(0, bytes, sizeof(bytes))));
	}
	CHECK_EQ("sums that differ", differ, 0);
}

CHECK_SUITE(checksum, { "of words", test_words }, { "folded", test_fold },
	    { "of the pseudo-header", test_pseudo });
