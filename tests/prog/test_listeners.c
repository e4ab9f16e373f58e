/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which listener a packet finds, and which policy its source has there. */
#include <stdio.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define OTHER "203.0.113.99"
#define OTHER_V6 "2001:db8::99"

/* From the least specific to the most: everything, a port, an address, an address and a port. */
static const char listeners[] =
	"rate_limiters: {l: {limit: 1000000, window: 1h}}\n"
	"listeners:\n"
	"  all: {protocol: tcp, rate_limiter_name: l}\n"
	"  port: {protocol: tcp, ports: [80, 1000-1999, 65535], rate_limiter_name: l}\n"
	"  address: {protocol: tcp, addresses: [203.0.113.1, '2001:db8::1'],\n"
	"            rate_limiter_name: l}\n"
	"  both: {protocol: tcp, addresses: [203.0.113.1, '2001:db8::1'], ports: [80, 1500],\n"
	"         rate_limiter_name: l}\n"
	"  two: {protocol: tcp, addresses: [203.0.113.2, '2001:db8::2'], ports: [443-445],\n"
	"        rate_limiter_name: l}\n"
	"  dns: {protocol: udp, ports: [53]}\n";

static void test_specific(void)
{
	static const struct {
		const char *what;
		const char *to, *to_ipv6;
		uint16_t port;
		const char *want;
	} rows[] = {
		{ "an address and a port", SERVER_ONE, SERVER_ONE_V6, 80, "both" },
		{ "the same with another of its ports", SERVER_ONE, SERVER_ONE_V6, 1500, "both" },
		{ "another port of the address", SERVER_ONE, SERVER_ONE_V6, 81, "address" },
		{ "a range of all addresses comes after it", SERVER_ONE, SERVER_ONE_V6, 1501,
		  "address" },
		{ "the port at another address", OTHER, OTHER_V6, 80, "port" },
		{ "the port at an address that has others", SERVER_TWO, SERVER_TWO_V6, 80, "port" },
		{ "the first of a range there", SERVER_TWO, SERVER_TWO_V6, 443, "two" },
		{ "the last of a range there", SERVER_TWO, SERVER_TWO_V6, 445, "two" },
		{ "one past the range", SERVER_TWO, SERVER_TWO_V6, 446, "all" },
		{ "one below the range", SERVER_TWO, SERVER_TWO_V6, 442, "all" },
		{ "one below a long range", OTHER, OTHER_V6, 999, "all" },
		{ "the first of a long range", OTHER, OTHER_V6, 1000, "port" },
		{ "the end of a page of ports", OTHER, OTHER_V6, 1023, "port" },
		{ "the next page of ports", OTHER, OTHER_V6, 1024, "port" },
		{ "the last of a long range", OTHER, OTHER_V6, 1999, "port" },
		{ "one past a long range", OTHER, OTHER_V6, 2000, "all" },
		{ "the lowest port", OTHER, OTHER_V6, 1, "all" },
		{ "the highest port", OTHER, OTHER_V6, 65535, "port" },
		{ "the highest but one", OTHER, OTHER_V6, 65534, "all" },
	};
	autoprog struct prog prog = {};
	struct pkt_spec spec;
	char want[64];

	if (!prog_load(&prog, listeners, PROG_NOW))
		return;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		spec = (struct pkt_spec){ .to = i % 2 ? rows[i / 2].to_ipv6 : rows[i / 2].to,
					  .dport = rows[i / 2].port };
		snprintf(want, sizeof(want), "pass allowed %s/l=allowed", rows[i / 2].want);
		CHECK_STR_EQ(rows[i / 2].what, prog_send(&prog, &spec), want);
	}
	spec = (struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = 80 };
	CHECK_STR_EQ("all of TCP is not UDP", prog_send(&prog, &spec), "pass unprotected");
	spec.dport = 53;
	CHECK_STR_EQ("UDP has listeners of its own", prog_send(&prog, &spec), "pass unlimited");
}

