/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a frame. A frame that is read must have its headers where struct pkt says, and the
 * client that it comes from must get a key that is no other family's. The input begins with what
 * the limiter is like; the rest is the frame.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "parse.h"

#define HEAD 8	    /* bytes that describe the limiter */
#define ALIGNMENT 2 /* the IP header, 14 bytes on, is at a multiple of four */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static bool is_reason_of_parse(int reason)
{
	return reason == STILE_REASON_NOT_IP || reason == STILE_REASON_TRUNCATED ||
	       reason == STILE_REASON_FRAGMENT || reason == STILE_REASON_EXT_HEADER ||
	       reason == STILE_REASON_NOT_TRANSPORT || reason == STILE_REASON_MARTIAN ||
	       reason == STILE_REASON_TINY_FRAGMENT || reason == STILE_REASON_MALFORMED ||
	       reason == STILE_REASON_VLAN_TAGS;
}

static uint16_t read16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void check_addresses(const uint8_t *ip, const struct pkt *pkt)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	const uint8_t *source = (const uint8_t *)&pkt->source;
	const uint8_t *destination = (const uint8_t *)&pkt->destination;

	demand(ip[0] >> 4 == (pkt->ipv4 ? 4 : 6));
	demand(pkt->ipv4 == address_is_ipv4(&pkt->source));
	if (!pkt->ipv4) {
		demand(memcmp(source, ip + 8, 16) == 0 && memcmp(destination, ip + 24, 16) == 0);
		return;
	}
	demand(memcmp(source, mapped, 12) == 0 && memcmp(source + 12, ip + 12, 4) == 0);
	demand(memcmp(destination, mapped, 12) == 0 && memcmp(destination + 12, ip + 16, 4) == 0);
}

static void check_pkt(const uint8_t *frame, size_t size, const struct pkt *pkt)
{
	bool tcp = pkt->protocol == STILE_PROTOCOL_TCP;
	size_t header = tcp ? 20 : 8, ip_header = pkt->ipv4 ? 20 : 40;
	size_t total;

	demand(tcp || pkt->protocol == STILE_PROTOCOL_UDP);
	demand(pkt->ipv4 <= 1 && pkt->group == (frame[0] & 1));
	demand(pkt->l3 == 14 || pkt->l3 == 18 || pkt->l3 == 22);
	demand(pkt->l4 >= pkt->l3 + ip_header && pkt->l4 + header <= size);
	total = read16(frame + pkt->l3 + 2);
	if (pkt->ipv4 && total) /* not of the padding */
		demand(pkt->l4 + header <= pkt->l3 + total);
	check_addresses(frame + pkt->l3, pkt);
	demand(pkt->sport == read16(frame + pkt->l4));
	demand(pkt->dport == read16(frame + pkt->l4 + 2));
	demand(!tcp || pkt->flags == (frame[pkt->l4 + 13] & 0x3f));
}

static struct stile_limiter read_limiter(const uint8_t head[HEAD])
{
	struct stile_limiter limiter = {
		.keyed = head[0] & 1,
		.ipv4_prefix = head[1] % 33,
		.ipv6_prefix = head[2] % 129,
		.sets = 1U + head[3] + ((uint32_t)head[4] << 8) + ((uint32_t)head[5] << 16),
		.seed = { head[6] * 0x0123456789abcdefULL, head[7] * 0xfedcba987654321ULL | 1 },
	};

	limiter.wide = limiter.ipv6_prefix > 64;
	return limiter;
}

/* The same client, but for the bits past its prefix. */
static struct address neighbour(const struct stile_limiter *limiter, const struct address *address)
{
	unsigned int bits = address_is_ipv4(address) ? 96U + limiter->ipv4_prefix
						     : limiter->ipv6_prefix;
	struct address other = *address;
	uint8_t *bytes = (uint8_t *)&other;

	for (unsigned int bit = bits; bit < 128; bit++)
		bytes[bit / 8] ^= 0x80U >> bit % 8;
	return other;
}

static bool is_ipv4_key(const struct stile_limiter *limiter, const struct key *key)
{
	if (limiter->wide)
		return key->hi == 0 && swap64(key->lo) >> 32 == KEY_MAPPED;
	return key->hi != KEY_SHARED && swap64(key->hi) >> 32 == KEY_IPV4_TAG >> 32;
}

static void check_key(const struct stile_limiter *limiter, const struct address *address)
{
	struct address other = neighbour(limiter, address);
	struct key key = key_of(limiter, address), same = key_of(limiter, &other);

	demand(key.hi != 0 || (limiter->wide && key.lo != 0));
	demand(key_set(limiter, &key) < limiter->sets);
	if (!limiter->keyed) {
		demand(key.hi == KEY_EVERYONE && key.lo == 0);
		return;
	}
	demand(is_ipv4_key(limiter, &key) == address_is_ipv4(address));
	/* With few leading bits the neighbour may be of the other family, or of reserved space. */
	if (address_is_ipv4(address) == address_is_ipv4(&other) &&
	    (key.hi == KEY_SHARED) == (same.hi == KEY_SHARED))
		demand(key.hi == same.hi && key.lo == same.lo);
	sink += key.hi ^ key.lo;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stile_limiter limiter;
	struct pkt pkt = {};
	uint8_t *memory, *frame;
	int reason;

	if (size < HEAD)
		return 0;
	limiter = read_limiter(data);
	size -= HEAD;
	memory = malloc(ALIGNMENT + size);
	demand(memory);
	frame = memory + ALIGNMENT;
	memcpy(frame, data + HEAD, size);
	reason = parse(frame, frame + size, &pkt);
	if (reason == PARSE_OK) {
		check_pkt(frame, size, &pkt);
		check_key(&limiter, &pkt.source);
	} else {
		demand(is_reason_of_parse(reason));
	}
	free(memory);
	return 0;
}
