/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel side tells a time that it computes anew as it answers; this is the same, of the
 * buckets as they are now. Whether it is told depends on who tells it: a reset may, some languages
 * have no place for it, a FIN alone cannot.
 */
#include "explain_told.h"
#include "../bpf/bucket.h"
#include "names.h"

#define MS 1000000 /* ns */
#define QUEUE_WAIT 1000000000ULL

static uint64_t window_of(const struct stile_limiter *limiter)
{
	return bucket_holds(limiter) ? BUCKET_HOLD_WAIT : limiter->window;
}

/*
 * As bpf/busy.h: the longest limiter decides; a table without room stands for its window, an accept
 * queue without room for a second.
 */
static uint64_t told_wait(const struct stile_policy *policy, const struct snapshot_verdict *verdict)
{
	uint64_t longest = verdict->refused_by < 0 ? QUEUE_WAIT : 0, window = 0;

	for (unsigned int i = 0; i < verdict->n_judges; i++) {
		const struct snapshot_judgement *judgement = &verdict->judges[i];
		const struct stile_limiter *limiter = &policy->limiters[judgement->limiter];

		if (limiter->action == STILE_ACTION_COUNT)
			continue;
		if (judgement->client.wait > longest)
			longest = judgement->client.wait;
		if ((judgement->client.never ||
		     (!judgement->known && limiter->full == STILE_FULL_REJECT)) &&
		    window_of(limiter) > window)
			window = window_of(limiter);
	}
	return ((longest ? longest : window) + policy->tick + MS - 1) / MS;
}

struct explain_told explain_told(const struct stile_policy *policy, uint32_t listener,
				 const struct snapshot_verdict *verdict)
{
	struct explain_told told = { 0 };
	bool speaks, refused = verdict->refused_by >= 0;

	if (verdict->verdict == STILE_VERDICT_PASS || (!refused && !verdict->queue.sheds))
		return told;
	told.wait = told_wait(policy, verdict);
	if (verdict->verdict != STILE_VERDICT_REPLY)
		return told;
	speaks = verdict->reply == STILE_REPLY_COOKIE || verdict->reply == STILE_REPLY_BUSY;
	if (refused && policy->limiters[verdict->judges[verdict->refused_by].limiter].action !=
			       STILE_ACTION_REJECT)
		speaks = false;
	if (speaks)
		told.language = policy_language_names[policy->listeners[listener].language];
	told.says_wait = (speaks && verdict->says_wait) ||
			 (verdict->reply == STILE_REPLY_RESET && policy->reset_text);
	return told;
}
