/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that end anywhere. The kernel runs no frame that is shorter than Ethernet's header, so
 * those are given to the parser on the host, which must say the same of the others as well.
 */
#include <stdio.h>

#include <string.h>

#include <net/ethernet.h>

#include "check.h"
#include "host_parse.h"
#include "labels.h"
#include "prog.h"
#include "util.h"

static const char config[] = "listeners:\n"
			     "  web: {protocol: tcp, ports: [80]}\n"
			     "  dns: {protocol: udp, ports: [53]}\n";

static const struct shape {
	const char *what;
	struct pkt_spec spec;
} shapes[] = {
	{ "TCP over IPv4", { .tcp_options = 20, .payload = 8 } },
	{ "TCP over IPv4 with options", { .ip_options = 12 } },
	{ "UDP over IPv4", { .protocol = IPPROTO_UDP, .dport = 53, .payload = 8 } },
	{ "a first IPv4 fragment", { .more = true, .payload = 16 } },
	{ "TCP over IPv6", { .ipv6 = true, .payload = 8 } },
	{ "UDP over IPv6", { .ipv6 = true, .protocol = IPPROTO_UDP, .dport = 53, .payload = 8 } },
	{ "TCP behind extension headers",
	  { .ipv6 = true,
	    .extensions = { PKT_HOP_BY_HOP, PKT_ROUTING, PKT_AH, PKT_DESTINATION } } },
	{ "UDP behind extension headers",
	  { .ipv6 = true,
	    .protocol = IPPROTO_UDP,
	    .dport = 53,
	    .extensions = { PKT_DESTINATION, PKT_DESTINATION } } },
	{ "a first IPv6 fragment",
	  { .ipv6 = true, .extensions = { PKT_FRAGMENT }, .more = true, .payload = 16 } },
};

/* What the first @size bytes of @frame are called. */
static const char *want_of(const struct pkt_spec *spec, const struct pkt_frame *frame, size_t size)
{
	size_t header = spec->protocol == IPPROTO_UDP ? 8 : 20;

	if (size >= frame->l4 + header)
		return "unlimited";
	return size >= frame->l4 && spec->more ? "tiny_fragment" : "truncated";
}

static const char *parse_on_host(const struct pkt_frame *frame)
{
	int reason = host_parse(frame->bytes, frame->size);

	if (reason < 0)
		return reason == -1 ? "unlimited" : "no memory";
	return labels_reason[reason];
}

static void check_cut(struct prog *prog, const struct shape *shape, const struct pkt_frame *whole,
		      size_t size)
{
	const char *want = want_of(&shape->spec, whole, size);
	struct pkt_frame frame = *whole;
	char what[128], verdict[32];

	frame.size = size;
	snprintf(what, sizeof(what), "%s, %zu bytes of it", shape->what, size);
	snprintf(verdict, sizeof(verdict), "%s %s", strcmp(want, "tiny_fragment") ? "pass" : "drop",
		 want);
	CHECK_STR_EQ(what, parse_on_host(&frame), want);
	if (size >= ETHER_HDR_LEN)
		CHECK_STR_EQ(what, prog_send_frame(prog, &frame), verdict);
}

static void test_every_byte(void)
{
	autoprog struct prog prog = {};
	struct pkt_frame frame;
	struct shape shape;

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		for (uint8_t vlans = 0; vlans <= 2; vlans++) {
			shape = shapes[i];
			shape.spec.vlans = vlans;
			pkt_build(&shape.spec, &frame);
			for (size_t size = 0; size <= frame.size; size++)
				check_cut(&prog, &shape, &frame, size);
		}
	}
}

CHECK_SUITE(truncated, { "at every byte", test_every_byte });
