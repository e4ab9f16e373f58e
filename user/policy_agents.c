/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An agent-check says nothing of whom it asks for, so that each address stands for one listener. */
#include <string.h>

#include "policy_build.h"

/* Whether one socket keeps the other off the port: a wildcard is every address of its family. */
static bool hosts_overlap(const char *one, const char *other)
{
	const bool ipv6 = strchr(one, ':'), other_ipv6 = strchr(other, ':');

	if (strcmp(one, other) == 0)
		return true;
	if (strcmp(one, "::") == 0 || strcmp(other, "::") == 0)
		return true; /* which takes IPv4 as well */
	return ipv6 == other_ipv6 && (strcmp(one, "0.0.0.0") == 0 || strcmp(other, "0.0.0.0") == 0);
}

static bool overlap(const struct config_listener *one, const struct config_listener *other)
{
	return other->level.agent_host && one->level.agent_port == other->level.agent_port &&
	       one->level.agent_port &&
	       hosts_overlap(one->level.agent_host, other->level.agent_host);
}

static void check(struct policy_build *build, size_t index)
{
	const struct config *config = build->config;
	const struct config_listener *listener = &config->listeners[index];

	if (!listener->level.agent_host)
		return;
	if (config->metrics_host && listener->level.agent_port &&
	    listener->level.agent_port == config->metrics_port &&
	    hosts_overlap(listener->level.agent_host, config->metrics_host))
		diag_error(build->diag, listener->level.agent_place,
			   "agent_check: metrics are served at '%s' port %u, expected another port",
			   config->metrics_host, config->metrics_port);
	for (size_t i = 0; i < index; i++) {
		if (!overlap(listener, &config->listeners[i]))
			continue;
		diag_error(build->diag, listener->level.agent_place,
			   "agent_check: '%s' port %u answers for listener '%s' (line %u) already, "
			   "expected another port",
			   config->listeners[i].level.agent_host, listener->level.agent_port,
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
