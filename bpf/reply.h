/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers, made of the very frame they answer: a TCP RST, an ICMP or ICMPv6 port unreachable. VLAN
 * tags stay; IP options and extension headers go. What cannot be built is not sent.
 */
#ifndef STILE_BPF_REPLY_H
#define STILE_BPF_REPLY_H

#include "checksum.h"
#include "maps.h"
#include "parse.h"

#define REPLY_LINK_MAX (14 + PARSE_VLANS * 4) /* bytes before the IP header, at most */
#define REPLY_HOPS 64
#define REPLY_QUOTE_MAX 512 /* bytes of the refused packet that an ICMP error shows, at most */

/* RFC 792 and RFC 4443 agree on the first eight bytes; <linux/icmp.h> drags in the C library. */
struct reply_icmp {
	__u8 type, code;
	__u16 checksum;
	__be32 unused;
};

#define REPLY_ICMP_UNREACHABLE 3 /* RFC 792 */
#define REPLY_ICMP_PORT 3
#define REPLY_ICMPV6_UNREACHABLE 1 /* RFC 4443, 3.1 */
#define REPLY_ICMPV6_PORT 4

/* By words: of bytes that may lie anywhere the compiler would copy one at a time. */
struct reply_link {
	__u16 to[ETH_ALEN / 2], from[ETH_ALEN / 2];
	__u16 rest[(REPLY_LINK_MAX - 2 * ETH_ALEN) / 2];
};

static __always_inline void reply_swap_macs(void *frame)
{
	struct reply_link *link = frame;
	__u16 word;
	__u32 i;

	unrolled
	for (i = 0; i < ETH_ALEN / 2; i++) {
		word = link->to[i];
		link->to[i] = link->from[i];
		link->from[i] = word;
	}
}

/* From the packet's destination back to its source. */
static __always_inline void reply_ipv4(struct iphdr *ip, const struct pkt *pkt, __u16 length,
				       __u8 protocol)
{
	*ip = (struct iphdr){
		.version = 4,
		.ihl = 5,
		.tot_len = swap16(length),
		.frag_off = swap16(0x4000),
		.ttl = REPLY_HOPS,
		.protocol = protocol,
		.saddr = address_ipv4(&pkt->destination),
		.daddr = address_ipv4(&pkt->source),
	};
	ip->check = checksum_fold(checksum_words(0, ip, sizeof(*ip) / 4));
}

static __always_inline void reply_ipv6(struct ipv6hdr *ip, const struct pkt *pkt, __u16 payload,
				       __u8 protocol)
{
	ip->version = 6;
	ip->priority = 0;
	__builtin_memset(ip->flow_lbl, 0, sizeof(ip->flow_lbl));
	ip->payload_len = swap16(payload);
	ip->nexthdr = protocol;
	ip->hop_limit = REPLY_HOPS;
	__builtin_memcpy(&ip->saddr, &pkt->destination, sizeof(ip->saddr));
	__builtin_memcpy(&ip->daddr, &pkt->source, sizeof(ip->daddr));
}

/* A text behind a reset (RFC 9293, 3.5.3; RFC 1122, 4.2.2.12), zeros behind it. */
#define REPLY_TEXT_SIZE 24
#define REPLY_TEXT_DIGITS 8

struct reply_text {
	__u8 bytes[REPLY_TEXT_SIZE] __attribute__((aligned(8)));
	__u32 length; /* 0: there is none */
};

/* RetryAfterMs=@wait; what has more digits is all nines. */
static __always_inline void reply_text(struct reply_text *text, __u32 wait)
{
	__u32 i, digits = 1, rest = wait < 99999999 ? wait : 99999999;

	__builtin_memset(text->bytes, 0, sizeof(text->bytes));
	__builtin_memcpy(text->bytes, "RetryAfterMs=", 13);
	unrolled
	for (i = 0, wait = rest; i < REPLY_TEXT_DIGITS - 1; i++) {
		wait /= 10;
		digits += wait != 0;
	}
	unrolled
	for (i = 0; i < REPLY_TEXT_DIGITS; i++) {
		if (digits > REPLY_TEXT_DIGITS - 1 - i) {
			/* The last digit first, each in the place that its number says. */
			__u32 at = 13 + digits - 1 - (digits + i - REPLY_TEXT_DIGITS);

			opaque(at); /* verifier: one register is checked and used */
			if (at < REPLY_TEXT_SIZE)
				text->bytes[at] = '0' + rest % 10;
			rest /= 10;
		}
	}
	text->length = 13 + digits;
}

