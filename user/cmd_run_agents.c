/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon's servers for agent-checks, one for each listener that has one. A reload leaves those
 * alone whose address stays, whomever they answer for from then on.
 */
#include <errno.h>
#include <string.h>

#include "agent.h"
#include "cmd_run_service.h"
#include "util.h"

struct run_agent {
	struct run_agent *next;
	const struct run *run;
	char *host;
	uint16_t port;
	char listener[STILE_NAME_SIZE];
	struct place place;
	struct agent *agent; /* NULL: an older one has the port, see run_agents_adopt() */
};

static int tell_level(void *context)
{
	const struct run_agent *agent = context;

	return run_level(agent->run, agent->listener);
}

static int listen_at(struct run_agent *agent)
{
	const struct agent_rules rules = { .level = tell_level, .context = agent };

	return agent_listen(agent->run->base, agent->host, agent->port, &rules, &agent->agent);
}

void run_agents_free(struct run_agent *agents)
{
	while (agents) {
		struct run_agent *agent = agents;

		agents = agent->next;
		agent_free(agent->agent);
		free(agent->host);
		free(agent);
	}
}

/* The listener of @config that is answered for where @agent stands, or NULL. */
static const struct config_listener *find_listener(const struct config *config,
						   const struct run_agent *agent)
{
	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		if (listener->level.agent_host && listener->level.agent_port == agent->port &&
		    strcmp(listener->level.agent_host, agent->host) == 0)
			return listener;
	}
	return NULL;
}

static struct run_agent *find_agent(const struct run *run, const struct config_listener *listener)
{
	struct run_agent *agent = run->agents;

	while (agent && (agent->port != listener->level.agent_port ||
			 strcmp(agent->host, listener->level.agent_host) != 0))
		agent = agent->next;
	return agent;
}

/* Whether an agent has @port that goes away with @next. */
static bool is_leaving(const struct run *run, const struct config *next, uint16_t port)
{
	for (const struct run_agent *agent = run->agents; agent; agent = agent->next)
		if (agent->port == port && !find_listener(next, agent))
			return true;
	return false;
}

static struct run_agent *agent_new(const struct run *run, const struct config_listener *listener)
{
	struct run_agent *agent = calloc(1, sizeof(*agent));

	if (!agent)
		return NULL;
	agent->run = run;
	agent->port = listener->level.agent_port;
	agent->place = listener->level.agent_place;
	memcpy(agent->listener, listener->name.text, sizeof(agent->listener));
	agent->host = strdup(listener->level.agent_host);
	if (agent->host)
		return agent;
	free(agent);
	return NULL;
}

/* A port that is taken by ourselves, and is to be given up, is taken over then. */
static int bind_agent(struct run *run, const struct config *next,
		      const struct config_listener *listener, struct diag *diag,
		      struct run_agent **agents)
{
	struct run_agent *agent = agent_new(run, listener);
	int error = agent ? listen_at(agent) : -ENOMEM;

	if (error == -EADDRINUSE && is_leaving(run, next, listener->level.agent_port))
		error = 0;
	if (error) {
		diag_error(diag, listener->level.agent_place,
			   "agent_check: listen on '%s' port %u: %s", listener->level.agent_host,
			   listener->level.agent_port, strerror(-error));
		run_agents_free(agent);
		return error;
	}
	agent->next = *agents;
	*agents = agent;
	return 0;
}

int run_agents_bind(struct run *run, const struct config *next, struct diag *diag,
		    struct run_agent **ret_agents)
{
	struct run_agent *agents = NULL;
	int error = 0;

	for (size_t i = 0; i < next->n_listeners && error == 0; i++) {
		const struct config_listener *listener = &next->listeners[i];

		if (listener->level.agent_host && !find_agent(run, listener))
			error = bind_agent(run, next, listener, diag, &agents);
	}
	if (error)
		run_agents_free(agents);
	else
		*ret_agents = agents;
	return error;
}

/* Those that go, and those that stay with their listeners of now. */
static void sort_out(struct run *run, const struct config *next)
{
	struct run_agent **link = &run->agents;

	while (*link) {
		struct run_agent *agent = *link;
		const struct config_listener *listener = find_listener(next, agent);

		if (listener) {
			memcpy(agent->listener, listener->name.text, sizeof(agent->listener));
			link = &agent->next;
			continue;
		}
		*link = agent->next;
		agent->next = NULL;
		run_agents_free(agent);
	}
}

void run_agents_adopt(struct run *run, const struct config *next, struct run_agent *agents,
		      struct diag *diag)
{
	sort_out(run, next);
	while (agents) {
		struct run_agent *agent = agents;
		int error = agent->agent ? 0 : listen_at(agent);

		agents = agent->next;
		agent->next = run->agents;
		run->agents = agent;
		if (error)
			diag_warning(diag, agent->place,
				     "agent_check: listen on '%s' port %u: %s: no agent-checks",
				     agent->host, agent->port, strerror(-error));
	}
}
