/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stile replay was asked for, and how its result is shown. */
#ifndef STILE_CMD_REPLAY_H
#define STILE_CMD_REPLAY_H

#include "replay.h"

struct replay_request {
	const char *capture, *config;
	struct prefix servers[REPLAY_SERVERS_MAX];
	size_t n_servers;
	unsigned long top; /* clients that are shown; 0: all */
	bool json;
};

/* Prints it as text or JSON. Sorts the clients. Returns an exit code. */
int replay_print(const struct replay_request *request, struct replay *replay,
		 const struct policy *policy);

#endif /* STILE_CMD_REPLAY_H */
