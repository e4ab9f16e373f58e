/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HAProxy's agent-check (configuration manual, 5.2: agent-check): whoever connects is told in one
 * line of ASCII how a service does, and the connection is closed. Nothing is read.
 */
#ifndef STILE_AGENT_H
#define STILE_AGENT_H

#include <stdint.h>

#define AGENT_CLIENTS_MAX 32
#define AGENT_PATIENCE_MS 5000

struct agent;
struct event_base;

struct agent_rules {
	/* The level of the service, see level.h; -1: nobody knows, and nothing is said. */
	int (*level)(void *context);
	void *context;
};

/* 0 or negative errno, as of socket_listen(). */
int agent_listen(struct event_base *base, const char *host, uint16_t port,
		 const struct agent_rules *rules, struct agent **ret_agent);
uint16_t agent_port(const struct agent *agent); /* as bound, where 0 was asked for */

/* Closes every connection, too. Before the event base is freed. */
void agent_free(struct agent *agent);

#endif /* STILE_AGENT_H */
