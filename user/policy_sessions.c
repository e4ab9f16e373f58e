/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sessions on udp: whether any limiter counts them, how long one may be silent, and their table. */
#include <string.h>

#include "policy_build.h"

#define WAYS_PER_10_SESSIONS 22 /* as for buckets: hardly a set is full while others have room */

static bool counts_sessions(const struct policy_build *build, size_t index)
{
	const struct stile_limiter *limiter =
		&build->policy->kernel.limiters[build->limiters[index]];

	return build->uses[index][STILE_PROTOCOL_UDP].used && limiter->unit != STILE_UNIT_DATAGRAMS;
}

static void build_listener(struct policy_build *build, size_t index)
{
	const struct config_listener *listener = &build->config->listeners[index];
	struct stile_listener *out = &build->policy->kernel.listeners[build->listeners[index]];

	out->session_idle = (uint32_t)(listener->session_timeout >> STILE_FLOW_SHIFT);
	if (listener->session_timeout_place.line && listener->protocol != STILE_PROTOCOL_UDP &&
	    !(listener->unsure & CONFIG_PROTOCOL))
		diag_error(build->diag, listener->session_timeout_place,
			   "session_timeout is for protocol: udp only, and '%s' is on tcp",
			   listener->name.text);
}

void policy_build_flow_keys(struct policy_build *build)
{
	struct stile_policy *kernel = &build->policy->kernel;
	const struct policy_machine *machine = build->machine;

	if (build->previous->flow_sets || build->previous->handshake_sets) {
		memcpy(kernel->flow_keys, build->previous->flow_keys, sizeof(kernel->flow_keys));
		return;
	}
	for (size_t i = 0; i < STILE_FLOW_KEYS; i++)
		kernel->flow_keys[i] = machine->random(machine->context);
}

void policy_build_sessions(struct policy_build *build)
{
	const uint64_t ways = 10ULL * STILE_FLOW_WAYS;
	bool counted = false;

	for (size_t i = 0; i < build->config->n_listeners; i++)
		build_listener(build, i);
	for (size_t i = 0; i < build->config->n_limiters; i++)
		counted |= counts_sessions(build, i);
	if (!counted)
		return;
	build->policy->kernel.max_sessions = build->config->max_sessions;
	build->policy->kernel.flow_sets =
		(uint32_t)((build->config->max_sessions * (uint64_t)WAYS_PER_10_SESSIONS + ways -
			    1) /
			   ways);
	policy_build_flow_keys(build);
}

uint64_t policy_session_bytes(const struct policy *policy)
{
	return (uint64_t)policy->kernel.flow_sets * sizeof(struct stile_flow_set);
}
