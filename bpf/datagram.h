/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Busy answers to datagrams. The request is read into memory, what its answer is made of is planned
 * (datagram_plan.h), and if that is no more than the request it is written over it. So nobody gets
 * more bytes for a forged address than he sent himself.
 */
#ifndef STILE_BPF_DATAGRAM_H
#define STILE_BPF_DATAGRAM_H

#include "classify.h"
#include "datagram_plan.h"
#include "maps.h"
#include "reply.h"
#include "wait.h"

/* Whether @length is from 1 to @max. verifier: to kernel 6.1, what is not 0 may be 0 still. */
static __always_inline bool datagram_is_length(__u64 *length, __u64 max)
{
	__u64 less = *length - 1;

	opaque(less);
	if (less >= max)
		return false;
	*length = less + 1;
	return true;
}

/* The request's bytes, as its UDP header counts them. 0 or -1. */
static __always_inline int datagram_read(struct xdp_md *ctx, const struct pkt *pkt,
					 struct stile_datagram_work *work)
{
	__u64 *end;
	__u16 length;
	__u64 size;

	if (bpf_xdp_load_bytes(ctx, pkt->l4 + 4, &length, sizeof(length)))
		return -1;
	size = swap16(length) - sizeof(struct udphdr);
	if (size > pkt->payload || !datagram_is_length(&size, STILE_DATAGRAM_SIZE))
		return -1;
	if (bpf_xdp_load_bytes(ctx, pkt->l4 + sizeof(struct udphdr), work->request, size))
		return -1;
	end = (__u64 *)(work->request + size);
	*end = 0;
	work->size = size;
	return 0;
}

/* verifier: each source with bounds of its own, and both numbers in registers of their own. */
static __always_inline int datagram_store(struct xdp_md *ctx, const struct stile_datagram *datagram,
					  const struct stile_datagram_work *work, __u32 i, __u32 at)
{
	__u64 from = work->ranges[i].from, length = work->ranges[i].length;

	opaque(from);
	if (!datagram_is_length(&length, STILE_DATAGRAM_SIZE) || from > STILE_DATAGRAM_SIZE)
		return -1;
	if (work->ranges[i].source == STILE_RANGE_REQUEST)
		return bpf_xdp_store_bytes(ctx, at, (void *)work->request + from, length);
	if (length > STILE_DATAGRAM_TEXT_PIECE || from >= STILE_DATAGRAM_TEXT)
		return -1;
	if (work->ranges[i].source == STILE_RANGE_TEXT)
		return bpf_xdp_store_bytes(ctx, at, (void *)datagram->text + from, length);
	if (length > STILE_DATAGRAM_MADE || from >= STILE_DATAGRAM_MADE)
		return -1;
	return bpf_xdp_store_bytes(ctx, at, (void *)work->made + from, length);
}

/* Writes the answer's bytes behind its headers, which end at @at. 0 or -1. */
__attribute__((noinline)) int datagram_write(struct xdp_md *ctx,
					     const struct stile_datagram *datagram,
					     struct stile_datagram_work *work, __u32 at)
{
	__u32 i;

	if (!datagram || !work)
		return -1;
	for (i = 0; i < STILE_DATAGRAM_RANGES; i++) {
		if (i >= work->n_ranges)
			break;
		if (datagram_store(ctx, datagram, work, i, at))
			return -1;
		at += work->ranges[i].length;
	}
	return 0;
}

/* The sum of the answer's bytes, which are read back from behind @at. Negative: they cannot be. */
__attribute__((noinline)) __s64 datagram_sum(struct xdp_md *ctx, struct stile_datagram_work *work,
					     __u32 at)
{
	__u64 sum = 0, size, *end;
	__u32 i;

	if (!work)
		return -1;
	size = work->total;
	if (!datagram_is_length(&size, STILE_DATAGRAM_SIZE) ||
	    bpf_xdp_load_bytes(ctx, at, work->request, size))
		return -1;
	end = (__u64 *)(work->request + size);
	*end = 0;
	for (i = 0; i < STILE_DATAGRAM_SIZE; i += 8) {
		if (i >= size)
			break;
		sum = checksum_word(sum, *(const __u64 *)(work->request + i));
	}
	return sum;
}

