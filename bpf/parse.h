/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame read as far as its ports: Ethernet, up to two VLAN tags, IPv4 with options, IPv6 with
 * extension headers, TCP or UDP. Pure: the frame's bounds in, struct pkt out. A first fragment is
 * read like a whole packet, for it carries the ports; later ones do not. What lies behind the end
 * that the IP header states is padding, which the stack does not see, and which is not read either:
 * it could show a harmless header in the place of the one that the next fragment brings.
 */
#ifndef STILE_BPF_PARSE_H
#define STILE_BPF_PARSE_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/udp.h>

#include <stile/abi.h>

#include "compiler.h"
#include "key.h"

#define PARSE_OK (-1)
#define PARSE_EXTENDED (-2) /* parse_plain: there are extension headers, ask parse() */
#define PARSE_VLANS 2
#define PARSE_EXT_HEADERS 8
#define PARSE_TCP_SIZE 20     /* of a header without options: ports and flags are in it */
#define PARSE_OFFSET_MAX 2048 /* of any header; a chain of extension headers that is longer ends */

/* Positions in the frame that Ethernet's header leaves. */
struct vlan_header {
	__be16 tag;
	__be16 type;
};

/* The bits of the TCP header's 14th byte (RFC 9293, 3.1). */
enum tcp_flag {
	FLAG_FIN = 1,
	FLAG_SYN = 2,
	FLAG_RST = 4,
	FLAG_PSH = 8,
	FLAG_ACK = 16,
	FLAG_URG = 32,
};

struct pkt {
	struct address source, destination;
	__u32 sequence, acknowledgment; /* TCP; host order */
	__u16 sport, dport;		/* host order */
	__u16 l3, l4;			/* offsets of the IP and of the TCP or UDP header */
	__u16 payload;	/* bytes behind the TCP or UDP header, by the IP header's word */
	__u8 ipv4;	/* 1, or 0: IPv6 */
	__u8 protocol;	/* enum stile_protocol */
	__u8 flags;	/* enum tcp_flag; 0 for UDP */
	__u8 group;	/* 1: sent to many, by its MAC address */
	__u8 interface; /* slot of the one that it came in on: for the caller to say */
};

/* Where a header's walk stands. */
struct parse_cursor {
	void *data, *data_end;
	__u32 offset;
	__u32 end;  /* of the IP packet, as its header says */
	__u16 type; /* next: an EtherType, host order, then an IP protocol number */
	bool more;  /* a first fragment: the packet ends elsewhere */
};

static __always_inline void *parse_at(const struct parse_cursor *cursor, __u32 offset, __u32 size)
{
	void *header = cursor->data + offset;

	opaque(header); /* verifier: the pointer that is checked is the one that is used */
	return header + size <= cursor->data_end ? header : NULL;
}

static __always_inline int parse_ethernet(struct parse_cursor *cursor, struct pkt *pkt)
{
	struct ethhdr *eth = parse_at(cursor, 0, sizeof(*eth));
	struct vlan_header *vlan;
	int i;

	if (!eth)
		return STILE_REASON_TRUNCATED;
	pkt->group = eth->h_dest[0] & 1; /* IEEE 802, 8.2: the I/G bit */
	cursor->type = swap16(eth->h_proto);
	cursor->offset = sizeof(*eth);
	for (i = 0; i < PARSE_VLANS; i++) {
		if (cursor->type != ETH_P_8021Q && cursor->type != ETH_P_8021AD)
			break;
		vlan = parse_at(cursor, cursor->offset, sizeof(*vlan));
		if (!vlan)
			return STILE_REASON_TRUNCATED;
		cursor->type = swap16(vlan->type);
		cursor->offset += sizeof(*vlan);
	}
	if (i == PARSE_VLANS && (cursor->type == ETH_P_8021Q || cursor->type == ETH_P_8021AD))
		return STILE_REASON_VLAN_TAGS;
	return PARSE_OK;
}

/* A fragment that is not the first: no TCP stack sends one that begins within TCP's header. */
static __always_inline int parse_fragment(__u32 offset, __u16 type)
{
	if (type == IPPROTO_TCP && offset < PARSE_TCP_SIZE)
		return STILE_REASON_TINY_FRAGMENT; /* RFC 1858, 4.2.1; RFC 3128 */
	return STILE_REASON_FRAGMENT;
}

