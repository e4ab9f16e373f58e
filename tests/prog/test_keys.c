/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who shares a bucket with whom, and that a bucket's key can be read as an address. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "prog.h"
#include "util.h"

/* The configuration of one limiter for each row, at a port of its own: limiters as the row says. */
struct writer {
	char text[PROG_CONFIG_SIZE];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void write_line(struct writer *writer,
							     const char *format, ...)
{
	size_t size = sizeof(writer->text) - writer->length;
	va_list arguments;

	va_start(arguments, format);
	writer->length += (size_t)vsnprintf(writer->text + writer->length, size, format, arguments);
	va_end(arguments);
}

static const struct row {
	const char *what;
	const char *limiter;
	const char *first, *second; /* clients */
	bool share;
} rows[] = {
	{ "two IPv4 clients", "ipv4_prefix: 32", CLIENT_ONE, CLIENT_TWO, false },
	{ "an IPv4 client with itself", "ipv4_prefix: 32", CLIENT_ONE, CLIENT_ONE, true },
	{ "two of one /24", "ipv4_prefix: 24", CLIENT_ONE, "192.0.2.255", true },
	{ "two of two /24", "ipv4_prefix: 24", CLIENT_ONE, "192.0.3.9", false },
	{ "two of one /31", "ipv4_prefix: 31", "192.0.2.8", CLIENT_ONE, true },
	{ "two of two /31", "ipv4_prefix: 31", CLIENT_ONE, CLIENT_TWO, false },
	{ "two of one /1", "ipv4_prefix: 1", "128.0.0.1", "223.255.255.255", true },
	{ "two of two /1", "ipv4_prefix: 1", "127.255.255.255", "128.0.0.1", false },
	{ "all of IPv4, by a prefix of 0", "ipv4_prefix: 0", "1.2.3.4", "223.4.5.6", true },
	{ "and not with IPv6", "ipv4_prefix: 0", "1.2.3.4", CLIENT_ONE_V6, false },
	{ "two of one /64", "ipv6_prefix: 64", CLIENT_ONE_V6, CLIENT_TWO_V6, true },
	{ "two of one /64, far apart", "ipv6_prefix: 64",
	  "2001:db8:9::", "2001:db8:9:0:ffff:ffff:ffff:ffff", true },
	{ "two of two /64", "ipv6_prefix: 64", CLIENT_ONE_V6, "2001:db8:9:1::9", false },
	{ "two of one /48", "ipv6_prefix: 48", CLIENT_ONE_V6, "2001:db8:9:ffff::9", true },
	{ "two of two /48", "ipv6_prefix: 48", CLIENT_ONE_V6, CLIENT_FAR_V6, false },
	{ "all of IPv6, by a prefix of 0", "ipv6_prefix: 0", CLIENT_ONE_V6, "fe80::1", true },
	{ "and not with IPv4", "ipv6_prefix: 0", CLIENT_ONE_V6, CLIENT_ONE, false },
	{ "two of one /96", "ipv6_prefix: 96", "2001:db8:9::1:0:1", "2001:db8:9::1:ffff:1", true },
	{ "two of two /96", "ipv6_prefix: 96", "2001:db8:9::1:0:1", "2001:db8:9::2:0:1", false },
	{ "two /128", "ipv6_prefix: 128", CLIENT_ONE_V6, CLIENT_TWO_V6, false },
	{ "a /128 with itself", "ipv6_prefix: 128", CLIENT_ONE_V6, CLIENT_ONE_V6, true },
	{ "two of one /127", "ipv6_prefix: 127", "2001:db8:9::8", CLIENT_ONE_V6, true },
	{ "two of one /65", "ipv6_prefix: 65", CLIENT_ONE_V6, CLIENT_TWO_V6, true },
	{ "two of two /65", "ipv6_prefix: 65", CLIENT_ONE_V6, "2001:db8:9:0:8000::9", false },
	{ "two IPv4 clients in a wide table", "ipv6_prefix: 128", CLIENT_ONE, CLIENT_TWO, false },
	{ "an IPv4 client with itself there", "ipv6_prefix: 128", CLIENT_ONE, CLIENT_ONE, true },
	{ "two of one IPv4 /24 there", "ipv6_prefix: 96, ipv4_prefix: 24", CLIENT_ONE, CLIENT_TWO,
	  true },
	{ "one bucket for every event", "keys: []", CLIENT_ONE, CLIENT_FAR, true },
	{ "whatever the address family", "keys: []", CLIENT_ONE, CLIENT_ONE_V6, true },
	{ "keys: [client_ip] is what stands there if nothing does",
	  "burst: 1, algorithm: token_bucket", CLIENT_ONE, CLIENT_TWO, false },

	/* Nobody can choose an IPv6 address whose key is an IPv4 client's. */
	{ "an IPv6 address that looks like an IPv4 client's key", "ipv6_prefix: 64", CLIENT_ONE,
	  "1:0:c000:209::1", false },
	{ "addresses that look like such keys with each other", "ipv6_prefix: 64",
	  "1:0:c000:209::1", "1:0:c000:20a::1", true },
	{ "an IPv4-compatible IPv6 address with its IPv4 client", "ipv6_prefix: 128", CLIENT_ONE,
	  "::192.0.2.9", false },
	{ "the IPv6 loopback with all of IPv4 in one bucket", "ipv4_prefix: 0", "192.0.2.9", "::1",
	  false },
};

static void write_config(struct writer *writer, size_t n, const char *(*limiter_of)(size_t index))
{
	write_line(writer, "rate_limiters:\n");
	for (size_t i = 0; i < n; i++)
		write_line(writer, "  l%zu: {limit: 1, window: 1h, max_keys: 8, %s}\n", i,
			   limiter_of(i));
	write_line(writer, "listeners:\n");
	for (size_t i = 0; i < n; i++)
		write_line(writer,
			   "  at%zu: {protocol: tcp, ports: [%zu], rate_limiter_name: l%zu}\n", i,
			   i + 1, i);
}

static const char *row_limiter(size_t index)
{
	return rows[index].limiter;
}

static void test_who_shares(void)
{
	autoprog struct prog prog = {};
	struct writer writer = {};
	char allowed[64], limited[64];

	write_config(&writer, ARRAY_SIZE(rows), row_limiter);
	if (!prog_load(&prog, writer.text, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct pkt_spec spec = { .from = row->first, .dport = (uint16_t)(i + 1) };

		snprintf(allowed, sizeof(allowed), "pass allowed at%zu/l%zu=allowed", i, i);
		snprintf(limited, sizeof(limited), "reply limited at%zu/l%zu=limited reset", i, i);
		CHECK_STR_EQ(row->what, prog_send(&prog, &spec), allowed);
		spec.from = row->second;
		CHECK_STR_EQ(row->what, prog_send(&prog, &spec), row->share ? limited : allowed);
	}
}

/* How many ways of @table hold @key. */
static unsigned int holders(const struct prog_table *table, const void *key, bool wide)
{
	size_t size = wide ? 16 : 8, ways = wide ? STILE_SET_WAYS_WIDE : STILE_SET_WAYS;
	unsigned int n = 0;

	for (uint32_t i = 0; i < table->n_sets; i++)
		for (size_t way = 0; way < ways; way++)
			n += memcmp((const char *)&table->sets[i] + way * size, key, size) == 0;
	return n;
}

/* abi.h: what bpftool shows a person. */
static const struct stored {
	const char *what;
	const char *limiter;
	const char *from;
	uint8_t key[16];
	bool wide;
} stored[] = {
	{ "an IPv4 client", "ipv4_prefix: 32", CLIENT_ONE, { 0, 1, 0, 0, 192, 0, 2, 9 }, false },
	{ "an IPv4 /24", "ipv4_prefix: 24", CLIENT_ONE, { 0, 1, 0, 0, 192, 0, 2, 0 }, false },
	{ "an IPv6 /64",
	  "ipv6_prefix: 64",
	  "2001:db8:9:77::9",
	  { 0x20, 0x01, 0x0d, 0xb8, 0, 9, 0, 0x77 },
	  false },
	{ "an IPv6 /48",
	  "ipv6_prefix: 48",
	  "2001:db8:9:77::9",
	  { 0x20, 0x01, 0x0d, 0xb8, 0, 9 },
	  false },
	{ "an IPv6 address",
	  "ipv6_prefix: 128",
	  "2001:db8:9:77::9",
	  { 0x20, 0x01, 0x0d, 0xb8, 0, 9, 0, 0x77, [15] = 9 },
	  true },
	{ "an IPv4 client in a wide table",
	  "ipv6_prefix: 128",
	  CLIENT_ONE,
	  { [10] = 0xff, 0xff, 192, 0, 2, 9 },
	  true },
};

static const char *stored_limiter(size_t index)
{
	return stored[index].limiter;
}

static void test_stored_keys(void)
{
	autoprog struct prog prog = {};
	struct writer writer = {};
	struct prog_table table;
	char name[16];

	write_config(&writer, ARRAY_SIZE(stored), stored_limiter);
	if (!prog_load(&prog, writer.text, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stored); i++) {
		const struct pkt_spec spec = { .from = stored[i].from, .dport = (uint16_t)(i + 1) };

		snprintf(name, sizeof(name), "l%zu", i);
		CHECK_EQ(stored[i].what, prog_passing(&prog, &spec, 2), 1);
		if (prog_table(&prog, name, &table))
			CHECK_EQ(stored[i].what, holders(&table, stored[i].key, stored[i].wide), 1);
	}
}

CHECK_SUITE(keys, { "who shares a bucket", test_who_shares },
	    { "keys as they are stored", test_stored_keys });
