/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How far a frame is read: options, extension headers, fragments, and what is no header at all. */
#include "check.h"
#include "prog.h"
#include "util.h"

static const char config[] = "listeners:\n"
			     "  web: {protocol: tcp, ports: [80]}\n"
			     "  dns: {protocol: udp, ports: [53]}\n";

#define READ "pass unlimited" /* as far as its ports, which are a listener's */
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_IPV6_NUMBER 0x86dd
#define LENGTH_OF_802_3 100 /* IEEE 802.3: below 1536 it is a length, not a type */
#define FRAGMENTED                                                                                 \
	{                                                                                          \
		PKT_FRAGMENT                                                                       \
	}

static const struct row {
	const char *what;
	const char *want;
	struct pkt_spec spec;
} rows[] = {
	{ "TCP over IPv4 is read", READ, {} },
	{ "UDP over IPv4 is read", READ, { .protocol = IPPROTO_UDP, .dport = 53 } },
	{ "TCP over IPv6 is read", READ, { .ipv6 = true } },
	{ "UDP over IPv6 is read", READ, { .ipv6 = true, .protocol = IPPROTO_UDP, .dport = 53 } },
	{ "TCP is not UDP", "pass unprotected", { .dport = 53 } },
	{ "UDP is not TCP", "pass unprotected", { .protocol = IPPROTO_UDP } },

	{ "behind one IPv4 option", READ, { .ip_options = 4 } },
	{ "behind as many IPv4 options as there can be", READ, { .ip_options = 40 } },
	{ "UDP behind IPv4 options",
	  READ,
	  { .ip_options = 12, .protocol = IPPROTO_UDP, .dport = 53 } },
	{ "with TCP options", READ, { .tcp_options = 40 } },
	{ "with data in the SYN", READ, { .payload = 1000 } },
	{ "an empty datagram", READ, { .protocol = IPPROTO_UDP, .dport = 53, .payload = 0 } },

	{ "a first IPv4 fragment has ports", READ, { .more = true, .payload = 24 } },
	{ "a first IPv4 fragment that is too short for a datagram's header",
	  "drop tiny_fragment",
	  { .protocol = IPPROTO_UDP, .dport = 53, .more = true, .cut = 4 } },
	{ "a later IPv4 fragment has none",
	  "pass fragment",
	  { .fragment = 3, .more = true, .payload = 24 } },
	{ "one that begins within TCP's header is none that any host sends",
	  "drop tiny_fragment",
	  { .fragment = 1, .more = true, .payload = 24 } },
	{ "nor is one that begins within its last bytes",
	  "drop tiny_fragment",
	  { .fragment = 2, .payload = 24 } },
	{ "of a datagram it may begin there",
	  "pass fragment",
	  { .protocol = IPPROTO_UDP, .fragment = 1, .payload = 24 } },
	{ "the last IPv4 fragment has none", "pass fragment", { .fragment = 8191, .payload = 8 } },
	{ "a first IPv4 fragment that is too short for its header",
	  "drop tiny_fragment",
	  { .more = true, .cut = 12 } },
	{ "an IPv4 frame that is too short for its header",
	  "pass truncated",
	  { .ip_options = 40, .cut = 21 } },

	{ "behind hop-by-hop options", READ, { .ipv6 = true, .extensions = { PKT_HOP_BY_HOP } } },
	{ "behind a routing header", READ, { .ipv6 = true, .extensions = { PKT_ROUTING } } },
	{ "behind destination options", READ, { .ipv6 = true, .extensions = { PKT_DESTINATION } } },
	{ "behind an authentication header", READ, { .ipv6 = true, .extensions = { PKT_AH } } },
	{ "an IPv6 packet in one fragment", READ, { .ipv6 = true, .extensions = FRAGMENTED } },
	{ "a first IPv6 fragment has ports",
	  READ,
	  { .ipv6 = true, .extensions = FRAGMENTED, .more = true, .payload = 24 } },
	{ "a later IPv6 fragment has none",
	  "pass fragment",
	  { .ipv6 = true, .extensions = FRAGMENTED, .fragment = 3, .more = true, .payload = 24 } },
	{ "the last IPv6 fragment has none",
	  "pass fragment",
	  { .ipv6 = true, .extensions = FRAGMENTED, .fragment = 8191, .payload = 8 } },
	{ "an IPv6 fragment behind hop-by-hop options",
	  "pass fragment",
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_FRAGMENT },
	    .fragment = 3,
	    .payload = 8 } },
	{ "a first IPv6 fragment that is too short for its header",
	  "drop tiny_fragment",
	  { .ipv6 = true, .extensions = FRAGMENTED, .more = true, .cut = 12 } },
	{ "an IPv6 fragment that begins within TCP's header",
	  "drop tiny_fragment",
	  { .ipv6 = true, .extensions = FRAGMENTED, .fragment = 2, .payload = 24 } },
	{ "a first IPv6 fragment that ends within a datagram's header",
	  "drop tiny_fragment",
	  { .ipv6 = true,
	    .protocol = IPPROTO_UDP,
	    .dport = 53,
	    .extensions = FRAGMENTED,
	    .more = true,
	    .cut = 4 } },
	{ "one that ends within an extension header behind it",
	  "drop tiny_fragment",
	  { .ipv6 = true,
	    .extensions = { PKT_FRAGMENT, PKT_ROUTING_CUT },
	    .more = true,
	    .cut = 20 } },
	{ "a fragment within one, which ends in the TCP header",
	  "drop tiny_fragment",
	  { .ipv6 = true, .extensions = { PKT_FRAGMENT, PKT_FRAGMENT }, .more = true, .cut = 12 } },
	{ "every kind of extension header, in the order of RFC 8200",
	  READ,
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION, PKT_ROUTING, PKT_FRAGMENT, PKT_AH,
			    PKT_DESTINATION } } },
	{ "UDP behind every kind of extension header",
	  READ,
	  { .ipv6 = true,
	    .protocol = IPPROTO_UDP,
	    .dport = 53,
	    .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION, PKT_ROUTING, PKT_FRAGMENT, PKT_AH,
			    PKT_DESTINATION } } },
	{ "eight extension headers are followed",
	  READ,
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION,
			    PKT_ROUTING, PKT_FRAGMENT, PKT_AH, PKT_DESTINATION } } },
	{ "nine are too many",
	  "drop ext_header",
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION,
			    PKT_ROUTING, PKT_FRAGMENT, PKT_AH, PKT_DESTINATION,
			    PKT_DESTINATION } } },
	{ "a kilobyte of options is followed",
	  READ,
	  { .ipv6 = true, .extensions = { PKT_DESTINATION_LONG } } },
	{ "two are too much",
	  "drop ext_header",
	  { .ipv6 = true, .extensions = { PKT_DESTINATION_LONG, PKT_DESTINATION_LONG } } },
	{ "a routing header that is longer than the frame",
	  "pass truncated",
	  { .ipv6 = true, .extensions = { PKT_ROUTING_CUT } } },
	{ "an authentication header that is longer than the frame",
	  "pass truncated",
	  { .ipv6 = true, .extensions = { PKT_AH_CUT } } },
	{ "an extension header that is cut in two",
	  "pass truncated",
	  { .ipv6 = true, .extensions = { PKT_HOP_BY_HOP }, .cut = 24 } },

	{ "nothing behind an extension header",
	  "pass not_transport",
	  { .ipv6 = true, .extensions = { PKT_HOP_BY_HOP, PKT_NO_NEXT } } },
	{ "ICMP", "pass not_transport", { .protocol = IPPROTO_ICMP } },
	{ "ICMPv6", "pass not_transport", { .ipv6 = true, .protocol = IPPROTO_ICMPV6 } },
	{ "ESP, which nobody can read", "pass not_transport", { .protocol = IPPROTO_ESP } },
	{ "ESP over IPv6", "pass not_transport", { .ipv6 = true, .protocol = IPPROTO_ESP } },
	{ "IPv6 in IPv4", "pass not_transport", { .protocol = IPPROTO_IPV6, .payload = 40 } },

	{ "ARP", "pass not_ip", { .type = ETHERTYPE_ARP } },
	{ "ARP behind a tag", "pass not_ip", { .type = ETHERTYPE_ARP, .vlans = 1 } },
	{ "ARP behind two", "pass not_ip", { .type = ETHERTYPE_ARP, .vlans = 2 } },
	{ "a length, and no type", "pass not_ip", { .type = LENGTH_OF_802_3 } },
	{ "IPv4 behind three tags", "drop vlan_tags", { .vlans = 3 } },
	{ "IPv6 behind three tags", "drop vlan_tags", { .ipv6 = true, .vlans = 3 } },
	{ "ARP behind three tags", "drop vlan_tags", { .type = ETHERTYPE_ARP, .vlans = 3 } },
	{ "an IPv4 header that is called IPv6",
	  "pass truncated",
	  { .type = ETHERTYPE_IPV6_NUMBER, .payload = 40 } },
	{ "an IPv6 header, called IPv4", "pass truncated", { .ipv6 = true, .type = 0x0800 } },
};

