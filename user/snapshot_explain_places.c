/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A SYN waits for what nothing else refuses; who has no connection has none closed. */
#include "snapshot_explain_places.h"

static bool holds(const struct stile_limiter *limiter)
{
	return limiter->algorithm == STILE_ALGORITHM_CONCURRENCY;
}

/* Whether each limiter that refuses has room for one more to wait. */
static bool may_wait(const struct snapshot_verdict *verdict, const struct stile_policy *policy)
{
	for (unsigned int i = 0; i < verdict->n_judges; i++) {
		const struct snapshot_judgement *judgement = &verdict->judges[i];
		const struct stile_limiter *limiter = &policy->limiters[judgement->limiter];

		if (judgement->decision == STILE_DECISION_LIMITED &&
		    (!holds(limiter) || judgement->client.waiting >= limiter->queue))
			return false;
		if (judgement->decision == STILE_DECISION_FULL &&
		    limiter->full == STILE_FULL_REJECT)
			return false;
	}
	return true;
}

static void drop(struct snapshot_verdict *verdict, enum stile_reason reason)
{
	verdict->verdict = STILE_VERDICT_DROP;
	verdict->reason = reason;
	verdict->reply = 0;
	verdict->wait = 0; /* until another connection ends, which nobody can tell */
}

int snapshot_explain_places(const struct pins *pins, const struct snapshot *snapshot,
			    const struct snapshot_event *event, struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &snapshot->policy;
	const struct snapshot_judgement *refusal;
	uint64_t held;
	int r;

	if (verdict->refused_by < 0)
		return 0;
	refusal = &verdict->judges[verdict->refused_by];
	if (refusal->decision != STILE_DECISION_LIMITED ||
	    !holds(&policy->limiters[refusal->limiter]))
		return 0;
	if (may_wait(verdict, policy)) {
		drop(verdict, STILE_REASON_WAITING);
		return 0;
	}
	if (!(policy->listeners[event->listener].places & STILE_PLACES_EVICTED))
		return 0;
	r = snapshot_held(pins, snapshot, event, &held);
	if (r == 0 && held)
		drop(verdict, STILE_REASON_EVICTING);
	return r;
}
