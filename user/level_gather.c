/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From counters to what a service level is made of. */
#include "../bpf/queue.h"
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

/* The fullest limit counts. */
static void gather_held(const struct snapshot *snapshot, uint32_t limiter,
			struct level_input *input)
{
	uint64_t held = snapshot->limiters[limiter].held;
	uint64_t limit = snapshot->policy.limiters[limiter].limit;

	if (snapshot->policy.limiters[limiter].algorithm != STILE_ALGORITHM_CONCURRENCY)
		return;
	if (input->limit &&
	    (double)held * (double)input->limit <= (double)input->held * (double)limit)
		return;
	input->held = held;
	input->limit = limit;
}

/*
 * Of several sockets the one whose queue is fullest: there clients are lost first. It is full where
 * accept_queue_limit begins to shed, or else where the kernel drops: a backlog takes one more.
 */
static void gather_queue(const struct snapshot *snapshot, uint32_t slot, struct level_input *input)
{
	const struct stile_listener *listener = &snapshot->policy.listeners[slot];
	const struct snapshot_queue *queue = &snapshot->queues[slot];
	const struct queue_state fullest = { queue->fullest_length, queue->fullest_backlog, 0 };

	if (!snapshot->has_queues || listener->protocol != STILE_PROTOCOL_TCP)
		return;
	input->service = queue->sockets ? LEVEL_SERVICE_LISTENS : LEVEL_SERVICE_NONE;
	if (queue->sockets == 0)
		return;
	input->queued = queue->fullest_length;
	input->queue_limit = queue->fullest_backlog + UINT64_C(1);
	if (listener->accept_limit)
		input->queue_limit =
			queue_threshold(&fullest, listener->accept_limit, listener->accept_percent);
	if (input->queue_limit == 0)
		input->queue_limit = 1; /* a small part of a small queue */
}

/* Whether all of the listener's clients share it: only then it tells how the service fares. */
static bool is_shared(const struct stile_policy *policy, const struct stile_attachment *attachment)
{
	return !policy->limiters[attachment->limiter].keyed && !attachment->new_sources;
}

void level_gather(const struct snapshot *snapshot, const struct stile_decisions *before,
		  uint32_t slot, struct level_input *ret_input)
{
	const struct stile_policy *policy = &snapshot->policy;
	struct level_input input = { 0 };

	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &policy->attachments[i];

		if (!at->limiter || at->listener != slot || !is_shared(policy, at))
			continue;
		gather_refused(&snapshot->decisions[i], &before[i], &input);
		gather_held(snapshot, at->limiter, &input);
	}
	gather_queue(snapshot, slot, &input);
	*ret_input = input;
}