static void test_rows(void)
{
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &rows[i].spec), rows[i].want);
}

/* Bytes of the IP header that say what cannot be. */
static void test_impossible(void)
{
	static const struct {
		const char *what;
		bool ipv6;
		size_t offset; /* in the IP header */
		uint8_t byte;
		const char *want;
	} bytes[] = {
		{ "IPv4 with version 5", false, 0, 0x55, "pass truncated" },
		{ "IPv4 with version 0", false, 0, 0x05, "pass truncated" },
		{ "IPv4 with a header of 16 bytes", false, 0, 0x44, "pass truncated" },
		{ "IPv4 with a header of none", false, 0, 0x40, "pass truncated" },
		{ "IPv4 that is shorter than its header", false, 3, 19, "pass truncated" },
		{ "IPv4 of no length, as of segments put together, is read", false, 3, 0, READ },
		{ "IPv4 with a header that is longer than all", false, 0, 0x4f, "pass truncated" },
		{ "IPv4 with the reserved flag is read", false, 6, 0x80, READ },
		{ "IPv4 that must not be fragmented is read", false, 6, 0x40, READ },
		{ "IPv6 with version 4", true, 0, 0x40, "pass truncated" },
		{ "IPv6 with another flow label is read", true, 2, 0xff, READ },
	};
	autoprog struct prog prog = {};
	struct pkt_frame frame;

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		pkt_build(&(struct pkt_spec){ .ipv6 = bytes[i].ipv6 }, &frame);
		frame.bytes[frame.l3 + bytes[i].offset] = bytes[i].byte;
		CHECK_STR_EQ(bytes[i].what, prog_send_frame(&prog, &frame), bytes[i].want);
	}
}

CHECK_SUITE(headers, { "read and unread", test_rows }, { "impossible bytes", test_impossible });