static __always_inline int parse_ipv4(struct parse_cursor *cursor, struct pkt *pkt)
{
	struct iphdr *ip = parse_at(cursor, cursor->offset, sizeof(*ip));
	__u32 length, total;

	if (!ip || ip->version != 4 || ip->ihl < 5)
		return STILE_REASON_TRUNCATED;
	length = ip->ihl * 4;
	total = swap16(ip->tot_len);
	if (total == 0) /* the stack goes by the frame's length where segments were put together */
		total = cursor->data_end - cursor->data - cursor->offset;
	if (total < length)
		return STILE_REASON_TRUNCATED;
	if (swap16(ip->frag_off) & 0x1fff)
		return parse_fragment((swap16(ip->frag_off) & 0x1fff) * 8, ip->protocol);
	cursor->more = swap16(ip->frag_off) & 0x2000;
	cursor->type = ip->protocol;
	cursor->end = cursor->offset + total;
	pkt->source.word[0] = 0;
	pkt->source.word[1] = swap64(KEY_MAPPED << 32 | swap32(ip->saddr));
	pkt->destination.word[0] = 0;
	pkt->destination.word[1] = swap64(KEY_MAPPED << 32 | swap32(ip->daddr));
	pkt->l3 = cursor->offset;
	pkt->ipv4 = 1;
	cursor->offset += length;
	return PARSE_OK;
}

static __always_inline bool parse_is_extension(__u16 type)
{
	return type == IPPROTO_HOPOPTS || type == IPPROTO_ROUTING || type == IPPROTO_DSTOPTS ||
	       type == IPPROTO_FRAGMENT || type == IPPROTO_AH;
}

/* A header that is not wholly there: the next fragment may bring the rest of it. */
static __always_inline int parse_cut(const struct parse_cursor *cursor)
{
	return cursor->more ? STILE_REASON_TINY_FRAGMENT : STILE_REASON_TRUNCATED;
}

static __always_inline int parse_extension(struct parse_cursor *cursor)
{
	__u8 *header;

	if (cursor->offset > PARSE_OFFSET_MAX)
		return STILE_REASON_EXT_HEADER;
	header = parse_at(cursor, cursor->offset, 8);
	if (!header || cursor->offset + 8 > cursor->end)
		return parse_cut(cursor);
	if (cursor->type == IPPROTO_FRAGMENT) {
		if (header[2] || header[3] & 0xf8)
			return parse_fragment(header[2] << 8 | (header[3] & 0xf8), header[0]);
		cursor->more |= header[3] & 1;
		cursor->offset += 8;
	} else if (cursor->type == IPPROTO_AH) {
		cursor->offset += (header[1] + 2) * 4; /* RFC 4302, 2.2 */
	} else {
		cursor->offset += (header[1] + 1) * 8; /* RFC 8200, 4.3 */
	}
	cursor->type = header[0];
	return PARSE_OK;
}

static __always_inline int parse_extensions(struct parse_cursor *cursor)
{
	int i, unread;

	unrolled
	for (i = 0; i < PARSE_EXT_HEADERS; i++) {
		if (!parse_is_extension(cursor->type))
			return PARSE_OK;
		unread = parse_extension(cursor);
		if (unread != PARSE_OK)
			return unread;
	}
	return parse_is_extension(cursor->type) ? STILE_REASON_EXT_HEADER : PARSE_OK;
}

/* Two of an IPv6 address's four words as one, through a register: a store that is read at once. */
static __always_inline __u64 parse_address(const __be32 *from)
{
	__u64 word;

	__builtin_memcpy(&word, from, sizeof(word));
	opaque(word);
	return word;
}

static __always_inline int parse_ipv6(struct parse_cursor *cursor, struct pkt *pkt)
{
	struct ipv6hdr *ip = parse_at(cursor, cursor->offset, sizeof(*ip));

	if (!ip || ip->version != 6)
		return STILE_REASON_TRUNCATED;
	pkt->source.word[0] = parse_address(&ip->saddr.s6_addr32[0]);
	pkt->source.word[1] = parse_address(&ip->saddr.s6_addr32[2]);
	pkt->destination.word[0] = parse_address(&ip->daddr.s6_addr32[0]);
	pkt->destination.word[1] = parse_address(&ip->daddr.s6_addr32[2]);
	if (address_is_ipv4(&pkt->source))
		return STILE_REASON_MARTIAN;
	pkt->l3 = cursor->offset;
	pkt->ipv4 = 0;
	cursor->type = ip->nexthdr;
	cursor->end = cursor->offset + sizeof(*ip) + swap16(ip->payload_len);
	cursor->offset += sizeof(*ip);
	return parse_is_extension(cursor->type) ? PARSE_EXTENDED : PARSE_OK;
}

/*
 * Where the packet ends within the TCP header. A first fragment may, behind the flags: nothing but
 * options is left for the next one. Before that, put together again it would be a SYN that nobody
 * judged (RFC 1858, 2.1).
 */
static __always_inline int parse_short_tcp(const struct parse_cursor *cursor, __u32 length)
{
	if (length < PARSE_TCP_SIZE || !cursor->more)
		return STILE_REASON_MALFORMED;
	return cursor->offset + PARSE_TCP_SIZE > cursor->end ? STILE_REASON_TINY_FRAGMENT
							     : PARSE_OK;
}

