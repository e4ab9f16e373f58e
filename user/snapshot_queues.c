/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of several sockets at one port each has a queue of its own: they are summed, and the fullest is
 * told of beside, for that is where clients are lost first. A socket that serves several listeners
 * counts for each.
 */
#include <errno.h>
#include <string.h>

#include "snapshot_queues.h"

struct counting {
	const struct snapshot_places *places;
	struct snapshot_queue *queues;
	const struct sockdiag_socket *socket;
};

/* Whether @one is fuller: their parts are compared as fractions. */
static bool is_fuller(const struct sockdiag_socket *one, const struct snapshot_queue *other)
{
	return (uint64_t)one->queued * (other->fullest_backlog + UINT64_C(1)) >
	       (uint64_t)other->fullest_length * (one->room + UINT64_C(1));
}

static void add(uint32_t listener, void *context)
{
	const struct counting *counting = context;
	const struct sockdiag_socket *socket = counting->socket;
	struct snapshot_queue *queue = &counting->queues[listener];

	if (queue->sockets == 0 || is_fuller(socket, queue)) {
		queue->fullest_length = socket->queued;
		queue->fullest_backlog = socket->room;
	}
	queue->sockets++;
	queue->length += socket->queued;
	queue->backlog += socket->room;
}

static void add_listening(const struct sockdiag_socket *socket, void *context)
{
	struct counting *counting = context;

	counting->socket = socket;
	snapshot_places_served(counting->places, socket, add, counting);
}

static void add_in_flight(const struct sockdiag_socket *socket, void *context)
{
	const struct counting *counting = context;

	counting->queues[snapshot_places_at(counting->places, socket->local, socket->local_port)]
		.in_flight++;
}

int snapshot_queues_read(struct sockdiag *diag, const struct snapshot_places *places,
			 struct snapshot_queue ret_queues[STILE_LISTENERS_MAX])
{
	const struct sockdiag_query listening = { .states = 1 << SOCKDIAG_LISTEN };
	const struct sockdiag_query in_flight = { .states = 1 << SOCKDIAG_SYN_RECV };
	struct counting counting = { .places = places, .queues = ret_queues };
	int r;

	memset(ret_queues, 0, STILE_LISTENERS_MAX * sizeof(*ret_queues));
	r = sockdiag_each(diag, &listening, add_listening, &counting);
	return r < 0 ? r : sockdiag_each(diag, &in_flight, add_in_flight, &counting);
}

static bool has_tcp(const struct stile_policy *policy)
{
	for (size_t i = 1; i < STILE_LISTENERS_MAX; i++) {
		if (*policy->listeners[i].name &&
		    policy->listeners[i].protocol == STILE_PROTOCOL_TCP)
			return true;
	}
	return false;
}

int snapshot_queues_take(const struct pins *pins, struct snapshot *snapshot)
{
	struct snapshot_places *places;
	struct sockdiag *diag;
	int r;

	if (!has_tcp(&snapshot->policy))
		return 0;
	r = snapshot_places_read(pins, &snapshot->policy, &places);
	if (r < 0)
		return r;
	if (sockdiag_open(&diag) == 0) {
		snapshot->has_queues = snapshot_queues_read(diag, places, snapshot->queues) == 0;
		sockdiag_close(diag);
	}
	snapshot_places_free(places);
	return 0;
}
