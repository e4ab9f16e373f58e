/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limiters of concurrency: what is theirs alone, where they judge, and the table of handshakes that
 * hold their places.
 */
#include "policy_build.h"

#define HANDSHAKE_SETS (1U << 14)
#define HANDSHAKE_DEFAULT 63000000000ULL /* ns: with net.ipv4.tcp_synack_retries of 5 */
#define SLICE_MARGIN 5000000000ULL	 /* ns: timers come late, and a SYN before them all */

static void check_queue(struct diag *diag, const struct config_limiter *in)
{
	if (!in->queue_place.line || (in->unsure & CONFIG_ALGORITHM))
		return;
	if (in->algorithm != STILE_ALGORITHM_CONCURRENCY)
		diag_error(diag, in->queue_place,
			   "queue is for algorithm: concurrency only, and '%s' has %s",
			   in->name.text, policy_algorithm_names[in->algorithm]);
	else if (in->queue && in->action == STILE_ACTION_COUNT)
		diag_error(diag, in->queue_place,
			   "queue of '%s' keeps nobody waiting: action: count lets everybody in",
			   in->name.text);
}

static void check_unit(struct diag *diag, const struct config_limiter *in)
{
	bool places = in->algorithm == STILE_ALGORITHM_CONCURRENCY;

	if (!in->has_unit || in->unsure & (CONFIG_UNIT | CONFIG_ALGORITHM))
		return;
	if (in->unit == STILE_UNIT_ESTABLISHMENTS && !places)
		diag_error(diag, in->unit_place,
			   "unit: establishments is for algorithm: concurrency only, and '%s' has "
			   "%s",
			   in->name.text, policy_algorithm_names[in->algorithm]);
	if (places && in->unit != STILE_UNIT_ESTABLISHMENTS && in->unit != STILE_UNIT_CONNECTIONS)
		diag_error(diag, in->unit_place,
			   "unit: '%s' of '%s' cannot be held, expected connections or "
			   "establishments with algorithm: concurrency",
			   policy_unit_names[in->unit], in->name.text);
}

void policy_build_places(struct policy_build *build, size_t index)
{
	const struct config_limiter *in = &build->config->limiters[index];
	struct stile_limiter *out = &build->policy->kernel.limiters[build->limiters[index]];
	uint64_t handshake = build->machine->handshake;

	check_queue(build->diag, in);
	check_unit(build->diag, in);
	if (in->algorithm != STILE_ALGORITHM_CONCURRENCY)
		return;
	if (in->window_place.line)
		diag_error(build->diag, in->window_place,
			   "window is for limiters of a rate, and '%s' has concurrency, which "
			   "counts what is open at a time: leave it out",
			   in->name.text);
	if (!in->has_unit)
		out->unit = STILE_UNIT_CONNECTIONS;
	out->queue = (uint16_t)in->queue;
	out->window = (handshake ? handshake : HANDSHAKE_DEFAULT) + SLICE_MARGIN;
}

/* What @listener has of the limiters of @attachments. */
static void note_places(struct policy_build *build, const uint16_t *attachments, size_t n,
			struct stile_listener *listener)
{
	const struct stile_policy *kernel = &build->policy->kernel;

	for (size_t i = 0; i < n; i++) {
		const struct stile_limiter *limiter =
			&kernel->limiters[kernel->attachments[attachments[i]].limiter];

		if (!attachments[i] || limiter->algorithm != STILE_ALGORITHM_CONCURRENCY)
			continue;
		listener->places |= STILE_PLACES_HELD;
		if (limiter->unit == STILE_UNIT_ESTABLISHMENTS)
			listener->places |= STILE_PLACES_AWAITED;
	}
}

static void place_listener(struct policy_build *build, size_t index)
{
	const struct config_listener *in = &build->config->listeners[index];
	uint16_t slot = build->listeners[index];
	struct stile_listener *out = &build->policy->kernel.listeners[slot];

	note_places(build, out->judges, STILE_JUDGES_MAX, out);
	note_places(build, out->edges, STILE_INTERFACES_MAX, out);
	if (in->evicts && !out->places)
		diag_warning(build->diag, in->evicts_place,
			     "on_limit: evict-idle of '%s' has no effect: no limiter of "
			     "algorithm: concurrency judges there",
			     in->name.text);
	if (!out->places)
		return;
	if (in->evicts)
		out->places |= STILE_PLACES_EVICTED;
	build->policy->kernel.handshake_sets = HANDSHAKE_SETS;
}

void policy_place_listeners(struct policy_build *build)
{
	struct stile_policy *kernel = &build->policy->kernel;
	const struct policy_source *source = build->policy->sources;

	for (size_t n = build->policy->n_sources; n; n--, source++)
		note_places(build, source->value.judges, STILE_JUDGES_MAX,
			    &kernel->listeners[source->key.listener]);
	for (size_t i = 0; i < build->config->n_listeners; i++)
		place_listener(build, i);
	if (kernel->handshake_sets && !kernel->flow_sets)
		policy_build_flow_keys(build);
}

uint64_t policy_handshake_bytes(const struct policy *policy)
{
	return (uint64_t)policy->kernel.handshake_sets * sizeof(struct stile_handshake_set);
}
