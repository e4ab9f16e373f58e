/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads both clocks at once, for the loader: how the tick counter relates to CLOCK_MONOTONIC is
 * known to the kernel alone. Run by BPF_PROG_TEST_RUN, attached to nothing.
 */
#include "maps.h"

struct stile_clock_sample clock_sample;

SEC("xdp")
int stile_clock(struct xdp_md *ctx)
{
	(void)ctx;
	clock_sample.jiffies = bpf_jiffies64();
	clock_sample.ktime = bpf_ktime_get_ns();
	return XDP_PASS;
}
