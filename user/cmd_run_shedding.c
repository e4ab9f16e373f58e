/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shedding begins and ends: a line of the log for each, by listener and limiter, and the metric.
 * What is seen once a second are counters, so that a storm writes no more lines than a trickle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_run_service.h"
#include "log.h"
#include "shedding.h"
#include "snapshot.h"
#include "util.h"

#define NSEC_PER_STEP UINT64_C(1000000000)

struct attachment_shedding {
	char listener[STILE_NAME_SIZE], limiter[STILE_NAME_SIZE]; /* empty: the slot is free */
	struct shedding shedding;
};

struct run_shedding {
	struct attachment_shedding attachments[STILE_ATTACHMENTS_MAX]; /* by slot */
};

static void log_begins(const struct attachment_shedding *of)
{
	const struct log_field fields[] = {
		{ "event", "shedding_begins", 0 },
		{ "listener", of->listener, 0 },
		{ "limiter", of->limiter, 0 },
		{ "refused", NULL, of->shedding.refused },
	};

	log_event(CONFIG_LOG_WARNING, "clients are refused from now on:", fields,
		  ARRAY_SIZE(fields));
}

/* @clients: how many were refused; NULL: nobody knows, or all share one bucket. */
static void log_ends(const struct attachment_shedding *of, const uint64_t *clients)
{
	const struct log_field fields[] = {
		{ "event", "shedding_ends", 0 },
		{ "listener", of->listener, 0 },
		{ "limiter", of->limiter, 0 },
		{ "refused", NULL, of->shedding.refused },
		{ "seconds", NULL, of->shedding.lasted },
		{ "clients", NULL, clients ? *clients : 0 },
	};

	log_event(CONFIG_LOG_INFO, "no client is refused any more:", fields,
		  clients ? ARRAY_SIZE(fields) : ARRAY_SIZE(fields) - 1);
}

static void end(const struct run *run, const struct snapshot *snapshot, size_t slot,
		const struct attachment_shedding *of)
{
	uint32_t limiter = snapshot->policy.attachments[slot].limiter;
	uint64_t clients;

	if (snapshot->policy.limiters[limiter].keyed &&
	    snapshot_count_refused(run->pins, snapshot, limiter,
				   (of->shedding.steps + 1) * NSEC_PER_STEP, &clients) == 0)
		log_ends(of, &clients);
	else
		log_ends(of, NULL);
}

/* A slot that changed hands: what was shed there is over. */
static void adopt(const struct stile_policy *policy, size_t slot, struct attachment_shedding *of)
{
	const struct stile_attachment *at = &policy->attachments[slot];
	const char *listener = at->limiter ? policy->listeners[at->listener].name : "";
	const char *limiter = policy->limiters[at->limiter].name;

	if (strcmp(of->listener, listener) == 0 &&
	    (at->limiter == 0 || strcmp(of->limiter, limiter) == 0))
		return;
	if (of->shedding.on)
		log_ends(of, NULL);
	memset(of, 0, sizeof(*of));
	if (at->limiter == 0)
		return;
	memcpy(of->listener, listener, sizeof(of->listener));
	memcpy(of->limiter, limiter, sizeof(of->limiter));
}

static void step(struct run *run, const struct snapshot *snapshot, size_t slot)
{
	const struct stile_policy *policy = &snapshot->policy;
	const struct stile_limiter *limiter = &policy->limiters[policy->attachments[slot].limiter];
	struct attachment_shedding *of = &run->shedding->attachments[slot];
	enum shedding_change change;

	adopt(policy, slot, of);
	if (!*of->limiter)
		return;
	change = shedding_step(&of->shedding, &snapshot->decisions[slot],
			       limiter->full == STILE_FULL_REJECT &&
				       limiter->action != STILE_ACTION_COUNT);
	if (change == SHEDDING_BEGINS)
		log_begins(of);
	else if (change == SHEDDING_ENDS)
		end(run, snapshot, slot, of);
}

int run_shedding_step(struct run *run, const struct snapshot *snapshot)
{
	if (!run->shedding)
		run->shedding = calloc(1, sizeof(*run->shedding));
	if (!run->shedding)
		return -ENOMEM;
	for (size_t slot = 1; slot < STILE_ATTACHMENTS_MAX; slot++) {
		step(run, snapshot, slot);
		run->counts.shedding[slot] = run->shedding->attachments[slot].shedding.on;
	}
	return 0;
}

void run_shedding_free(struct run *run)
{
	free(run->shedding);
	run->shedding = NULL;
}

void run_shedding_gone(struct run *run)
{
	for (size_t slot = 1; run->shedding && slot < STILE_ATTACHMENTS_MAX; slot++) {
		const struct attachment_shedding *of = &run->shedding->attachments[slot];

		if (of->shedding.on)
			log_ends(of, NULL);
	}
	memset(run->counts.shedding, 0, sizeof(run->counts.shedding));
	run_shedding_free(run);
}
