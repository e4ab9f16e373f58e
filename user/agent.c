/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A percentage is of the weight that the load balancer gives the server; "up" and "down" are what
 * it takes it for. Where the level is not known it keeps what it was told last, as it does where
 * nobody answers.
 */
#include <errno.h>

#include "agent.h"
#include "exchange.h"
#include "level.h"
#include "socket.h"
#include "util.h"

struct agent {
	struct agent_rules rules;
	struct exchange *exchange;
	uint16_t port;
};

static char *answer(const char *request, size_t length, size_t *ret_length, void *context)
{
	const struct agent *agent = context;
	int level = agent->rules.level(agent->rules.context), n;
	char *text = NULL;

	(void)request; /* what it sends (agent-send) is no matter */
	(void)length;
	if (level < 0)
		return NULL;
	if (level == 0)
		n = asprintf(&text, "down#nobody listens\n");
	else
		n = asprintf(&text, "up %u%%\n", level_percent((uint8_t)level));
	if (n < 0)
		return NULL;
	*ret_length = (size_t)n;
	return text;
}

int agent_listen(struct event_base *base, const char *host, uint16_t port,
		 const struct agent_rules *rules, struct agent **ret_agent)
{
	autofree struct agent *agent = calloc(1, sizeof(*agent));
	const struct exchange_rules exchange = {
		.request_max = 1,
		.clients_max = AGENT_CLIENTS_MAX,
		.patience_ms = AGENT_PATIENCE_MS,
		.answer = answer,
		.context = agent,
	};
	autofd int fd = -1;
	int result;

	if (!agent)
		return -ENOMEM;
	agent->rules = *rules;
	fd = socket_listen(host, port, &agent->port);
	if (fd < 0)
		return fd;
	result = exchange_listen(base, fd, &exchange, &agent->exchange);
	if (result < 0)
		return result;
	(void)take_fd(&fd); /* the exchange's now */
	*ret_agent = agent;
	agent = NULL;
	return 0;
}

uint16_t agent_port(const struct agent *agent)
{
	return agent->port;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	exchange_free(agent->exchange);
	free(agent);
}
