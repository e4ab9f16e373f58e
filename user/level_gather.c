/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From counters to what a service level is made of. */
#include "level.h"
#include "snapshot.h"

/* Counters of a slot that has changed hands start again. */
static uint64_t since(const struct stile_decisions *now, const struct stile_decisions *before,
		      enum stile_decision decision)
{
	uint64_t count = now->count[decision], old = before->count[decision];

	return count >= old ? count - old : count;
}

/* Whether the part @refused of @events is larger than what @input has; 0 of 0 is none. */
static bool is_worse(uint64_t refused, uint64_t events, const struct level_input *input)
{
	return refused && (!input->events || (double)refused * (double)input->events >
						     (double)input->refused * (double)events);
}

static void gather_refused(const struct stile_decisions *now, const struct stile_decisions *before,
			   struct level_input *input)
{
	uint64_t refused = since(now, before, STILE_DECISION_LIMITED);
	uint64_t events = refused + since(now, before, STILE_DECISION_ALLOWED);

	if (!is_worse(refused, events, input))
		return;
	input->refused = refused;
	input->events = events;
}

void level_gather(const struct snapshot *snapshot, const struct stile_decisions *before,
		  uint32_t slot, struct level_input *ret_input)
{
	const struct stile_policy *policy = &snapshot->policy;
	struct level_input input = { 0 };

	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &policy->attachments[i];

		if (at->limiter && at->listener == slot && !policy->limiters[at->limiter].keyed)
			gather_refused(&snapshot->decisions[i], &before[i], &input);
	}
	*ret_input = input;
}
