/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts what was decided; decides nothing. Per-CPU, so plain additions are exact. */
#ifndef STILE_BPF_ACCOUNT_H
#define STILE_BPF_ACCOUNT_H

#include "judge.h"
#include "maps.h"

static __always_inline void account_packet(__u32 interface, const struct ruling *ruling)
{
	struct stile_packets *packets = bpf_map_lookup_elem(&stile_packets, &interface);
	__u64 verdict = ruling->verdict, reason = ruling->reason;

	opaque(verdict); /* verifier: the registers that are checked are those that index */
	opaque(reason);
	if (packets && verdict < _STILE_VERDICT_MAX && reason < _STILE_REASON_MAX)
		packets->count[verdict][reason]++;
}

/* Tells whoever replays packets what became of this one. */
static __always_inline void account_replay(const struct pkt *pkt, const struct ruling *ruling)
{
	if (!policy.replays)
		return;
	__builtin_memcpy((void *)stile_replay.source, &pkt->source, sizeof(pkt->source));
	stile_replay.verdict = ruling->verdict;
	stile_replay.reason = ruling->reason;
}

static __always_inline void account_decision(__u32 attachment, __u64 decision)
{
	struct stile_decisions *decisions = bpf_map_lookup_elem(&stile_decisions, &attachment);

	opaque(decision); /* verifier: as above */
	if (decisions && decision < _STILE_DECISION_MAX)
		decisions->count[decision]++;
}

static __always_inline void account_reply(__u64 reply)
{
	__u32 zero = 0;
	struct stile_replies *replies = bpf_map_lookup_elem(&stile_replies, &zero);

	opaque(reply); /* verifier: as above */
	if (replies && reply < _STILE_REPLY_MAX)
		replies->count[reply]++;
}

static __always_inline void account_table(__u32 limiter, bool evicted)
{
	struct stile_table_stats *stats = bpf_map_lookup_elem(&stile_tables, &limiter);

	if (!stats)
		return;
	if (evicted)
		stats->evicted++;
	else
		stats->full++;
}

#endif /* STILE_BPF_ACCOUNT_H */