static __always_inline int parse_tcp(struct parse_cursor *cursor, struct pkt *pkt)
{
	struct tcphdr *tcp = parse_at(cursor, cursor->offset, sizeof(*tcp));
	__u32 length;

	if (!tcp)
		return parse_cut(cursor);
	pkt->protocol = STILE_PROTOCOL_TCP;
	pkt->sport = swap16(tcp->source);
	pkt->dport = swap16(tcp->dest);
	pkt->sequence = swap32(tcp->seq);
	pkt->acknowledgment = swap32(tcp->ack_seq);
	pkt->flags = ((__u8 *)tcp)[13] & 0x3f;
	pkt->payload = 0;
	length = tcp->doff * 4;
	if (unlikely(length < PARSE_TCP_SIZE || cursor->offset + length > cursor->end))
		return parse_short_tcp(cursor, length);
	pkt->payload = cursor->end - cursor->offset - length;
	return PARSE_OK;
}

/*
 * What a UDP header says of its length: a whole header, and no more than there is, unless other
 * fragments bring the rest. Over IPv6 it may say nothing, as in a jumbogram (RFC 2675, 4).
 */
static __always_inline bool parse_udp_is_whole(const struct parse_cursor *cursor, __u32 length,
					       bool ipv4)
{
	if (length == 0 && !ipv4)
		return true;
	if (length < sizeof(struct udphdr))
		return false;
	return cursor->more || cursor->offset + length <= cursor->end;
}

static __always_inline int parse_udp(struct parse_cursor *cursor, struct pkt *pkt)
{
	struct udphdr *udp = parse_at(cursor, cursor->offset, sizeof(*udp));
	__u32 behind = cursor->offset + sizeof(*udp);

	if (!udp)
		return parse_cut(cursor);
	if (behind > cursor->end)
		return cursor->more ? STILE_REASON_TINY_FRAGMENT : STILE_REASON_MALFORMED;
	if (!parse_udp_is_whole(cursor, swap16(udp->len), pkt->ipv4))
		return STILE_REASON_MALFORMED;
	pkt->protocol = STILE_PROTOCOL_UDP;
	pkt->sport = swap16(udp->source);
	pkt->dport = swap16(udp->dest);
	pkt->sequence = 0;
	pkt->acknowledgment = 0;
	pkt->flags = 0;
	pkt->payload = cursor->end - behind;
	return PARSE_OK;
}

static __always_inline int parse_network(struct parse_cursor *cursor, struct pkt *pkt)
{
	int unread = parse_ethernet(cursor, pkt);

	if (unread != PARSE_OK)
		return unread;
	if (cursor->type == ETH_P_IP)
		return parse_ipv4(cursor, pkt);
	return cursor->type == ETH_P_IPV6 ? parse_ipv6(cursor, pkt) : STILE_REASON_NOT_IP;
}

static __always_inline int parse_transport(struct parse_cursor *cursor, struct pkt *pkt)
{
	pkt->l4 = cursor->offset;
	if (cursor->type == IPPROTO_TCP)
		return parse_tcp(cursor, pkt);
	if (cursor->type == IPPROTO_UDP)
		return parse_udp(cursor, pkt);
	return STILE_REASON_NOT_TRANSPORT;
}

/* As parse(), for all but packets with IPv6 extension headers: for them, PARSE_EXTENDED. */
static __always_inline int parse_plain(void *data, void *data_end, struct pkt *ret_pkt)
{
	struct parse_cursor cursor = { .data = data, .data_end = data_end };
	int unread = parse_network(&cursor, ret_pkt);

	return unread == PARSE_OK ? parse_transport(&cursor, ret_pkt) : unread;
}

/* PARSE_OK, or the reason (enum stile_reason) why the frame cannot be read. */
static __always_inline int parse(void *data, void *data_end, struct pkt *ret_pkt)
{
	struct parse_cursor cursor = { .data = data, .data_end = data_end };
	int unread = parse_network(&cursor, ret_pkt);

	if (unread == PARSE_EXTENDED) {
		/* No length, and hop-by-hop options: as long as the frame, jumbogram or not. */
		if (cursor.end == cursor.offset && cursor.type == IPPROTO_HOPOPTS)
			cursor.end = data_end - data;
		unread = parse_extensions(&cursor);
	}
	if (unread != PARSE_OK)
		return unread;
	if (cursor.offset > PARSE_OFFSET_MAX)
		return STILE_REASON_EXT_HEADER;
	return parse_transport(&cursor, ret_pkt);
}

#endif /* STILE_BPF_PARSE_H */
