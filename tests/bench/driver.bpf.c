/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a fresh packet at every turn of BPF_PROG_TEST_RUN, which would else hand the same frame,
 * with what the last turn made of it, to the program again, and calls the program under test by
 * tail call. What the driver costs is measured with bench_parse behind it, whose cost is the floor
 * of what any program can do.
 */
#include "../../bpf/maps.h"
#include "../../bpf/parse.h"

#include "driver.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct driver driver;
void *volatile frame_head;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} bench_target SEC(".maps");

static __always_inline __u64 next_random(void)
{
	driver.random ^= driver.random << 13;
	driver.random ^= driver.random >> 7;
	driver.random ^= driver.random << 17;
	return driver.random;
}

static __always_inline __u32 next_address(void)
{
	if (driver.sources == DRIVER_RANDOM)
		return ((next_random() >> 32) * driver.keys) >> 32;
	if (driver.sources == DRIVER_TURN)
		return driver.count % driver.keys;
	/* An odd factor: the counter's values, each once, in an order that no hash likes best. */
	return (__u32)driver.count * 2654435761U;
}

static __always_inline void set_addresses(void *data, void *data_end)
{
	__u32 *address = data + DRIVER_ADDRESS, *sequence, l4 = driver.l4;
	__u16 *port;

	if ((void *)(address + 1) > data_end)
		return;
	if (driver.sources != DRIVER_ONE)
		*address = swap32((next_address() & driver.mask) | driver.base);
	if (l4 == 0 || l4 > DRIVER_FRAME)
		return;
	port = data + l4;
	sequence = data + l4 + 4;
	if ((void *)(sequence + 1) > data_end)
		return;
	*port = driver.count | 1024;
	*sequence = driver.count;
}

/* Where the frame begins, as a number. */
static __always_inline __u64 head_of(struct xdp_md *ctx)
{
	frame_head = (void *)(long)ctx->data;
	return *(volatile __u64 *)&frame_head;
}

/* Puts the head back where it was, if the program under test let it grow. */
static __always_inline int restore_head(struct xdp_md *ctx)
{
	__u64 head = head_of(ctx);

	if (driver.head == 0)
		driver.head = head;
	if (driver.head == head)
		return 0;
	return bpf_xdp_adjust_head(ctx, (int)(driver.head - head));
}

SEC("xdp")
int bench_driver(struct xdp_md *ctx)
{
	__u32 length = driver.length;
	void *data, *data_end;
	__u64 *to;
	int i;

	if (restore_head(ctx))
		return XDP_ABORTED;
	if (bpf_xdp_get_buff_len(ctx) != length &&
	    bpf_xdp_adjust_tail(ctx, (int)length - (int)bpf_xdp_get_buff_len(ctx)))
		return XDP_ABORTED;
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	for (i = 0, to = data; i < DRIVER_FRAME / 8; i++, to++) {
		if ((void *)(to + 1) > data_end)
			break;
		*to = driver.frame[i];
	}
	driver.count++;
	set_addresses(data, data_end);
	bpf_tail_call(ctx, &bench_target, 0);
	return XDP_ABORTED;
}

/* What any program has to do: to read the packet as far as its ports. */
static __always_inline int parsed(struct xdp_md *ctx)
{
	struct pkt pkt = {};

	if (parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, &pkt) != PARSE_OK)
		return XDP_ABORTED;
	opaque(pkt.dport);
	opaque(pkt.source.word[0]);
	opaque(pkt.source.word[1]);
	return pkt.dport == 0 ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int bench_parse(struct xdp_md *ctx)
{
	return parsed(ctx);
}
