/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP segments to the sender of a frame, made of that frame, as the CPU's scratch says. Where it
 * has to grow it grows at its head first: some drivers let the tail grow by a few bytes only.
 * Every header is written anew, so what stood in the frame does not matter.
 */
#ifndef STILE_BPF_SEGMENT_H
#define STILE_BPF_SEGMENT_H

#include "compose.h"
#include "reply.h"

/* What a path that nobody has asked about takes: RFC 9293, 3.7.1. */
#define SEGMENT_IPV4_MAX 536
#define SEGMENT_IPV6_MAX 1220
#define SEGMENT_MSS 1220 /* what clients are told: a request's beginning is all that is read */
#define SEGMENT_WINDOW (4 * SEGMENT_MSS)
#define SEGMENT_HEAD STILE_ANSWER_PIECE /* what a frame can grow at its head wherever XDP runs */
#define SEGMENT_OPTION 4		/* the one that a SYN has */

_Static_assert(SEGMENT_IPV6_MAX <= SCRATCH_BYTES, "a segment's data is composed there");

static __always_inline __u32 segment_ip_size(const struct pkt *pkt)
{
	return pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

static __always_inline __u32 segment_tcp_size(__u8 flags)
{
	return sizeof(struct tcphdr) + (flags & FLAG_SYN ? SEGMENT_OPTION : 0);
}

/*
 * Makes the frame @headers and @length bytes long, or as near that as it gets, with its link header
 * at the front. How many bytes there are behind @headers; negative: not even those.
 */
__attribute__((noinline)) int segment_resize(struct xdp_md *ctx, __u32 headers, __u32 length)
{
	int have = bpf_xdp_get_buff_len(ctx), want = headers + length, grow = want - have;

	if (grow < 0)
		grow = 0;
	if (grow > SEGMENT_HEAD)
		grow = SEGMENT_HEAD;
	if (reply_open(ctx, grow)) {
		grow = 0;
		if (reply_open(ctx, 0))
			return -1;
	}
	have += grow;
	if (have != want && bpf_xdp_adjust_tail(ctx, want - have))
		want = have < want ? have : -1;
	return want - (int)headers;
}

/* 0, or -1: the frame ends before it does. */
static __always_inline int segment_tcp(struct tcphdr *tcp, const void *data_end,
				       const struct pkt *pkt, const struct segment *segment,
				       __u32 length)
{
	const __u32 size = segment_tcp_size(segment->flags);
	__be32 *option = (__be32 *)(tcp + 1);
	__u64 sum;

	*tcp = (struct tcphdr){
		.source = swap16(pkt->dport),
		.dest = swap16(pkt->sport),
		.seq = swap32(segment->sequence),
		.ack_seq = swap32(segment->acknowledgment),
		.doff = size / 4,
		.window = swap16(segment->flags & FLAG_RST ? 0 : SEGMENT_WINDOW),
	};
	((__u8 *)tcp)[13] = segment->flags;
	sum = checksum_pseudo(&pkt->destination, &pkt->source, pkt->ipv4, size + length,
			      IPPROTO_TCP);
	if (segment->flags & FLAG_SYN) {
		if ((void *)(option + 1) > data_end)
			return -1; /* RFC 9293, 3.2: */
		*option = swap32(2U << 24 | SEGMENT_OPTION << 16 | SEGMENT_MSS);
		sum += *option;
	}
	if (length)
		sum += compose_sum(length);
	tcp->check = checksum_fold(checksum_words(sum, tcp, sizeof(*tcp) / 4));
	return 0;
}

/* All but the data, of which there are @length bytes. 0, or -1. */
__attribute__((noinline)) int segment_write(struct xdp_md *ctx, const struct pkt *pkt, __u32 length)
{
	struct scratch *scratch = compose_scratch();
	void *data, *data_end, *ip, *tcp;
	__u32 l3, l4, size;

	if (!pkt || !scratch)
		return -1;
	l3 = reply_l3(pkt);
	if (l3 > REPLY_LINK_MAX)
		return -1;
	l4 = l3 + segment_ip_size(pkt);
	size = segment_tcp_size(scratch->segment.flags);
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
	return segment_tcp(tcp, data_end, pkt, &scratch->segment, length);
}

static __always_inline bool segment_is_barred(const struct segment *segment, __u32 length)
{
	bool barred = false;
	__u32 i;

	unrolled
	for (i = 0; i < STILE_ANSWER_RULES - 1; i++)
		barred |= segment->never[i] != 0 && segment->never[i] == length;
	return barred;
}

/* How many of the segment's bytes the frame brings, and the frame as long as that; or negative. */
static __always_inline int segment_fit(struct xdp_md *ctx, struct segment *segment)
{
	int length = segment_resize(ctx, segment->headers, segment->length);

	if (length < 0 || (length == 0 && segment->length > 0))
		return -1;
	if (length == (int)segment->length)
		segment->flags |= segment->end_flags;
	if (segment->flags & FLAG_FIN || !segment_is_barred(segment, length))
		return length;
	return bpf_xdp_adjust_tail(ctx, -1) ? -1 : length - 1;
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
	segment->headers = pkt->l3 + segment_ip_size(pkt) + segment_tcp_size(segment->flags);
	length = segment_fit(ctx, segment);
	if (length < 0 || segment_write(ctx, pkt, length))
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
