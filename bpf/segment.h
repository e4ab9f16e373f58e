/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP segments to the sender of a frame, made of that frame, as the CPU's scratch says. It
 * grows and shrinks at its head.
 * Every header is written anew, so what stood in the frame does not matter.
 */
#ifndef STILE_BPF_SEGMENT_H
#define STILE_BPF_SEGMENT_H

#include "compose.h"
#include "reply.h"
#include "talk.h"

/* What a path that nobody has asked about takes: RFC 9293, 3.7.1. */
#define SEGMENT_IPV4_MAX 536
#define SEGMENT_IPV6_MAX 1220
#define SEGMENT_MSS 1220 /* what clients are told: a request's beginning is all that is read */
#define SEGMENT_WINDOW (4 * SEGMENT_MSS)
#define SEGMENT_HEAD STILE_ANSWER_PIECE /* what a frame can grow at its head wherever XDP runs */
#define SEGMENT_OPTION 4		/* the one that a SYN may have */

_Static_assert(SEGMENT_IPV6_MAX <= SCRATCH_BYTES, "a segment's data is composed there");

static __always_inline __u32 segment_ip_size(const struct pkt *pkt)
{
	return pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

static __always_inline __u32 segment_tcp_size(const struct segment *segment)
{
	return sizeof(struct tcphdr) + (segment->has_mss ? SEGMENT_OPTION : 0);
}

/* 0, or -1: the frame ends before it does. */
static __always_inline int segment_tcp(struct tcphdr *tcp, const void *data_end,
				       const struct pkt *pkt, struct scratch *scratch, __u32 length)
{
	const struct segment *segment = &scratch->segment;
	const __u32 size = segment_tcp_size(segment);
	__be32 *option = (__be32 *)(tcp + 1);
	__u64 sum;

	*tcp = (struct tcphdr){
		.source = swap16(pkt->dport),
		.dest = swap16(pkt->sport),
		.seq = swap32(segment->sequence),
		.ack_seq = swap32(segment->acknowledgment),
		.doff = size / 4,
		.window = swap16(SEGMENT_WINDOW),
	};
	((__u8 *)tcp)[13] = segment->flags;
	sum = checksum_pseudo(&pkt->destination, &pkt->source, pkt->ipv4, size + length,
			      IPPROTO_TCP);
	if (segment->has_mss) {
		if ((void *)(option + 1) > data_end)
			return -1; /* RFC 9293, 3.2: */
		*option = swap32(2U << 24 | SEGMENT_OPTION << 16 | SEGMENT_MSS);
		sum += *option;
	}
	if (length)
		sum += compose_sum(scratch, length);
	tcp->check = checksum_fold(checksum_words(sum, tcp, sizeof(*tcp) / 4));
	return 0;
}

/* All but the data, of which there are @length bytes. 0, or -1. */
static __always_inline int segment_write(struct xdp_md *ctx, const struct pkt *pkt,
					 struct scratch *scratch, __u32 length)
{
	void *data, *data_end, *ip, *tcp;
	__u32 l3 = reply_l3(pkt), l4, size;

	if (l3 > REPLY_LINK_MAX)
		return -1;
	l4 = l3 + segment_ip_size(pkt);
	size = segment_tcp_size(&scratch->segment);
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	tcp = data + l4;
	opaque(tcp); /* verifier: the pointer that is checked is the one that is used */
	if (tcp + sizeof(struct tcphdr) > data_end)
		return -1;
	ip = data + l3;
	if (pkt->ipv4 && ip + sizeof(struct iphdr) <= data_end)
		reply_ipv4(ip, pkt, sizeof(struct iphdr) + size + length, IPPROTO_TCP);
	else if (!pkt->ipv4 && ip + sizeof(struct ipv6hdr) <= data_end)
		reply_ipv6(ip, pkt, size + length, IPPROTO_TCP);
	return segment_tcp(tcp, data_end, pkt, scratch, length);
}

/* How many of the segment's bytes a frame of @size brings. */
static __always_inline int segment_room(const struct segment *segment, __u32 size)
{
	int length = (int)size - (int)segment->headers;

	if (length >= (int)segment->length) {
		length = segment->length;
		if (segment->ends)
			return length;
	}
	return length > 0 ? (int)talk_cut(segment->side, segment->from, length, segment->never)
			  : length;
}

/*
 * Makes the frame as long as what it brings of the segment's bytes: how many these are; or
 * negative. Its tail stays where it is: after bpf_xdp_adjust_tail() generic XDP leaves an skb whose
 * tail is a link header too far, and to which a local receiver then appends.
 */
static __always_inline int segment_open(struct xdp_md *ctx, struct segment *segment)
{
	int have = bpf_xdp_get_buff_len(ctx);
	int length = segment_room(segment, have + SEGMENT_HEAD);

	if (length < 0 || (length == 0 && segment->length > 0) ||
	    reply_open(ctx, (int)segment->headers + length - have))
		return -1;
	if (segment->ends && length == (int)segment->length) {
		segment->flags |= segment->end_flags;
		segment->acknowledgment = segment->end_acknowledgment;
	}
	return length;
}

/* Turns the frame into the segment; 0, or -1, and the frame is good for nothing. */
__attribute__((noinline)) int segment_send(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct scratch *scratch = compose_scratch();
	struct segment *segment;
	__u32 last;
	int length;

	if (!pkt || !scratch || pkt->l3 > REPLY_LINK_MAX)
		return -1;
	segment = &scratch->segment;
	segment->headers = pkt->l3 + segment_ip_size(pkt) + segment_tcp_size(segment);
	length = segment_open(ctx, segment);
	if (length < 0 || segment_write(ctx, pkt, scratch, length))
		return -1;
	if (length == 0)
		return 0;
	last = length - 1;
	opaque(last); /* verifier: as in compose_load() */
	if (last >= SEGMENT_IPV6_MAX)
		return -1;
	return bpf_xdp_store_bytes(ctx, segment->headers, scratch->bytes, last + 1) ? -1 : 0;
}

#endif /* STILE_BPF_SEGMENT_H */