/* The headers of an answer whose bytes add up to @sum. 0 or -1. */
static __always_inline int datagram_head(struct xdp_md *ctx, const struct pkt *pkt, __u32 total,
					 __u64 sum)
{
	__u32 l3 = reply_l3(pkt), length = total + sizeof(struct udphdr),
	      l4 = l3 + (pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end, *ip;
	struct udphdr *udp = data + l4;

	if (l3 > REPLY_LINK_MAX || data + l4 + sizeof(*udp) > data_end ||
	    data + sizeof(struct ethhdr) > data_end)
		return -1;
	reply_swap_macs(data);
	*udp = (struct udphdr){ swap16(pkt->dport), swap16(pkt->sport), swap16(length), 0 };
	sum += checksum_pseudo(&pkt->destination, &pkt->source, pkt->ipv4, length, IPPROTO_UDP);
	udp->check = checksum_fold(checksum_words(sum, udp, sizeof(*udp) / 4));
	if (udp->check == 0)
		udp->check = 0xffff; /* RFC 768: zero says that there is none */
	ip = data + l3;
	if (pkt->ipv4 && ip + sizeof(struct iphdr) <= data_end)
		reply_ipv4(ip, pkt, sizeof(struct iphdr) + length, IPPROTO_UDP);
	else if (!pkt->ipv4 && ip + sizeof(struct ipv6hdr) <= data_end)
		reply_ipv6(ip, pkt, length, IPPROTO_UDP);
	return 0;
}

/* Turns the frame into the answer that @work has planned. 0 or -1. */
__attribute__((noinline)) int datagram_build(struct xdp_md *ctx, const struct pkt *pkt,
					     const struct stile_datagram *datagram,
					     struct stile_datagram_work *work)
{
	__u32 at;
	__s64 sum;

	if (!pkt || !datagram || !work)
		return -1;
	at = reply_l3(pkt) + sizeof(struct udphdr) +
	     (pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	if (reply_resize(ctx, at + work->total) || datagram_write(ctx, datagram, work, at))
		return -1;
	sum = datagram_sum(ctx, work, at);
	return sum < 0 ? -1 : datagram_head(ctx, pkt, work->total, sum);
}

/*
 * A tag in hexadecimal that is the same for one address and port, whatever it asks: of a stateless
 * server's (RFC 3261, 8.2.7).
 */
static __always_inline void datagram_tag(const struct pkt *pkt, struct stile_datagram_work *work)
{
	__u64 hash = (pkt->source.word[0] ^ pkt->source.word[1] ^ pkt->sport ^ policy.seed[0]) *
		     policy.seed[1];
	__u32 i;

	unrolled
	for (i = 0; i < STILE_DATAGRAM_TAG; i++) {
		__u8 digit = hash >> (60 - 4 * i) & 15;

		work->made[i] = digit < 10 ? '0' + digit : 'a' + digit - 10;
	}
}

/* Answers a datagram that was refused, whose client has @wait ms to wait. 0 or -1: it cannot be. */
static __always_inline int datagram_answer(struct xdp_md *ctx, const struct pkt *pkt, __u32 wait)
{
	struct stile_datagram_work *work;
	struct stile_datagram *datagram;
	__u32 zero = 0, slot;

	slot = classify_listener(pkt);
	if (slot >= STILE_LISTENERS_MAX)
		return -1;
	slot = policy.listeners[slot].answer;
	datagram = bpf_map_lookup_elem(&stile_datagrams, &slot);
	work = bpf_map_lookup_elem(&stile_work, &zero);
	if (slot == 0 || !datagram || !work || datagram_read(ctx, pkt, work))
		return -1;
	work->milliseconds = wait;
	work->seconds = (wait + 999) / 1000;
	datagram_tag(pkt, work);
	if (datagram->n_lines && datagram_scan(datagram, work))
		return -1;
	if (datagram_choose(datagram, work))
		return -1;
	return datagram_build(ctx, pkt, datagram, work);
}

#endif /* STILE_BPF_DATAGRAM_H */
