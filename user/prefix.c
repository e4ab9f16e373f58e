/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses and prefixes. IPv4 lives inside IPv6 as ::ffff:0:0/96, so that one trie serves both;
 * the price is that an IPv6 prefix which holds that range would hold all of IPv4, which nobody
 * who writes ::/0 means: those are refused.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "prefix.h"

#define IPV4_BITS 96 /* of the IPv4-mapped range */

static const uint8_t ipv4_mapped[12] = { [10] = 0xff, [11] = 0xff };

bool prefix_is_ipv4(const uint8_t address[16])
{
	return memcmp(address, ipv4_mapped, sizeof(ipv4_mapped)) == 0;
}

int prefix_parse_address(const char *text, uint8_t ret_address[16])
{
	uint8_t address[16];

	if (inet_pton(AF_INET6, text, address) == 1) {
		memcpy(ret_address, address, sizeof(address));
		return 0;
	}
	if (inet_pton(AF_INET, text, address) != 1)
		return -EINVAL;
	memcpy(ret_address, ipv4_mapped, sizeof(ipv4_mapped));
	memcpy(ret_address + sizeof(ipv4_mapped), address, 4);
	return 0;
}

/* Decimal, without sign or leading zeros, at most @max. */
static int parse_length(const char *text, unsigned int max, unsigned int *ret_length)
{
	unsigned int length = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		length = length * 10 + (unsigned int)(*text - '0');
		if (length > max)
			return -EINVAL;
	}
	*ret_length = length;
	return 0;
}

void prefix_mask(uint8_t address[16], unsigned int bits)
{
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int kept = bits > i * 8 ? bits - i * 8 : 0;

		if (kept < 8)
			address[i] &= (uint8_t)(0xff00 >> kept);
	}
}

bool prefix_contains(const struct prefix *prefix, const uint8_t address[16])
{
	uint8_t masked[16];

	memcpy(masked, address, sizeof(masked));
	prefix_mask(masked, prefix->bits);
	return memcmp(masked, prefix->address, sizeof(masked)) == 0;
}

int prefix_parse(const char *text, struct prefix *ret_prefix)
{
	static const uint8_t ipv4_first[16] = { [10] = 0xff, [11] = 0xff };
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	char address[PREFIX_TEXT_SIZE];
	unsigned int bits = 128;
	struct prefix prefix;
	uint8_t whole[16];
	bool dotted;

	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	if (prefix_parse_address(address, whole) < 0)
		return -EINVAL;
	dotted = !strchr(address, ':');
	if (slash && parse_length(slash + 1, dotted ? 32 : 128, &bits) < 0)
		return -EINVAL;
	if (slash && dotted)
		bits += IPV4_BITS;
	memcpy(prefix.address, whole, sizeof(whole));
	prefix.bits = (uint8_t)bits;
	prefix_mask(prefix.address, bits);
	if (bits < IPV4_BITS && prefix_contains(&prefix, ipv4_first))
		return -EDOM;
	*ret_prefix = prefix;
	return memcmp(whole, prefix.address, sizeof(whole)) == 0 ? 0 : -ERANGE;
}

const char *prefix_format_address(const uint8_t address[16], char text[PREFIX_TEXT_SIZE])
{
	if (prefix_is_ipv4(address))
		inet_ntop(AF_INET, address + sizeof(ipv4_mapped), text, PREFIX_TEXT_SIZE);
	else
		inet_ntop(AF_INET6, address, text, PREFIX_TEXT_SIZE);
	return text;
}

const char *prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT_SIZE])
{
	bool ipv4 = prefix->bits >= IPV4_BITS && prefix_is_ipv4(prefix->address);
	size_t length;

	prefix_format_address(prefix->address, text);
	length = strlen(text);
	if (prefix->bits < 128)
		snprintf(text + length, PREFIX_TEXT_SIZE - length, "/%d",
			 ipv4 ? prefix->bits - IPV4_BITS : prefix->bits);
	return text;
}
