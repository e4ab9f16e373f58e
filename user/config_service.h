/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a listener's block says of its service, beside who may use it. */
#ifndef STILE_CONFIG_SERVICE_H
#define STILE_CONFIG_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "diag.h"

/* Of the service's accept queue. */
struct config_queue {
	uint32_t limit;	  /* connections, or part of the queue's size; 0: not given */
	bool in_percent;  /* the latter */
	bool lowers;	  /* listen_backlog: {exactly: ...} */
	uint32_t backlog; /* 0: not given */
	struct place limit_place, backlog_place;
};

/* Who is told of its service level, and how. */
struct config_level {
	char *agent_host; /* of the agent-check; NULL: none */
	uint16_t agent_port;
	struct place agent_place;
	uint8_t unavailable_below; /* health checks are told so */
};

#endif /* STILE_CONFIG_SERVICE_H */
