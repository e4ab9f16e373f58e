/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rates from two snapshots. A reload may give a slot to another listener or limiter in between, so
 * what is compared is found by its name, and a client by its limiter's name and its key.
 */
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "top_index.h"
#include "util.h"

uint64_t top_growth(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

static double rate(const struct top_frame *frame, uint64_t before, uint64_t now)
{
	return frame->seconds > 0 ? (double)top_growth(before, now) / frame->seconds : 0;
}

/* The limiter of @slot in the frame before, by its name; 0: it had none. */
static uint32_t limiter_before(const struct top_frame *before, const struct top_frame *frame,
			       uint32_t slot)
{
	const char *name = frame->snapshot->policy.limiters[slot].name;

	for (uint32_t i = 1; i < STILE_LIMITERS_MAX; i++) {
		if (strcmp(before->snapshot->policy.limiters[i].name, name) == 0)
			return i;
	}
	return 0;
}

static void rate_client(struct top_frame *frame, size_t i, const struct snapshot_client *before)
{
	const struct snapshot_client *client = &frame->clients[i];

	frame->rates[i].admitted = rate(frame, before ? before->admitted : 0, client->admitted);
	frame->rates[i].shed = rate(frame, before ? before->refused : 0, client->refused);
}

static void rate_clients(const struct top_frame *before, struct top_frame *frame)
{
	uint32_t slots[STILE_LIMITERS_MAX];

	for (uint32_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		slots[slot] = limiter_before(before, frame, slot);
	for (size_t i = 0; i < frame->n_clients; i++) {
		struct snapshot_client wanted = { .limiter = slots[frame->clients[i].limiter],
						  .key = frame->clients[i].key };

		if (wanted.limiter == 0)
			continue; /* a limiter that was not there: nobody knows since when */
		rate_client(
			frame, i,
			top_index_find(before->index, before->clients, before->n_clients, &wanted));
	}
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const struct top_flow *flow_before(const struct top_frame *before,
					  const struct top_flow *flow)
{
	for (size_t i = 0; before && i < before->n_flows; i++) {
		if (same(before->flows[i].listener, flow->listener) &&
		    same(before->flows[i].limiter, flow->limiter))
			return &before->flows[i];
	}
	return NULL;
}

static void rate_flow(const struct top_frame *before, const struct top_frame *frame,
		      struct top_flow *flow)
{
	const struct top_flow *old = flow_before(before, flow);
	size_t kept;

	if (!old)
		return;
	flow->rate.admitted = rate(frame, old->admitted, flow->admitted);
	flow->rate.shed = rate(frame, old->shed, flow->shed);
	kept = old->n_history < TOP_HISTORY ? old->n_history : TOP_HISTORY - 1;
	memcpy(flow->history, old->history + old->n_history - kept, kept * sizeof(*flow->history));
	flow->history[kept] = flow->rate.shed;
	flow->n_history = kept + 1;
}

/* What a full table does to a new client is the limiter's to say. */
static void count_decisions(const struct stile_limiter *limiter,
			    const struct stile_decisions *decisions, struct top_flow *flow)
{
	const __u64 *count = decisions->count;
	bool rejects = limiter->full == STILE_FULL_REJECT;

	flow->admitted = count[STILE_DECISION_ALLOWED] + count[STILE_DECISION_COUNTED] +
			 count[STILE_DECISION_EXEMPT] + (rejects ? 0 : count[STILE_DECISION_FULL]);
	flow->shed = count[STILE_DECISION_LIMITED] + (rejects ? count[STILE_DECISION_FULL] : 0);
}

static void add_listener(const struct top_frame *before, struct top_frame *frame, uint32_t slot)
{
	const struct stile_policy *policy = &frame->snapshot->policy;
	struct top_flow of = { .listener = policy->listeners[slot].name, .slot = slot };
	size_t first = frame->n_flows;

	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &policy->attachments[i];
		struct top_flow *flow = &frame->flows[frame->n_flows];

		if (!at->limiter || at->listener != slot)
			continue;
		*flow = of;
		flow->limiter = policy->limiters[at->limiter].name;
		count_decisions(&policy->limiters[at->limiter], &frame->snapshot->decisions[i],
				flow);
		rate_flow(before, frame, flow);
		frame->n_flows++;
	}
	if (frame->n_flows == first && first < ARRAY_SIZE(frame->flows))
		frame->flows[frame->n_flows++] = of;
	if (frame->n_flows > first)
		frame->flows[first].first = true;
}

static uint64_t packets_of(const struct snapshot_interface *interface, size_t verdict)
{
	uint64_t sum = 0;

	for (size_t reason = 0; reason < _STILE_REASON_MAX; reason++)
		sum += interface->packets.count[verdict][reason];
	return sum;
}

static void rate_interface(const struct top_frame *before, const struct top_frame *frame,
			   struct top_interface *interface)
{
	const struct snapshot_interface *now = &frame->snapshot->interfaces[interface->slot];

	for (size_t i = 0; before && i < before->n_interfaces; i++) {
		const struct top_interface *old = &before->interfaces[i];

		if (!same(old->name, interface->name))
			continue;
		for (size_t v = 0; v < _STILE_VERDICT_MAX; v++)
			interface->packets[v] =
				rate(frame, packets_of(&before->snapshot->interfaces[old->slot], v),
				     packets_of(now, v));
	}
}

static void add_interfaces(const struct top_frame *before, struct top_frame *frame)
{
	for (uint32_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		struct top_interface *interface = &frame->interfaces[frame->n_interfaces];
		const char *name = frame->snapshot->policy.interfaces[slot].name;

		if (!*name)
			continue;
		*interface = (struct top_interface){ .name = name, .slot = slot };
		rate_interface(before, frame, interface);
		frame->n_interfaces++;
	}
}

/* Leaves the live clients. */
static void keep_clients(struct top_frame *frame, size_t n_clients)
{
	for (size_t i = 0; i < n_clients; i++) {
		if (frame->clients[i].live)
			frame->clients[frame->n_clients++] = frame->clients[i];
	}
}

static void compare(const struct top_frame *before, struct top_frame *frame)
{
	const struct snapshot *snapshot = frame->snapshot;

	if (before && snapshot->now > before->snapshot->now)
		frame->seconds = (double)(snapshot->now - before->snapshot->now) / 1e9;
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (*snapshot->policy.listeners[slot].name)
			add_listener(before, frame, slot);
	}
	add_interfaces(before, frame);
	if (before)
		rate_clients(before, frame);
}

struct top_frame *top_frame_new(const struct top_frame *before, struct snapshot *snapshot,
				struct snapshot_client *clients, size_t n_clients)
{
	struct top_frame *frame = calloc(1, sizeof(*frame));

	if (!frame) {
		free(clients);
		snapshot_free(snapshot);
		return NULL;
	}
	frame->snapshot = snapshot;
	frame->clients = clients;
	keep_clients(frame, n_clients);
	frame->rates = calloc(frame->n_clients + 1, sizeof(*frame->rates));
	frame->index = top_index_new(frame->clients, frame->n_clients);
	if (!frame->rates || !frame->index) {
		top_frame_free(frame);
		return NULL;
	}
	compare(before, frame);
	return frame;
}

void top_frame_free(struct top_frame *frame)
{
	if (!frame)
		return;
	snapshot_free(frame->snapshot);
	free(frame->clients);
	free(frame->rates);
	free(frame->index);
	free(frame);
}
