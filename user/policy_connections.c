/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where open connections are counted, and the numbers that tell owners of the same slot apart:
 * sockets outlive policies, and each remembers whom it was counted for.
 */
#include <string.h>

#include "policy_build.h"

uint32_t policy_next_serial(struct policy_build *build)
{
	return ++build->policy->kernel.serials;
}

static uint32_t serial_before(const struct policy_build *build, uint16_t slot)
{
	const struct stile_listener *before = &build->previous->listeners[slot];
	const struct stile_listener *now = &build->policy->kernel.listeners[slot];

	return strcmp(before->name, now->name) == 0 ? before->serial : 0;
}

void policy_build_connections(struct policy_build *build)
{
	const struct config *config = build->config;
	const struct stile_policy *previous = build->previous;
	struct stile_policy *kernel = &build->policy->kernel;

	kernel->serials = previous->serials;
	for (size_t i = 0; i < config->n_listeners; i++) {
		uint16_t slot = build->listeners[i];
		uint32_t serial = serial_before(build, slot);

		kernel->listeners[slot].serial = serial ? serial : policy_next_serial(build);
		if (config->listeners[i].protocol == STILE_PROTOCOL_TCP)
			kernel->connections = !config->cgroup_none;
	}
	kernel->max_clients = config->max_clients;
	kernel->holders = previous->holders && previous->max_clients == config->max_clients
				  ? previous->holders
				  : policy_next_serial(build);
}