/* RFC 9293, 3.10.7.1: what a closed port answers to a segment, without ACK and with it. */
static __always_inline void reply_tcp_reset(struct tcphdr *tcp, const struct pkt *pkt,
					    const struct reply_text *text)
{
	const bool opens = !(pkt->flags & FLAG_ACK);
	__u32 length = pkt->payload + 1; /* the SYN takes one */
	__u64 sum;

	*tcp = (struct tcphdr){
		.source = swap16(pkt->dport),
		.dest = swap16(pkt->sport),
		.seq = opens ? 0 : swap32(pkt->acknowledgment),
		.ack_seq = opens ? swap32(pkt->sequence + length) : 0,
		.doff = sizeof(*tcp) / 4,
		.rst = 1,
		.ack = opens,
	};
	sum = checksum_pseudo(&pkt->destination, &pkt->source, pkt->ipv4,
			      sizeof(*tcp) + (text ? text->length : 0), IPPROTO_TCP);
	if (text)
		sum = checksum_words(sum, text->bytes, sizeof(text->bytes) / 4);
	tcp->check = checksum_fold(checksum_words(sum, tcp, sizeof(*tcp) / 4));
}

/* Makes the frame @length bytes long. */
static __always_inline int reply_resize(struct xdp_md *ctx, __u32 length)
{
	return bpf_xdp_adjust_tail(ctx, (int)length - (int)bpf_xdp_get_buff_len(ctx));
}

/* Where the packet begins. verifier: one register, which is checked and then used. */
static __always_inline __u32 reply_l3(const struct pkt *pkt)
{
	__u32 l3 = pkt->l3;

	opaque(l3);
	return l3;
}

/* Where the TCP or UDP header of an answer begins. */
static __always_inline __u32 reply_l4(const struct pkt *pkt)
{
	return reply_l3(pkt) + (pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
}

/* @text NULL: none. */
static __always_inline int reply_reset(struct xdp_md *ctx, const struct pkt *pkt,
				       const struct reply_text *text)
{
	__u32 l3 = reply_l3(pkt), l4;
	__u32 length = sizeof(struct tcphdr) + (text ? text->length : 0);
	void *data, *data_end, *ip, *tcp;

	if (l3 > REPLY_LINK_MAX)
		return -1;
	l4 = l3 + (pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	opaque(l4); /* verifier: bounded, for l3 is */
	if (l4 > REPLY_LINK_MAX + sizeof(struct ipv6hdr) || reply_resize(ctx, l4 + length))
		return -1;
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	tcp = data + l4;
	opaque(tcp); /* verifier: the pointer that is checked is the one that is used */
	if (data + sizeof(struct ethhdr) > data_end || tcp + sizeof(struct tcphdr) > data_end)
		return -1;
	reply_swap_macs(data);
	reply_tcp_reset(tcp, pkt, text);
	ip = data + l3;
	if (pkt->ipv4 && ip + sizeof(struct iphdr) <= data_end)
		reply_ipv4(ip, pkt, sizeof(struct iphdr) + length, IPPROTO_TCP);
	else if (!pkt->ipv4 && ip + sizeof(struct ipv6hdr) <= data_end)
		reply_ipv6(ip, pkt, length, IPPROTO_TCP);
	return 0;
}

/*
 * A reset that says how long to wait, where the SYN was long enough for that: nobody gets more than
 * he sent.
 */
static __always_inline int reply_reset_told(struct xdp_md *ctx, const struct pkt *pkt, __u32 wait)
{
	__u32 at = reply_l4(pkt) + sizeof(struct tcphdr), last;
	struct reply_text text;

	reply_text(&text, wait);
	if (at + text.length > bpf_xdp_get_buff_len(ctx))
		return reply_reset(ctx, pkt, NULL);
	if (reply_reset(ctx, pkt, &text))
		return -1;
	last = text.length - 1;
	opaque(last); /* verifier: kernel 6.1 does not learn from a test for 0 that it is none */
	return last < REPLY_TEXT_SIZE ? bpf_xdp_store_bytes(ctx, at, text.bytes, last + 1) : -1;
}

/* Adds up @quote bytes at @offset of the frame; a negative sum: they are not there. */
static __always_inline __s64 reply_sum_quote(struct xdp_md *ctx, __u32 offset, __u32 quote)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__s64 sum = 0;
	__u32 i;

	for (i = 0; i < REPLY_QUOTE_MAX; i += 4) {
		__u32 *word = data + offset + i;

		if (i >= quote)
			break;
		if ((void *)(word + 1) > data_end)
			return -1;
		sum += *word;
	}
	return sum;
}

/* Opens @room bytes between the link header, its addresses swapped, and the packet. */
static __always_inline int reply_open(struct xdp_md *ctx, __u32 room)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct reply_link link;

	if (data + sizeof(link) > data_end)
		return -1;
	link = *(struct reply_link *)data;
	reply_swap_macs(&link);
	if (bpf_xdp_adjust_head(ctx, -(int)room))
		return -1;
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	if (data + sizeof(link) > data_end)
		return -1;
	/* What this writes past the link header is written over right after. */
	*(struct reply_link *)data = link;
	return 0;
}

