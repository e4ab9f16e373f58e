/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses and prefixes, from text and back. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "prefix.h"
#include "util.h"

static void test_parse(void)
{
	static const struct {
		const char *text;
		int want;
		unsigned int bits; /* of the prefix, where one is written */
		const char *formatted;
	} rows[] = {
		{ "192.0.2.0/24", 0, 120, "192.0.2.0/24" },
		{ "192.0.2.1", 0, 128, "192.0.2.1" },
		{ "192.0.2.1/32", 0, 128, "192.0.2.1" },
		{ "0.0.0.0/0", 0, 96, "0.0.0.0/0" },
		{ "255.255.255.255/32", 0, 128, "255.255.255.255" },
		{ "2001:db8::/32", 0, 32, "2001:db8::/32" },
		{ "2001:DB8:0:0::1", 0, 128, "2001:db8::1" },
		{ "2000::/3", 0, 3, "2000::/3" },
		{ "8000::/1", 0, 1, "8000::/1" },
		{ "::1", 0, 128, "::1" },
		{ "::/96", 0, 96, "::/96" },
		{ "::ffff:192.0.2.1", 0, 128, "192.0.2.1" },
		{ "::ffff:192.0.2.0/120", 0, 120, "192.0.2.0/24" },
		{ "::fffe:0:0/95", -EDOM, 0, NULL },
		{ "10.0.0.1/8", -ERANGE, 104, "10.0.0.0/8" },
		{ "192.0.2.129/25", -ERANGE, 121, "192.0.2.128/25" },
		{ "0.0.0.1/0", -ERANGE, 96, "0.0.0.0/0" },
		{ "2001:db8::1/127", -ERANGE, 127, "2001:db8::/127" },
		{ "::/0", -EDOM, 0, NULL },
		{ "::1/0", -EDOM, 0, NULL },
		{ "::/80", -EDOM, 0, NULL },
		{ "::ffff:0:0/90", -EDOM, 0, NULL },
		{ "", -EINVAL, 0, NULL },
		{ "/", -EINVAL, 0, NULL },
		{ "/8", -EINVAL, 0, NULL },
		{ "10.0.0.0/", -EINVAL, 0, NULL },
		{ "10.0.0.0/33", -EINVAL, 0, NULL },
		{ "10.0.0.0/08", -EINVAL, 0, NULL },
		{ "10.0.0.0/+8", -EINVAL, 0, NULL },
		{ "10.0.0.0/-1", -EINVAL, 0, NULL },
		{ "10.0.0.0/8 ", -EINVAL, 0, NULL },
		{ " 10.0.0.0/8", -EINVAL, 0, NULL },
		{ "10.0.0.0/8/8", -EINVAL, 0, NULL },
		{ "10.0.0.0/99999999999999999999", -EINVAL, 0, NULL },
		{ "10.0.0/8", -EINVAL, 0, NULL },
		{ "10.0.0.256", -EINVAL, 0, NULL },
		{ "010.0.0.0/8", -EINVAL, 0, NULL },
		{ "2001:db8::/129", -EINVAL, 0, NULL },
		{ "2001:db8::1::", -EINVAL, 0, NULL },
		{ "fe80::1%eth0", -EINVAL, 0, NULL },
		{ "example.org", -EINVAL, 0, NULL },
		{ "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", -EINVAL,
		  0, NULL },
	};
	char text[PREFIX_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct prefix prefix = { .bits = 77 };

		CHECK_EQ(rows[i].text, prefix_parse(rows[i].text, &prefix), rows[i].want);
		if (rows[i].formatted) {
			CHECK_EQ(rows[i].text, prefix.bits, rows[i].bits);
			CHECK_STR_EQ(rows[i].text, prefix_format(&prefix, text), rows[i].formatted);
		} else {
			CHECK_EQ("a failure leaves it alone", prefix.bits, 77);
		}
	}
}

