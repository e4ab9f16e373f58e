/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes SYNs with right checksums and sends them to an interface, for BPF_PROG_TEST_RUN with live
 * frames; and what is put at the other end of a veth pair. Frames come back with what the receiver
 * made of them, in their length too, so every one is written anew from its first byte to its last.
 */
#include "../../bpf/maps.h"
#include "../../bpf/parse.h"

#include "flood.h"

#define SCATTER 2654435761U /* odd: each value of the counter once, in a scattered order */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct flood flood;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} flood_target SEC(".maps");

static __always_inline __u32 next_address(void)
{
	__u64 at = flood.count;

	if (flood.keys) {
		flood.random ^= flood.random << 13;
		flood.random ^= flood.random >> 7;
		flood.random ^= flood.random << 17;
		at = ((flood.random >> 32) * flood.keys) >> 32;
	}
	return (((__u32)at * SCATTER) & flood.mask) | flood.base;
}

static __always_inline __u32 halves(__u32 word)
{
	return (word & 0xffff) + (word >> 16);
}

/* RFC 1071; @sum: of fewer than 65536 words. */
static __always_inline __u16 checksum(__u32 sum)
{
	return ~halves(halves(sum));
}

static __always_inline void put_16(void *at, __u16 value)
{
	*(__u16 *)at = value;
}

static __always_inline void set_client(void *data)
{
	__u32 address = __builtin_bswap32(next_address());
	__u32 sequence = flood.count;
	__u16 port = flood.count | 1024;

	/* Two-byte stores: the offsets are odd multiples of two. */
	put_16(data + FLOOD_ADDRESS, address);
	put_16(data + FLOOD_ADDRESS + 2, address >> 16);
	put_16(data + FLOOD_PORT, port);
	put_16(data + FLOOD_SEQUENCE, sequence);
	put_16(data + FLOOD_SEQUENCE + 2, sequence >> 16);
	put_16(data + FLOOD_IP_CHECK, checksum(flood.ip_sum + halves(address)));
	put_16(data + FLOOD_TCP_CHECK,
	       checksum(flood.tcp_sum + halves(address) + halves(sequence) + port));
}

SEC("xdp")
int flood_send(struct xdp_md *ctx)
{
	__u32 length = flood.length;
	void *data, *data_end;
	__u16 *to;
	int i;

	if (ctx->data_end - ctx->data != length &&
	    bpf_xdp_adjust_tail(ctx, (int)length - (int)(ctx->data_end - ctx->data)))
		return XDP_ABORTED;
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	if (data + FLOOD_TCP_CHECK + 2 > data_end)
		return XDP_ABORTED;
	for (i = 0, to = data; i < FLOOD_FRAME / 2; i++, to++) {
		if ((void *)(to + 1) > data_end)
			break;
		*to = ((const __u16 *)flood.frame)[i];
	}
	flood.count++;
	set_client(data);
	return bpf_redirect(flood.ifindex, 0);
}

SEC("xdp")
int flood_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

/* The least that any filter does: it reads as far as the ports. */
SEC("xdp")
int flood_parse_drop(struct xdp_md *ctx)
{
	struct pkt pkt = {};

	if (parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, &pkt) != PARSE_OK)
		return XDP_ABORTED;
	opaque(pkt.source.word[0]);
	opaque(pkt.source.word[1]);
	return pkt.dport == 80 ? XDP_DROP : XDP_ABORTED;
}

/* Whatever ends in the target's program returns to the caller of this function. */
static __attribute__((noinline)) int decide(struct xdp_md *ctx)
{
	volatile int none = -1;

	bpf_tail_call(ctx, &flood_target, 0);
	return none;
}

/* The target's decision, but what it admits is dropped too: it is the deciding that is measured. */
SEC("xdp")
int flood_decide(struct xdp_md *ctx)
{
	int action = decide(ctx);

	return action == XDP_PASS ? XDP_DROP : action < 0 ? XDP_ABORTED : action;
}
