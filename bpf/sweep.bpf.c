/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks for handshakes that came to nothing. Run by BPF_PROG_TEST_RUN, attached to nothing; its
 * frame begins with the index of the first set.
 */
#include "place_sweep.h"

SEC("xdp")
int stile_sweep(struct xdp_md *ctx)
{
	const __u32 *first = (const __u32 *)(long)ctx->data;
	__u32 i, from;

	if ((const void *)(first + 1) > (const void *)(long)ctx->data_end)
		return XDP_ABORTED;
	from = *first;
	for (i = 0; i < STILE_SWEEP_SETS; i++)
		place_sweep(ctx, from + i);
	return XDP_PASS;
}
