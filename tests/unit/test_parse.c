/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames read on the host, each in memory that ends where it ends, so that a byte read behind it is
 * found. tests/prog/ goes through all that a packet can be.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "check.h"
#include "parse.h"
#include "pkt.h"
#include "util.h"

#define ALIGN 2 /* so that what follows Ethernet's 14 bytes lies on a whole word */

/* The first @size bytes of @frame, read; @parser is parse() or parse_plain(). */
static int read_frame(const struct pkt_frame *frame, size_t size,
		      int (*parser)(void *data, void *data_end, struct pkt *ret_pkt),
		      struct pkt *ret_pkt)
{
	uint8_t *memory = malloc(ALIGN + size);
	int unread = _STILE_REASON_MAX;

	*ret_pkt = (struct pkt){};
	if (!CHECK("memory", memory))
		return unread;
	memcpy(memory + ALIGN, frame->bytes, size);
	unread = parser(memory + ALIGN, memory + ALIGN + size, ret_pkt);
	free(memory);
	return unread;
}

static int parse_whole(void *data, void *data_end, struct pkt *ret_pkt)
{
	return parse(data, data_end, ret_pkt);
}

static int parse_most(void *data, void *data_end, struct pkt *ret_pkt)
{
	return parse_plain(data, data_end, ret_pkt);
}

static const struct {
	const char *what;
	struct pkt_spec spec;
	int want;
} rows[] = {
	{ "IPv4, TCP", { .payload = 11 }, PARSE_OK },
	{ "IPv4 with options", { .ip_options = 40, .tcp_options = 20 }, PARSE_OK },
	{ "IPv4, UDP", { .protocol = IPPROTO_UDP, .payload = 7 }, PARSE_OK },
	{ "one VLAN tag", { .vlans = 1 }, PARSE_OK },
	{ "two VLAN tags", { .vlans = 2, .ipv6 = true }, PARSE_OK },
	{ "three are too many", { .vlans = 3 }, STILE_REASON_VLAN_TAGS },
	{ "IPv6, TCP", { .ipv6 = true, .payload = 3 }, PARSE_OK },
	{ "IPv6, UDP", { .ipv6 = true, .protocol = IPPROTO_UDP }, PARSE_OK },
	{ "IPv6 with extension headers",
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_ROUTING, PKT_DESTINATION, PKT_AH, PKT_FRAGMENT } },
	  PARSE_OK },
	{ "eight of them",
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION,
			    PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION } },
	  PARSE_OK },
	{ "a ninth",
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION,
			    PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION, PKT_DESTINATION,
			    PKT_DESTINATION } },
	  STILE_REASON_EXT_HEADER },
	{ "longer than is followed",
	  { .ipv6 = true,
	    .extensions = { PKT_DESTINATION_LONG, PKT_DESTINATION_LONG, PKT_DESTINATION } },
	  STILE_REASON_EXT_HEADER },
	{ "the first fragment", { .more = true, .payload = 8 }, PARSE_OK },
	{ "a later one", { .fragment = 3, .payload = 8 }, STILE_REASON_FRAGMENT },
	{ "an IPv4 address as an IPv6 source",
	  { .from = CLIENT_MAPPED, .to = SERVER_ONE_V6, .ipv6 = true },
	  STILE_REASON_MARTIAN },
	{ "neither TCP nor UDP", { .protocol = IPPROTO_ICMP }, STILE_REASON_NOT_TRANSPORT },
	{ "no IP", { .type = 0x0806 }, STILE_REASON_NOT_IP },
};

static void test_rows(void)
{
	struct pkt_frame frame;
	struct pkt pkt;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool extended = rows[i].spec.extensions[0] != PKT_NO_EXTENSION;

		pkt_build(&rows[i].spec, &frame);
		CHECK_EQ(rows[i].what, read_frame(&frame, frame.size, parse_whole, &pkt),
			 rows[i].want);
		if (rows[i].want == PARSE_OK) {
			CHECK_EQ(rows[i].what, pkt.l3, frame.l3);
			CHECK_EQ(rows[i].what, pkt.l4, frame.l4);
			CHECK_EQ(rows[i].what, pkt.payload, rows[i].spec.payload);
			CHECK_EQ(rows[i].what, pkt.ipv4, !rows[i].spec.ipv6);
			CHECK_EQ(rows[i].what, pkt.protocol,
				 rows[i].spec.protocol == IPPROTO_UDP ? STILE_PROTOCOL_UDP
								      : STILE_PROTOCOL_TCP);
		}
		CHECK_EQ(rows[i].what, read_frame(&frame, frame.size, parse_most, &pkt),
			 extended ? PARSE_EXTENDED : rows[i].want);
	}
}

/* However much is missing, nothing behind the end is read, and no port is made up. */
static void test_truncated(void)
{
	struct pkt_frame frame;
	struct pkt pkt;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool udp = rows[i].spec.protocol == IPPROTO_UDP;
		unsigned int bad = 0;

		pkt_build(&rows[i].spec, &frame);
		for (size_t size = 0; size < frame.size; size++) {
			bool whole = size >= frame.l4 + (udp ? 8 : 20);
			int unread = read_frame(&frame, size, parse_whole, &pkt);

			bad += rows[i].want == PARSE_OK && (unread == PARSE_OK) != whole;
			bad += rows[i].want != PARSE_OK && unread == PARSE_OK;
			(void)read_frame(&frame, size, parse_most, &pkt);
		}
		CHECK_EQ(rows[i].what, bad, 0);
	}
}

static void check_fields(const struct pkt_spec *spec, const char *from, const char *to, int family)
{
	uint8_t want_from[16] = { [10] = 0xff, [11] = 0xff }, want_to[16];
	struct pkt_frame frame;
	struct pkt pkt;

	memcpy(want_to, want_from, sizeof(want_to));
	inet_pton(family, from, want_from + (family == AF_INET ? 12 : 0));
	inet_pton(family, to, want_to + (family == AF_INET ? 12 : 0));
	pkt_build(spec, &frame);
	CHECK_EQ("it can be read", read_frame(&frame, frame.size, parse_whole, &pkt), PARSE_OK);
	CHECK_MEM_EQ("source", &pkt.source, want_from, 16);
	CHECK_MEM_EQ("destination", &pkt.destination, want_to, 16);
	CHECK_EQ("source port", pkt.sport, 0x1234);
	CHECK_EQ("destination port", pkt.dport, 0xfedc);
	CHECK_EQ("sequence number", pkt.sequence, 0x89abcdef);
	CHECK_EQ("acknowledgment number", pkt.acknowledgment, 0xfedcba98);
	CHECK_EQ("flags", pkt.flags, FLAG_SYN | FLAG_PSH | FLAG_URG);
}

static void test_fields(void)
{
	struct pkt_spec spec = {
		.sport = 0x1234,
		.dport = 0xfedc,
		.flags = PKT_SYN | PKT_PSH | PKT_URG | PKT_ECE,
		.sequence = 0x89abcdef,
		.acknowledgment = 0xfedcba98,
	};

	check_fields(&spec, CLIENT_ONE, SERVER_ONE, AF_INET);
	spec.ipv6 = true;
	check_fields(&spec, CLIENT_ONE_V6, SERVER_ONE_V6, AF_INET6);
}

CHECK_SUITE(parse, { "what can be read", test_rows },
	    { "frames that end too early", test_truncated }, { "fields", test_fields });
