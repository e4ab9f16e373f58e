/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames are written from front to back; lengths and checksums that are known only at the end are
 * put in then. Fields that no test asks for have values that show where they get lost: priorities
 * in VLAN tags, a traffic class, a flow label.
 */
#include "pkt.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TCP_HEADER 20
#define UDP_HEADER 8
#define ICMP_HEADER 8
#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define REQUEST_HOPS 57
#define ETHERTYPE_QINQ 0x88a8

static const uint8_t client_mac[] = { 0x02, 0, 0, 0, 0, 0x0c };
static const uint8_t server_mac[] = { 0x02, 0, 0, 0, 0, 0x05 };
static const uint8_t group_mac[] = { 0x01, 0, 0x5e, 0, 0, 0x01 };

/* The frame while it is written, and what the layers must know of each other. */
struct writer {
	const struct pkt_spec *spec;
	struct pkt_frame *frame;
	bool ipv6;
	uint8_t protocol;
	uint8_t from[16], to[16];
	size_t address_size;
};

__attribute__((format(printf, 1, 2), noreturn)) static void mistaken(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	abort();
}

static void put(struct writer *writer, const void *bytes, size_t size)
{
	struct pkt_frame *frame = writer->frame;

	if (frame->size + size > sizeof(frame->bytes))
		mistaken("a frame of more than %zu bytes", sizeof(frame->bytes));
	memcpy(frame->bytes + frame->size, bytes, size);
	frame->size += size;
}

static void put8(struct writer *writer, unsigned int value)
{
	put(writer, &(uint8_t){ (uint8_t)value }, 1);
}

static void put16(struct writer *writer, unsigned int value)
{
	put8(writer, value >> 8 & 0xff);
	put8(writer, value & 0xff);
}

static void put32(struct writer *writer, uint32_t value)
{
	put16(writer, value >> 16);
	put16(writer, value & 0xffff);
}

/* Bytes that differ from their neighbours. */
static void put_pattern(struct writer *writer, size_t size)
{
	for (size_t i = 0; i < size; i++)
		put8(writer, 0x41 + i % 53);
}

static void patch16(struct writer *writer, size_t offset, unsigned int value)
{
	writer->frame->bytes[offset] = (uint8_t)(value >> 8);
	writer->frame->bytes[offset + 1] = (uint8_t)value;
}

uint32_t pkt_sum(uint32_t sum, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? byte[i] : (uint32_t)byte[i] << 8;
	return sum;
}

uint16_t pkt_checksum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* The checksum at @offset of the segment that goes from l4 to the end of the frame. */
static void patch_checksum(struct writer *writer, size_t offset, bool pseudo)
{
	const struct pkt_frame *frame = writer->frame;
	size_t size = frame->size - frame->l4;
	uint32_t sum = pkt_sum(0, frame->bytes + frame->l4, size);
	uint16_t checksum;

	if (pseudo) {
		sum = pkt_sum(sum, writer->from, writer->address_size);
		sum = pkt_sum(sum, writer->to, writer->address_size);
		sum += (uint32_t)size + writer->protocol;
	}
	checksum = pkt_checksum(sum);
	if (checksum == 0 && writer->protocol == IPPROTO_UDP)
		checksum = 0xffff; /* RFC 768: 0 means that there is none */
	patch16(writer, frame->l4 + offset, checksum);
}

static bool is_ipv6(const char *address)
{
	return address && strchr(address, ':');
}

static void read_address(const struct writer *writer, const char *text, uint8_t ret_address[16])
{
	if (inet_pton(writer->ipv6 ? AF_INET6 : AF_INET, text, ret_address) != 1)
		mistaken("'%s' is no IPv%d address", text, writer->ipv6 ? 6 : 4);
}

static const char *or_default(const struct writer *writer, const char *text, const char *ipv4,
			      const char *ipv6)
{
	if (text)
		return text;
	return writer->ipv6 ? ipv6 : ipv4;
}

static void begin(struct writer *writer)
{
	const struct pkt_spec *spec = writer->spec;

	writer->ipv6 = spec->ipv6 || is_ipv6(spec->from) || is_ipv6(spec->to);
	writer->protocol = spec->protocol ? spec->protocol : IPPROTO_TCP;
	writer->address_size = writer->ipv6 ? 16 : 4;
	read_address(writer, or_default(writer, spec->from, CLIENT_ONE, CLIENT_ONE_V6),
		     writer->from);
	read_address(writer, or_default(writer, spec->to, SERVER_ONE, SERVER_ONE_V6), writer->to);
}

