/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many answers are sent: replies_per_second, a second's worth of them at once. One token bucket
 * for all CPUs, and each CPU draws a few answers at a time, so that in a storm the bucket's cache
 * line moves between them once for many answers; where it is empty, it is only read. What a CPU
 * drew and did not send it may send later: over any span, all CPUs together send no more than the
 * bucket gives, and one draw each. Pure.
 */
#ifndef STILE_BPF_BUDGET_H
#define STILE_BPF_BUDGET_H

#include "bucket.h"

/* How many answers the bucket gives at @now, and what it becomes. */
static __always_inline __u32 budget_grant(const struct stile_budget *budget, __u64 state, __u64 now,
					  __u64 *ret_state)
{
	__u64 moment = now << STILE_TOKEN_SHIFT, lack = bucket_lack(state, moment), n;

	if (lack >= budget->depth)
		return 0;
	n = (budget->depth - lack) / budget->token;
	if (n > budget->batch)
		n = budget->batch;
	lack += n * budget->token;
	*ret_state = moment + lack ? moment + lack : 1; /* 0 is a new bucket */
	return n;
}

#endif /* STILE_BPF_BUDGET_H */