/* An address that names no port of UDP must not hide the listener of every address. */
static void test_protocols(void)
{
	static const char config[] =
		"listeners:\n"
		"  web: {protocol: tcp, addresses: [203.0.113.1]}\n"
		"  dns: {protocol: udp, ports: [53]}\n"
		"  dns-too: {protocol: udp, addresses: ['2001:db8::1'], ports: [5353]}\n";
	static const struct {
		const char *what;
		struct pkt_spec spec;
		const char *want;
	} rows[] = {
		{ "TCP at the address", {}, "pass unlimited" },
		{ "TCP elsewhere", { .to = SERVER_TWO }, "pass unprotected" },
		{ "UDP at TCP's address",
		  { .protocol = IPPROTO_UDP, .dport = 53 },
		  "pass unlimited" },
		{ "UDP elsewhere",
		  { .to = SERVER_TWO, .protocol = IPPROTO_UDP, .dport = 53 },
		  "pass unlimited" },
		{ "another port", { .protocol = IPPROTO_UDP, .dport = 54 }, "pass unprotected" },
		{ "a UDP port of an IPv6 address",
		  { .ipv6 = true, .protocol = IPPROTO_UDP, .dport = 5353 },
		  "pass unlimited" },
		{ "a UDP port of every address there",
		  { .ipv6 = true, .protocol = IPPROTO_UDP, .dport = 53 },
		  "pass unlimited" },
		{ "TCP at an address of UDP", { .ipv6 = true, .dport = 5353 }, "pass unprotected" },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &rows[i].spec), rows[i].want);
}

static const char sources[] = "interfaces: {lo: {rate_limiter_name: edge}}\n"
			      "rate_limiters:\n"
			      "  edge: {limit: 1000000, window: 1h}\n"
			      "  usual: {limit: 1000000, window: 1h}\n"
			      "  strict: {limit: 1000000, window: 1h}\n"
			      "  shared: {keys: [], limit: 1000000, window: 1h}\n"
			      "listeners:\n"
			      "  web:\n"
			      "    protocol: tcp\n"
			      "    ports: [80]\n"
			      "    rate_limiter_name: usual\n"
			      "    sources:\n"
			      "      198.51.100.0/24: none\n"
			      "      198.51.100.64/26: strict\n"
			      "      198.51.100.65: none\n"
			      "      192.0.2.10: [strict, shared]\n"
			      "      '2001:db8:a::/48': none\n"
			      "      '2001:db8:a::/64': strict\n"
			      "  ssh: {protocol: tcp, ports: [22], rate_limiter_name: usual,\n"
			      "        sources: {192.0.2.9: none}}\n";

#define AT_THE_EDGE "lo: pass allowed web/edge=allowed "
#define NONE "lo: pass exempt web/edge=exempt web/usual=exempt"

static void test_sources(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
		const char *want;
	} rows[] = {
		{ "who has no entry", { .from = CLIENT_ONE }, AT_THE_EDGE "web/usual=allowed" },
		{ "none exempts", { .from = "198.51.100.1" }, NONE },
		{ "the longest prefix wins",
		  { .from = "198.51.100.64" },
		  AT_THE_EDGE "web/strict=allowed" },
		{ "to its last address",
		  { .from = "198.51.100.127" },
		  AT_THE_EDGE "web/strict=allowed" },
		{ "the next has the shorter one", { .from = "198.51.100.128" }, NONE },
		{ "a host is longer than that", { .from = "198.51.100.65" }, NONE },
		{ "two limiters in the listener's place",
		  { .from = CLIENT_TWO },
		  AT_THE_EDGE "web/strict=allowed web/shared=allowed" },
		{ "IPv6: none exempts", { .from = "2001:db8:a:1::1" }, NONE },
		{ "IPv6: the longest prefix wins",
		  { .from = CLIENT_FAR_V6 },
		  AT_THE_EDGE "web/strict=allowed" },
		{ "IPv6: who has no entry",
		  { .from = CLIENT_ONE_V6 },
		  AT_THE_EDGE "web/usual=allowed" },
		{ "another listener does not know these",
		  { .from = "198.51.100.1", .dport = 22 },
		  "lo: pass allowed ssh/edge=allowed ssh/usual=allowed" },
		{ "it has its own",
		  { .from = CLIENT_ONE, .dport = 22 },
		  "lo: pass exempt ssh/edge=exempt ssh/usual=exempt" },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, sources, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &rows[i].spec), rows[i].want);
}

CHECK_SUITE(listeners, { "the more specific one", test_specific },
	    { "each protocol by itself", test_protocols }, { "sources", test_sources });