static void put_ethernet(struct writer *writer)
{
	static const uint16_t types[PKT_VLANS_MAX] = { ETHERTYPE_VLAN, ETHERTYPE_QINQ,
						       ETHERTYPE_QINQ };
	static const uint16_t tags[PKT_VLANS_MAX] = { 0x2064, 0x60c8, 0xa12c };
	const struct pkt_spec *spec = writer->spec;
	const uint8_t *to = spec->group ? group_mac : server_mac;

	if (spec->vlans > PKT_VLANS_MAX)
		mistaken("%d VLAN tags", spec->vlans);
	put(writer, spec->answer ? client_mac : to, sizeof(client_mac));
	put(writer, spec->answer ? server_mac : client_mac, sizeof(server_mac));
	for (int i = spec->vlans - 1; i >= 0; i--) {
		put16(writer, types[i]);
		put16(writer, tags[i]);
	}
	if (spec->type)
		put16(writer, spec->type);
	else
		put16(writer, writer->ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
	writer->frame->l3 = writer->frame->size;
}

static void put_ipv4(struct writer *writer)
{
	const struct pkt_spec *spec = writer->spec;
	unsigned int fragment = spec->fragment | (spec->more ? 0x2000U : 0) |
				(spec->answer ? 0x4000U : 0);

	if (spec->ip_options % 4 || spec->ip_options > 40)
		mistaken("%d bytes of IPv4 options", spec->ip_options);
	put8(writer, 0x40U | (IPV4_HEADER + spec->ip_options) / 4);
	put8(writer, spec->answer ? 0 : 0xb8);
	put16(writer, 0);
	put16(writer, spec->answer ? 0 : 0xbeef);
	put16(writer, fragment);
	put8(writer, spec->answer ? PKT_HOPS : REQUEST_HOPS);
	put8(writer, writer->protocol);
	put16(writer, 0);
	put(writer, writer->from, 4);
	put(writer, writer->to, 4);
	for (int i = 0; i < spec->ip_options; i++)
		put8(writer, 1); /* no operation (RFC 791, 3.1) */
	writer->frame->l4 = writer->frame->size;
}

static void finish_ipv4(struct writer *writer)
{
	struct pkt_frame *frame = writer->frame;
	size_t header = frame->l4 - frame->l3;

	patch16(writer, frame->l3 + 2, (unsigned int)(frame->size - frame->l3));
	patch16(writer, frame->l3 + 10, pkt_checksum(pkt_sum(0, frame->bytes + frame->l3, header)));
}

/* The protocol number of the extension header, and its length in bytes. */
struct extension {
	uint8_t number;
	uint8_t length; /* as the header has it, in its own unit */
	size_t size;
};

static const struct extension extensions[] = {
	[PKT_HOP_BY_HOP] = { IPPROTO_HOPOPTS, 0, 8 },
	[PKT_ROUTING] = { IPPROTO_ROUTING, 2, 24 },
	[PKT_DESTINATION] = { IPPROTO_DSTOPTS, 1, 16 },
	[PKT_DESTINATION_LONG] = { IPPROTO_DSTOPTS, 127, 1024 },
	[PKT_AH] = { IPPROTO_AH, 4, 24 },
	[PKT_FRAGMENT] = { IPPROTO_FRAGMENT, 0, 8 },
	[PKT_NO_NEXT] = { IPPROTO_NONE, 0, 0 },
	[PKT_AH_CUT] = { IPPROTO_AH, 255, 24 },
	[PKT_ROUTING_CUT] = { IPPROTO_ROUTING, 126, 24 },
};

static uint8_t next_header(const struct writer *writer, size_t i)
{
	enum pkt_extension next = i < PKT_EXTENSIONS_MAX ? writer->spec->extensions[i]
							 : PKT_NO_EXTENSION;

	return next ? extensions[next].number : writer->protocol;
}

static void put_extension(struct writer *writer, enum pkt_extension kind, uint8_t next)
{
	const struct extension *extension = &extensions[kind];
	const struct pkt_spec *spec = writer->spec;

	if (!extension->size)
		return;
	put8(writer, next);
	put8(writer, extension->length);
	if (kind == PKT_FRAGMENT) {
		put16(writer, (unsigned int)spec->fragment << 3 | spec->more);
		put32(writer, 0xfeedbeef);
		return;
	}
	for (size_t i = 2; i < extension->size; i++)
		put8(writer, 0); /* Pad1, or a routing header with no segment left */
}

static void put_ipv6(struct writer *writer)
{
	const struct pkt_spec *spec = writer->spec;

	put32(writer, 0x60000000 | (spec->answer ? 0 : 0xb812345U));
	put16(writer, 0);
	put8(writer, next_header(writer, 0));
	put8(writer, spec->answer ? PKT_HOPS : REQUEST_HOPS);
	put(writer, writer->from, 16);
	put(writer, writer->to, 16);
	for (size_t i = 0; i < PKT_EXTENSIONS_MAX && spec->extensions[i]; i++)
		put_extension(writer, spec->extensions[i], next_header(writer, i + 1));
	writer->frame->l4 = writer->frame->size;
}

static void finish_ipv6(struct writer *writer)
{
	struct pkt_frame *frame = writer->frame;

	patch16(writer, frame->l3 + 4, (unsigned int)(frame->size - frame->l3 - IPV6_HEADER));
}

static void put_ports(struct writer *writer)
{
	put16(writer, writer->spec->sport ? writer->spec->sport : CLIENT_PORT);
	put16(writer, writer->spec->dport ? writer->spec->dport : 80);
}

static size_t payload_size(const struct pkt_spec *spec)
{
	return spec->body ? spec->body_size : spec->payload;
}

static void put_payload(struct writer *writer)
{
	if (writer->spec->body)
		put(writer, writer->spec->body, writer->spec->body_size);
	else
		put_pattern(writer, writer->spec->payload);
}

static void put_tcp(struct writer *writer)
{
	const struct pkt_spec *spec = writer->spec;
	unsigned int options = spec->tcp_options + (spec->mss ? 4U : 0);

	if (spec->tcp_options % 4 || spec->tcp_options > 40)
		mistaken("%d bytes of TCP options", spec->tcp_options);
	put_ports(writer);
	put32(writer, spec->sequence);
	put32(writer, spec->acknowledgment);
	put8(writer, (spec->short_header ? 4 : TCP_HEADER + options) / 4U << 4);
	put8(writer, spec->flags ? spec->flags & 0xff : PKT_SYN);
	put16(writer, spec->answer || spec->window || spec->no_window ? spec->window : 64240);
	put32(writer, 0);
	for (int i = 0; i < spec->tcp_options; i++)
		put8(writer, spec->tcp_option_bytes ? spec->tcp_option_bytes[i]
						    : 1); /* no operation (RFC 9293, 3.2) */
	if (spec->mss)
		put32(writer, 2U << 24 | 4 << 16 | spec->mss);
	put_payload(writer);
	patch_checksum(writer, 16, true);
}

static void put_udp(struct writer *writer)
{
	put_ports(writer);
	put16(writer, UDP_HEADER + (unsigned int)payload_size(writer->spec));
	put16(writer, 0);
	put_payload(writer);
	patch_checksum(writer, 6, true);
}

/* Port unreachable: RFC 792, and RFC 4443, 3.1. */
static void put_icmp(struct writer *writer)
{
	put8(writer, writer->ipv6 ? 1 : 3);
	put8(writer, writer->ipv6 ? 4 : 3);
	put16(writer, 0);
	put32(writer, 0);
	if (writer->spec->body_size)
		put(writer, writer->spec->body, writer->spec->body_size);
	patch_checksum(writer, 2, writer->ipv6);
}

static void put_content(struct writer *writer)
{
	uint8_t protocol = writer->spec->fragment ? IPPROTO_RAW : writer->protocol;

	if (protocol == IPPROTO_TCP)
		put_tcp(writer);
	else if (protocol == IPPROTO_UDP)
		put_udp(writer);
	else if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6)
		put_icmp(writer);
	else
		put_pattern(writer, writer->spec->payload);
}

void pkt_build(const struct pkt_spec *spec, struct pkt_frame *ret_frame)
{
	struct writer writer = { .spec = spec, .frame = ret_frame };

	ret_frame->size = 0;
	begin(&writer);
	put_ethernet(&writer);
	if (writer.ipv6)
		put_ipv6(&writer);
	else
		put_ipv4(&writer);
	put_content(&writer);
	if (writer.ipv6)
		finish_ipv6(&writer);
	else
		finish_ipv4(&writer);
	if (spec->cut > ret_frame->size)
		mistaken("%zu bytes off a frame of %zu", spec->cut, ret_frame->size);
	ret_frame->size -= spec->cut;
}