static void test_parse_address(void)
{
	static const uint8_t ipv4[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	static const uint8_t ipv6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	uint8_t address[16];
	char text[PREFIX_TEXT_SIZE];

	CHECK_EQ("IPv4", prefix_parse_address("192.0.2.1", address), 0);
	CHECK_MEM_EQ("IPv4 becomes IPv4-mapped", address, ipv4, 16);
	CHECK_EQ("is IPv4", prefix_is_ipv4(address), true);
	CHECK_STR_EQ("and is dotted again", prefix_format_address(address, text), "192.0.2.1");
	CHECK_EQ("IPv6", prefix_parse_address("2001:db8::1", address), 0);
	CHECK_MEM_EQ("IPv6 stays", address, ipv6, 16);
	CHECK_EQ("is not IPv4", prefix_is_ipv4(address), false);
	CHECK_STR_EQ("and is IPv6 again", prefix_format_address(address, text), "2001:db8::1");
	CHECK_EQ("a length is none of it", prefix_parse_address("192.0.2.1/32", address), -EINVAL);
	CHECK_EQ("nothing", prefix_parse_address("", address), -EINVAL);
	CHECK_MEM_EQ("a failure leaves it alone", address, ipv6, 16);
}

static void test_contains(void)
{
	static const struct {
		const char *what, *prefix, *address;
		bool want;
	} rows[] = {
		{ "the first of it", "10.0.0.0/8", "10.0.0.0", true },
		{ "the last of it", "10.0.0.0/8", "10.255.255.255", true },
		{ "the one before it", "10.0.0.0/8", "9.255.255.255", false },
		{ "the one after it", "10.0.0.0/8", "11.0.0.0", false },
		{ "all of IPv4 holds IPv4", "0.0.0.0/0", "203.0.113.7", true },
		{ "and no IPv6", "0.0.0.0/0", "2001:db8::1", false },
		{ "all of global IPv6 holds IPv6", "2000::/3", "2001:db8::1", true },
		{ "and no IPv4", "2000::/3", "203.0.113.7", false },
		{ "a length within a byte", "192.0.2.128/25", "192.0.2.129", true },
		{ "and outside", "192.0.2.128/25", "192.0.2.127", false },
		{ "a host holds itself", "2001:db8::1", "2001:db8::1", true },
		{ "and nobody else", "2001:db8::1", "2001:db8::2", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct prefix prefix;
		uint8_t address[16];

		CHECK_EQ(rows[i].what, prefix_parse(rows[i].prefix, &prefix), 0);
		CHECK_EQ(rows[i].what, prefix_parse_address(rows[i].address, address), 0);
		CHECK_EQ(rows[i].what, prefix_contains(&prefix, address), rows[i].want);
	}
}

static void test_mask(void)
{
	static const struct {
		unsigned int bits;
		uint8_t want[3]; /* of the first, ninth and last byte */
	} rows[] = {
		{ 0, { 0, 0, 0 } },
		{ 1, { 0x80, 0, 0 } },
		{ 7, { 0xfe, 0, 0 } },
		{ 8, { 0xff, 0, 0 } },
		{ 64, { 0xff, 0, 0 } },
		{ 65, { 0xff, 0x80, 0 } },
		{ 127, { 0xff, 0xff, 0xfe } },
		{ 128, { 0xff, 0xff, 0xff } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t address[16];

		memset(address, 0xff, sizeof(address));
		prefix_mask(address, rows[i].bits);
		CHECK_EQ("the first byte", address[0], rows[i].want[0]);
		CHECK_EQ("the ninth byte", address[8], rows[i].want[1]);
		CHECK_EQ("the last byte", address[15], rows[i].want[2]);
	}
}

CHECK_SUITE(prefix, { "prefixes are read and written", test_parse },
	    { "addresses are read and written", test_parse_address },
	    { "a prefix holds what it should", test_contains },
	    { "bits past a length are cleared", test_mask });
