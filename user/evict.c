/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel is asked for the client's connections each time: nothing is kept here that could be
 * out of date by the time a connection is to be closed.
 */
#include <errno.h>

#include "evict.h"

struct choice {
	const struct snapshot_places *places;
	uint32_t listener;
	uint32_t idle; /* of the one that is chosen; 0: none is yet */
	struct sockdiag_socket socket;
};

uint32_t evict_idle(const struct sockdiag_socket *socket)
{
	if (!socket->has_times)
		return 0;
	return socket->sent_ago < socket->received_ago ? socket->sent_ago : socket->received_ago;
}

static void consider(const struct sockdiag_socket *socket, void *context)
{
	struct choice *choice = context;
	uint32_t idle = evict_idle(socket);

	if (idle < EVICT_IDLE_MS || idle <= choice->idle ||
	    snapshot_places_at(choice->places, socket->local, socket->local_port) !=
		    choice->listener)
		return;
	choice->idle = idle;
	choice->socket = *socket;
}

int evict_longest_idle(struct sockdiag *diag, const struct snapshot_places *places,
		       const struct prefix *client, uint32_t listener)
{
	const struct sockdiag_query query = {
		.states = 1 << SOCKDIAG_ESTABLISHED | 1 << SOCKDIAG_CLOSE_WAIT,
		.client = client,
		.with_times = true,
	};
	struct choice choice = { .places = places, .listener = listener };
	int error;

	error = sockdiag_each(diag, &query, consider, &choice);
	if (error)
		return error;
	return choice.idle ? sockdiag_destroy(diag, &choice.socket) : -ENOENT;
}
