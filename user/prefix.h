/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses and CIDR prefixes as text and as the 16 bytes of abi.h; pure. */
#ifndef STILE_PREFIX_H
#define STILE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREFIX_TEXT_SIZE 64 /* room for any prefix or address as text, and its NUL */

struct prefix {
	uint8_t address[16]; /* network byte order, IPv4-mapped; bits past the prefix are zero */
	uint8_t bits;	     /* 96 + n for IPv4 */
};

/*
 * "192.0.2.0/24", "2001:db8::/32", "192.0.2.1" (a host). 0, or -EINVAL where it is neither, or
 * -ERANGE where bits past the prefix length are set (then *ret_prefix is written, with those bits
 * cleared, so that the caller can suggest it), or -EDOM for an IPv6 prefix so short that it holds
 * the IPv4-mapped addresses, and with them IPv4 (::/0). No other failure writes *ret_prefix.
 */
int prefix_parse(const char *text, struct prefix *ret_prefix);

/* An address without a length. 0 or -EINVAL. */
int prefix_parse_address(const char *text, uint8_t ret_address[16]);

/* As people write it: IPv4 dotted, a host without its length. Returns @text. */
const char *prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT_SIZE]);
const char *prefix_format_address(const uint8_t address[16], char text[PREFIX_TEXT_SIZE]);

bool prefix_is_ipv4(const uint8_t address[16]);
bool prefix_contains(const struct prefix *prefix, const uint8_t address[16]);

/* Clears all but the leading @bits of @address. */
void prefix_mask(uint8_t address[16], unsigned int bits);

#endif /* STILE_PREFIX_H */
