/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An agent-check says nothing of whom it asks for, so that each address stands for one listener. */
#include <string.h>

#include "policy_build.h"

static bool same(const struct config_listener *one, const struct config_listener *other)
{
	return other->level.agent_host && one->level.agent_port == other->level.agent_port &&
	       one->level.agent_port && strcmp(one->level.agent_host, other->level.agent_host) == 0;
}

static void check(struct policy_build *build, size_t index)
{
	const struct config *config = build->config;
	const struct config_listener *listener = &config->listeners[index];

	if (!listener->level.agent_host)
		return;
	if (config->metrics_host && listener->level.agent_port &&
	    listener->level.agent_port == config->metrics_port &&
	    strcmp(listener->level.agent_host, config->metrics_host) == 0)
		diag_error(build->diag, listener->level.agent_place,
			   "agent_check: metrics are served at '%s' port %u, expected another port",
			   listener->level.agent_host, listener->level.agent_port);
	for (size_t i = 0; i < index; i++) {
		if (!same(listener, &config->listeners[i]))
			continue;
		diag_error(build->diag, listener->level.agent_place,
			   "agent_check: '%s' port %u answers for listener '%s' (line %u) already, "
			   "expected another port",
			   listener->level.agent_host, listener->level.agent_port,
			   config->listeners[i].name.text,
			   config->listeners[i].level.agent_place.line);
		return;
	}
}

void policy_check_agents(struct policy_build *build)
{
	for (size_t i = 0; i < build->config->n_listeners; i++)
		check(build, i);
}
