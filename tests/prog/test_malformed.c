/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets whose headers contradict each other: none is a way past a limiter, and none that the
 * stack drops anyway is charged or answered.
 */
#include "check.h"
#include "prog.h"
#include "util.h"

#define READ "pass unlimited"

static const char config[] = "listeners:\n"
			     "  web: {protocol: tcp, ports: [80]}\n"
			     "  dns: {protocol: udp, ports: [53]}\n";

enum header { IP, TRANSPORT };

/* A packet in which one or two bytes of a header say something else. */
static const struct row {
	const char *what, *want;
	struct pkt_spec spec;
	enum header header;
	size_t offset;
	uint16_t value; /* of the two bytes there */
} rows[] = {
	{ "TCP with a header of no length", "drop malformed", {}, TRANSPORT, 12, 0x0002 },
	{ "TCP with a header of 16 bytes", "drop malformed", {}, TRANSPORT, 12, 0x4002 },
	{ "TCP with a header of 20 bytes", READ, {}, TRANSPORT, 12, 0x5002 },
	{ "TCP with a header that is longer than the packet",
	  "drop malformed",
	  {},
	  TRANSPORT,
	  12,
	  0x6002 },
	{ "TCP with a header as long as all", READ, { .payload = 4 }, TRANSPORT, 12, 0x6002 },
	{ "an ACK with a header of 16 bytes", "drop malformed", {}, TRANSPORT, 12, 0x4010 },
	{ "TCP for no listener with such a header",
	  "drop malformed",
	  { .dport = 9 },
	  TRANSPORT,
	  12,
	  0x4002 },
	{ "over IPv6", "drop malformed", { .ipv6 = true }, TRANSPORT, 12, 0x4002 },
	{ "a first fragment whose options are in the next",
	  READ,
	  { .more = true, .payload = 4 },
	  TRANSPORT,
	  12,
	  0xf002 },
	{ "a first fragment with a header of 16 bytes",
	  "drop malformed",
	  { .more = true, .payload = 4 },
	  TRANSPORT,
	  12,
	  0x4002 },

	{ "IPv4 that ends before the TCP header does, and padding",
	  "drop malformed",
	  {},
	  IP,
	  2,
	  20 + 19 },
	{ "IPv4 that ends with the TCP header, and padding",
	  READ,
	  { .payload = 100 },
	  IP,
	  2,
	  20 + 20 },
	{ "IPv6 that ends before the TCP header does, and padding",
	  "drop malformed",
	  { .ipv6 = true },
	  IP,
	  4,
	  19 },
	{ "IPv6 of no length", "drop malformed", { .ipv6 = true }, IP, 4, 0 },
	{ "IPv6 of no length, and hop-by-hop options",
	  READ,
	  { .ipv6 = true, .extensions = { PKT_HOP_BY_HOP } },
	  IP,
	  4,
	  0 },
	{ "IPv6 of no length, and other options",
	  "pass truncated",
	  { .ipv6 = true, .extensions = { PKT_DESTINATION } },
	  IP,
	  4,
	  0 },
	{ "IPv6 that ends within its options",
	  "pass truncated",
	  { .ipv6 = true, .extensions = { PKT_HOP_BY_HOP } },
	  IP,
	  4,
	  7 },
	{ "a first IPv4 fragment that shows an ACK in its padding",
	  "drop tiny_fragment",
	  { .more = true, .flags = PKT_ACK },
	  IP,
	  2,
	  20 + 8 },
	{ "or all of it but a byte",
	  "drop tiny_fragment",
	  { .more = true, .flags = PKT_ACK },
	  IP,
	  2,
	  20 + 19 },
	{ "a first IPv6 fragment that does",
	  "drop tiny_fragment",
	  { .ipv6 = true, .more = true, .flags = PKT_ACK, .extensions = { PKT_FRAGMENT } },
	  IP,
	  4,
	  8 + 8 },
	{ "one that shows options in its padding",
	  "drop tiny_fragment",
	  { .ipv6 = true, .more = true, .extensions = { PKT_FRAGMENT, PKT_DESTINATION } },
	  IP,
	  4,
	  8 + 7 },
	{ "a frame shorter than its packet is judged", READ, { .payload = 10 }, IP, 2, 1000 },

	{ "a datagram that has less than a header",
	  "drop malformed",
	  { .protocol = IPPROTO_UDP, .dport = 53 },
	  TRANSPORT,
	  4,
	  7 },
	{ "a datagram of no length",
	  "drop malformed",
	  { .protocol = IPPROTO_UDP, .dport = 53 },
	  TRANSPORT,
	  4,
	  0 },
	{ "an empty datagram",
	  READ,
	  { .protocol = IPPROTO_UDP, .dport = 53, .payload = 9 },
	  TRANSPORT,
	  4,
	  8 },
	{ "a datagram that is longer than its packet",
	  "drop malformed",
	  { .protocol = IPPROTO_UDP, .dport = 53 },
	  TRANSPORT,
	  4,
	  9 },
	{ "a first fragment of a longer one",
	  READ,
	  { .protocol = IPPROTO_UDP, .dport = 53, .more = true },
	  TRANSPORT,
	  4,
	  1000 },
	{ "over IPv6 a datagram of no length is as long as its packet",
	  READ,
	  { .ipv6 = true, .protocol = IPPROTO_UDP, .dport = 53 },
	  TRANSPORT,
	  4,
	  0 },
	{ "over IPv6 a datagram that has less than a header",
	  "drop malformed",
	  { .ipv6 = true, .protocol = IPPROTO_UDP, .dport = 53 },
	  TRANSPORT,
	  4,
	  7 },
	{ "IPv4 that ends before the UDP header does",
	  "drop malformed",
	  { .protocol = IPPROTO_UDP, .dport = 53 },
	  IP,
	  2,
	  20 + 7 },
};

static void test_rows(void)
{
	autoprog struct prog prog = {};
	struct pkt_frame frame;
	size_t at;

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		pkt_build(&rows[i].spec, &frame);
		at = (rows[i].header == IP ? frame.l3 : frame.l4) + rows[i].offset;
		frame.bytes[at] = (uint8_t)(rows[i].value >> 8);
		frame.bytes[at + 1] = (uint8_t)rows[i].value;
		CHECK_STR_EQ(rows[i].what, prog_send_frame(&prog, &frame), rows[i].want);
	}
}

/* What is dropped for its headers costs nobody an event. */
static void test_not_charged(void)
{
	autoprog struct prog prog = {};

	if (!prog_load(&prog,
		       "rate_limiters: {l: {limit: 1, window: 1h}}\n"
		       "listeners: {web: {ports: [80], rate_limiter_name: l}}\n",
		       PROG_NOW))
		return;
	CHECK_STR_EQ("a malformed SYN",
		     prog_send(&prog, &(struct pkt_spec){ .short_header = true }),
		     "drop malformed");
	CHECK_STR_EQ("costs nothing", prog_send(&prog, &(struct pkt_spec){}),
		     "pass allowed web/l=allowed");
	CHECK_STR_EQ("and is not answered",
		     prog_send(&prog, &(struct pkt_spec){ .short_header = true }),
		     "drop malformed");
}

CHECK_SUITE(malformed, { "contradictions", test_rows }, { "not charged", test_not_charged });
