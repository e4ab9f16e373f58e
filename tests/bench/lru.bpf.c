/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same program with its buckets in the kernel's LRU hash: 16-byte keys, the state changed by
 * compare-and-swap, time from the precise clock. All else is bpf/xdp.bpf.c as it is; only one
 * limiter judges here, and every limiter of the policy has this one map.
 */
/* The program itself is what is measured: its text is included. */
/* NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../bpf/maps.bpf.c"

#include "../../bpf/account.h"
#include "../../bpf/bucket.h"
#include "../../bpf/classify.h"
#include "../../bpf/judge.h"
#include "../../bpf/key.h"

#define LRU_TRIES 6

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct key);
	__type(value, __u64);
} lru_buckets SEC(".maps");

/* A client that has no bucket yet; false: it has one by now. */
static __always_inline bool lru_insert(const struct stile_limiter *limiter, const struct key *key,
				       __u64 now, int *ret_decision)
{
	__u64 state;

	*ret_decision = bucket_charge(limiter, 0, now, &state) ? STILE_DECISION_ALLOWED
							       : STILE_DECISION_LIMITED;
	return bpf_map_update_elem(&lru_buckets, key, &state, BPF_NOEXIST) == 0;
}

static __always_inline int lru_charge(const struct stile_limiter *limiter, const struct key *key)
{
	__u64 now = bpf_ktime_get_ns(), *bucket, state, charged;
	int decision, i;

	bucket = bpf_map_lookup_elem(&lru_buckets, key);
	if (!bucket) {
		if (lru_insert(limiter, key, now, &decision))
			return decision;
		bucket = bpf_map_lookup_elem(&lru_buckets, key);
	}
	for (i = 0; bucket && i < LRU_TRIES; i++) {
		state = load_once(*bucket);
		if (!bucket_charge(limiter, state, now, &charged))
			return STILE_DECISION_LIMITED;
		if (__sync_val_compare_and_swap(bucket, state, charged) == state)
			return STILE_DECISION_ALLOWED;
	}
	return STILE_DECISION_LIMITED;
}

/* Stands in the place of charge.h's. */
#define STILE_BPF_CHARGE_H
static __always_inline struct ruling charge_event(struct xdp_md *ctx, const struct pkt *pkt,
						  const struct pkt_class *class, __u64 hash)
{
	__u32 attachment = classify_judge(class->judges, 0) & (STILE_ATTACHMENTS_MAX - 1);
	__u32 slot = policy.attachments[attachment].limiter & (STILE_LIMITERS_MAX - 1);
	const struct stile_limiter *limiter = (const struct stile_limiter *)&policy.limiters[slot];
	struct key key = key_wide(limiter, &pkt->source);
	int decision = lru_charge(limiter, &key);

	(void)ctx;
	(void)hash;
	account_decision(attachment, decision);
	if (decision == STILE_DECISION_LIMITED)
		return judge_refusal(pkt, limiter->action, STILE_REASON_LIMITED);
	return judge_pass(STILE_REASON_ALLOWED);
}

/* Its sessions are not measured; they ask for these. */
#define STILE_BPF_SESSION_H
#include "../../bpf/flow.h"
#define session_listener(edge, judges) ((void)(edge), (void)(judges), 0)
#define session_look(pkt, listener) ((void)(pkt), FLOW_NONE)
#define session_leave_others(class) ((void)(class))
#define session_open(pkt, listener) ((void)(pkt))
#define session_remember(pkt, listener, ruling) ((void)(ruling))

/* Nor the places of its connections. */
#define place_touch(pkt) ((void)(pkt))

/* Nor are its answers in clients' own languages. */
#define STILE_BPF_WAIT_H
#define wait_ms(pkt) 0
#define STILE_BPF_BUSY_H
#define BUSY_FOREIGN (-1)
#define BUSY_SILENT (-2)
#define busy_is_possible(listener) ((void)(listener), false)
#define busy_segment(ctx, pkt, listener) ((void)(ctx), (void)(pkt), (void)(listener), BUSY_FOREIGN)
#define busy_speaks(pkt, refused) ((void)(refused), 0)
#define busy_begin(ctx, pkt, listener, refused) (-1)

/* NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../bpf/xdp.bpf.c"