/* RFC 792; @quote bytes of the refused packet follow. */
static __always_inline int reply_icmp_ipv4(struct xdp_md *ctx, const struct pkt *pkt, __u32 quote)
{
	const __u32 room = sizeof(struct iphdr) + sizeof(struct reply_icmp);
	__u32 l3 = reply_l3(pkt);
	struct reply_icmp *icmp;
	void *data;
	__s64 sum;

	if (l3 > REPLY_LINK_MAX || reply_open(ctx, room))
		return -1;
	sum = reply_sum_quote(ctx, l3 + room, quote);
	data = (void *)(long)ctx->data;
	if (sum < 0 || data + l3 + room > (void *)(long)ctx->data_end)
		return -1;
	reply_ipv4(data + l3, pkt, room + quote, IPPROTO_ICMP);
	icmp = data + l3 + sizeof(struct iphdr);
	*icmp = (struct reply_icmp){ REPLY_ICMP_UNREACHABLE, REPLY_ICMP_PORT, 0, 0 };
	icmp->checksum = checksum_fold(checksum_words(sum, icmp, sizeof(*icmp) / 4));
	return reply_resize(ctx, l3 + room + quote);
}

/* RFC 4443, 3.1 (code 4: port unreachable). */
static __always_inline int reply_icmp_ipv6(struct xdp_md *ctx, const struct pkt *pkt, __u32 quote)
{
	const __u32 room = sizeof(struct ipv6hdr) + sizeof(struct reply_icmp);
	__u32 l3 = reply_l3(pkt), length = sizeof(struct reply_icmp) + quote;
	struct reply_icmp *icmp;
	void *data;
	__s64 sum;

	if (l3 > REPLY_LINK_MAX || reply_open(ctx, room))
		return -1;
	sum = reply_sum_quote(ctx, l3 + room, quote);
	data = (void *)(long)ctx->data;
	if (sum < 0 || data + l3 + room > (void *)(long)ctx->data_end)
		return -1;
	reply_ipv6(data + l3, pkt, length, IPPROTO_ICMPV6);
	icmp = data + l3 + sizeof(struct ipv6hdr);
	*icmp = (struct reply_icmp){ REPLY_ICMPV6_UNREACHABLE, REPLY_ICMPV6_PORT, 0, 0 };
	sum += checksum_pseudo(&pkt->destination, &pkt->source, false, length, IPPROTO_ICMPV6);
	icmp->checksum = checksum_fold(checksum_words(sum, icmp, sizeof(*icmp) / 4));
	return reply_resize(ctx, l3 + room + quote);
}

static __always_inline int reply_icmp(struct xdp_md *ctx, const struct pkt *pkt)
{
	/* The IP header and what else comes before the ports, and the UDP header. */
	__u32 quote = pkt->l4 - pkt->l3 + sizeof(struct udphdr);

	if (quote > REPLY_QUOTE_MAX)
		return -1;
	return pkt->ipv4 ? reply_icmp_ipv4(ctx, pkt, quote) : reply_icmp_ipv6(ctx, pkt, quote);
}

/* Turns the frame into the answer. 0, or -1: there is none, and the frame is good for nothing. */
static __always_inline int reply(struct xdp_md *ctx, const struct pkt *pkt, enum stile_reply kind)
{
	return kind == STILE_REPLY_ICMP ? reply_icmp(ctx, pkt) : reply_reset(ctx, pkt, NULL);
}

#endif /* STILE_BPF_REPLY_H */
