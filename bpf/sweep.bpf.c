/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks for handshakes that came to nothing. Run by BPF_PROG_TEST_RUN, attached to nothing; its
 * frame begins with the struct stile_sweep.
 */
#include "place_sweep.h"

SEC("xdp")
int stile_sweep(struct xdp_md *ctx)
{
	const struct stile_sweep *sweep = (const struct stile_sweep *)(long)ctx->data;
	__u64 cookies;
	__u32 i, from;

	if ((const void *)(sweep + 1) > (const void *)(long)ctx->data_end)
		return XDP_ABORTED;
	cookies = sweep->cookies;
	from = sweep->first;
	for (i = 0; i < STILE_SWEEP_SETS; i++)
		place_sweep(ctx, from + i, cookies);
	return XDP_PASS;
}
