/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packets that other tests are made of: their checksums, and where their headers are. */
#include "check.h"
#include "pkt.h"
#include "util.h"

static void test_checksum(void)
{
	/* RFC 1071, section 3. */
	static const uint8_t bytes[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };

	CHECK_EQ("the RFC's sum", pkt_checksum(pkt_sum(0, bytes, sizeof(bytes))), 0x220d);
	CHECK_EQ("an odd byte is the high one", pkt_checksum(pkt_sum(0, bytes, 3)), 0x0dfe);
	CHECK_EQ("nothing", pkt_checksum(pkt_sum(0, bytes, 0)), 0xffff);
}

/* What a receiver does: with the checksum in it, everything adds up to all ones. */
static uint16_t rest(const struct pkt_frame *frame, uint8_t protocol, bool ipv6)
{
	const uint8_t *ip = frame->bytes + frame->l3;
	size_t size = frame->size - frame->l4;
	uint32_t sum = pkt_sum(0, frame->bytes + frame->l4, size);

	sum = ipv6 ? pkt_sum(sum, ip + 8, 32) : pkt_sum(sum, ip + 12, 8);
	return pkt_checksum(sum + protocol + (uint32_t)size);
}

static void test_frames(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
		size_t l3, l4, size;
	} rows[] = {
		{ "TCP over IPv4", { .protocol = IPPROTO_TCP }, 14, 34, 54 },
		{ "UDP over IPv4, an odd payload",
		  { .protocol = IPPROTO_UDP, .payload = 3 },
		  14,
		  34,
		  45 },
		{ "TCP behind options of both kinds, and a tag",
		  { .protocol = IPPROTO_TCP, .ip_options = 8, .tcp_options = 12, .vlans = 1 },
		  18,
		  46,
		  78 },
		{ "TCP over IPv6, behind two tags",
		  { .protocol = IPPROTO_TCP, .ipv6 = true, .vlans = 2 },
		  22,
		  62,
		  82 },
		{ "UDP behind extension headers",
		  { .protocol = IPPROTO_UDP,
		    .ipv6 = true,
		    .payload = 4,
		    .extensions = { PKT_HOP_BY_HOP, PKT_ROUTING, PKT_AH } },
		  14,
		  110,
		  122 },
	};
	struct pkt_frame frame;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt_spec *spec = &rows[i].spec;

		pkt_build(spec, &frame);
		CHECK_EQ(rows[i].what, frame.l3, rows[i].l3);
		CHECK_EQ(rows[i].what, frame.l4, rows[i].l4);
		CHECK_EQ(rows[i].what, frame.size, rows[i].size);
		CHECK_EQ(rows[i].what, rest(&frame, spec->protocol, spec->ipv6), 0);
		if (!spec->ipv6)
			CHECK_EQ("the IPv4 header's own",
				 pkt_checksum(
					 pkt_sum(0, frame.bytes + frame.l3, frame.l4 - frame.l3)),
				 0);
	}
}

/* Byte by byte, so that nothing rests on the builder alone. */
static void test_bytes(void)
{
	static const uint8_t want[] = {
		0x02, 0,    0,	  0,	0,    0x05, 0x02, 0,
		0,    0,    0,	  0x0c,		    /* to the server, from the client */
		0x81, 0x00, 0x20, 0x64, 0x08, 0x00, /* VLAN 100, priority 1; IPv4 */
		0x45, 0xb8, 0x00, 0x1d, 0xbe, 0xef, 0x00, 0x00,
		57,   17,   0xc4, 0x1d,				/* 29 bytes */
		192,  0,    2,	  9,	203,  0,    113,  1,	/* CLIENT_ONE, SERVER_ONE */
		0x9c, 0x40, 0x00, 0x35, 0x00, 0x09, 0x24, 0x5b, /* 40000 to 53, 9 bytes */
		'A',
	};
	struct pkt_frame frame;

	pkt_build(
		&(struct pkt_spec){
			.protocol = IPPROTO_UDP, .dport = 53, .payload = 1, .vlans = 1 },
		&frame);
	CHECK_EQ("its size", frame.size, sizeof(want));
	CHECK_MEM_EQ("a datagram of one byte behind a tag", frame.bytes, want, sizeof(want));
}

CHECK_SUITE(pkt, { "checksum", test_checksum }, { "frames", test_frames },
	    { "byte by byte", test_bytes });
