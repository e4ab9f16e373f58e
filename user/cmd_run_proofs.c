/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prove_sources: auto. Counters are looked at ten times a second, since a flood that goes on for a
 * second can fill what it is to be kept out of; queues and tables once.
 */
#include <errno.h>
#include <string.h>

#include <event2/event.h>

#include "apply_proofs.h"
#include "cmd_run_service.h"
#include "log.h"
#include "proving.h"
#include "snapshot.h"
#include "util.h"

#define STEP_US (1000000 / PROVING_STEPS)
#define NEARLY(whole) ((whole) - (whole) / 4)

struct listener_proving {
	uint32_t serial; /* whose it is; 0: it is not auto */
	char name[STILE_NAME_SIZE];
	bool local; /* a socket of this host listens */
	bool table, queue;
	struct proving proving;
};

struct run_proofs {
	struct run *run;
	struct event *event;
	struct apply_proofs maps;
	struct stile_policy policy;
	struct listener_proving listeners[STILE_LISTENERS_MAX]; /* by slot */
	uint64_t evicted[STILE_LIMITERS_MAX];			/* a second ago */
	bool looked, evicts[STILE_LIMITERS_MAX];
};

static const char *const reasons[_PROVING_MAX] = {
	[PROVING_NONE] = "",
	[PROVING_HANDSHAKES] = "handshakes come to nothing",
	[PROVING_TABLE] = "a limiter's table is full",
	[PROVING_QUEUE] = "its service's queue is nearly full",
};

static void log_switch(const struct listener_proving *of)
{
	if (of->proving.on)
		log_warning("%s: sources have to be proven from now on: %s", of->name,
			    reasons[of->proving.reason]);
	else
		log_info("%s: sources need not be proven any more", of->name);
}

static void step(struct run_proofs *proofs, uint32_t slot)
{
	struct listener_proving *of = &proofs->listeners[slot];
	struct apply_proofs_counts counts;
	struct proving_input input;

	if (!of->serial || apply_proofs_read(&proofs->maps, slot, &counts) < 0)
		return;
	input = (struct proving_input){
		.asked = counts.proven.unproven + counts.proven.challenged,
		.opened = counts.opened,
		.proven = counts.proven.proven,
		.counted = proofs->policy.connections && of->local,
		.table = of->table,
		.queue = of->queue,
	};
	if (!proving_step(&of->proving, &input))
		return;
	apply_proofs_switch(&proofs->maps, slot, of->proving.on);
	log_switch(of);
}

static void on_step(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what; /* a tenth of a second has passed */
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++)
		step(context, slot);
}

/* Whether a limiter that judges at the listener has turned clients out in the last second. */
static bool is_table_full(const struct run_proofs *proofs, uint32_t slot)
{
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &proofs->policy.attachments[i];

		if (at->limiter && at->listener == slot &&
		    proofs->evicts[at->limiter & (STILE_LIMITERS_MAX - 1)])
			return true;
	}
	return false;
}

static void look_at_tables(struct run_proofs *proofs)
{
	uint64_t evicted;

	for (uint32_t slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
		if (!proofs->policy.limiters[slot].sets ||
		    apply_proofs_evicted(&proofs->maps, slot, &evicted) < 0)
			continue;
		proofs->evicts[slot] = proofs->looked &&
				       evicted >= proofs->evicted[slot] + PROVING_EVICTED;
		proofs->evicted[slot] = evicted;
	}
	proofs->looked = true;
}

static bool is_queue_full(const struct snapshot_queue *queue)
{
	return queue->sockets &&
	       (queue->fullest_length >= NEARLY(queue->fullest_backlog + UINT64_C(1)) ||
		queue->in_flight >= NEARLY(queue->backlog + queue->sockets));
}

void run_proofs_second(struct run *run, const struct snapshot *snapshot)
{
	struct run_proofs *proofs = run->proofs;

	if (!proofs || snapshot->policy.generation != proofs->policy.generation)
		return;
	look_at_tables(proofs);
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		struct listener_proving *of = &proofs->listeners[slot];

		of->local = snapshot->queues[slot].sockets;
		of->queue = is_queue_full(&snapshot->queues[slot]);
		of->table = is_table_full(proofs, slot);
	}
}

void run_proofs_free(struct run *run)
{
	struct run_proofs *proofs = run->proofs;

	if (!proofs)
		return;
	if (proofs->event)
		event_free(proofs->event);
	apply_proofs_close(&proofs->maps);
	free(proofs);
	run->proofs = NULL;
}

static struct run_proofs *proofs_new(struct run *run)
{
	struct run_proofs *proofs = calloc(1, sizeof(*proofs));

	if (!proofs)
		return NULL;
	proofs->run = run;
	proofs->maps = (struct apply_proofs){ .proven = -1, .connections = -1, .tables = -1 };
	return proofs;
}

/* A listener that goes on is as it was; one that is new begins with nothing to prove. */
static void adopt(struct run_proofs *proofs, uint32_t slot, const struct listener_proving *before)
{
	const struct stile_listener *listener = &proofs->policy.listeners[slot];
	struct listener_proving *of = &proofs->listeners[slot];

	if (!*listener->name || listener->proves != STILE_PROVE_AUTO) {
		apply_proofs_switch(&proofs->maps, slot, false);
		return;
	}
	if (before && before->serial == listener->serial)
		*of = *before;
	of->serial = listener->serial;
	memcpy(of->name, listener->name, sizeof(of->name));
	/* What a daemon that is gone has switched on stays until it is quiet. */
	if (!of->proving.known && proofs->maps.proofs[slot].since)
		of->proving.on = true;
	if (!of->proving.on)
		apply_proofs_switch(&proofs->maps, slot, false);
}

static int prepare(struct run_proofs *proofs, const struct run_proofs *before)
{
	const struct timeval step = { .tv_usec = STEP_US };
	int error = apply_proofs_open(proofs->run->pins, &proofs->maps);

	if (error)
		return error;
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++)
		adopt(proofs, slot, before ? &before->listeners[slot] : NULL);
	proofs->event = event_new(proofs->run->base, -1, EV_PERSIST, on_step, proofs);
	return proofs->event && event_add(proofs->event, &step) == 0 ? 0 : -ENOMEM;
}

static bool is_wanted(const struct stile_policy *policy)
{
	for (size_t i = 1; i < STILE_LISTENERS_MAX; i++)
		if (*policy->listeners[i].name && policy->listeners[i].proves == STILE_PROVE_AUTO)
			return true;
	return false;
}

void run_proofs_load(struct run *run)
{
	struct run_proofs *proofs = NULL;
	struct snapshot *snapshot = NULL;
	int error = snapshot_take_load(run->pins, &snapshot);

	if (error == 0 && is_wanted(&snapshot->policy)) {
		proofs = proofs_new(run);
		error = proofs ? 0 : -ENOMEM;
		if (proofs)
			proofs->policy = snapshot->policy;
		if (error == 0)
			error = prepare(proofs, run->proofs);
	}
	run_proofs_free(run);
	run->proofs = proofs;
	if (error == 0 && proofs)
		run_proofs_second(run, snapshot);
	snapshot_free(snapshot);
	if (error == 0)
		return;
	log_warning("prove_sources: auto: %s: it stays as it is", strerror(-error));
	run_proofs_free(run);
}
