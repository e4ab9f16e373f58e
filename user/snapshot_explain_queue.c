/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the accept queue would say, by the kernel side's own rule. Which of several sockets a
 * connection would reach depends on its port; the fullest one is asked.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "../bpf/key.h"
#include "../bpf/queue.h"
#include "snapshot_explain_queue.h"
#include "snapshot_maps.h"
#include "util.h"

/* SYNs that the client has sent of late while the queue was over its limit. */
static int read_asked(const struct pins *pins, const struct snapshot *snapshot,
		      const struct snapshot_event *event, uint64_t *ret_asked)
{
	const struct snapshot_shape shape = { "asking", 4, sizeof(struct stile_asking) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	struct stile_asking asking;
	struct address client;
	uint64_t hash;
	uint32_t set;
	int r;

	if (fd < 0)
		return fd;
	memcpy(&client, event->address, sizeof(client));
	hash = queue_hash(snapshot->policy.seed, queue_client(&client), event->listener);
	set = queue_set(hash);
	r = bpf_map_lookup_elem(fd, &set, &asking);
	*ret_asked = 0;
	for (size_t way = 0; r == 0 && way < STILE_ASKING_WAYS; way++) {
		if (queue_is_of(asking.word[way], queue_tag(hash)))
			*ret_asked = queue_asked(asking.word[way], snapshot->now);
	}
	return r;
}

int snapshot_explain_queue(const struct pins *pins, const struct snapshot *snapshot,
			   const struct snapshot_event *event, struct snapshot_queue_look *ret_look)
{
	const struct stile_listener *listener = &snapshot->policy.listeners[event->listener];
	const struct snapshot_queue *queue = &snapshot->queues[event->listener];
	const struct queue_state state = {
		.length = queue->fullest_length,
		.backlog = queue->fullest_backlog,
		.young = (__u32)queue->in_flight, /* or a little fewer: some are old */
	};
	struct snapshot_queue_look look = { .looked = true };
	int r;

	if (!snapshot->policy.accept_limits || !listener->accept_limit || !queue->sockets)
		return 0;
	look.length = state.length;
	look.backlog = state.backlog;
	look.sheds_from = queue_threshold(&state, listener->accept_limit, listener->accept_percent);
	r = read_asked(pins, snapshot, event, &look.asked);
	if (r == 0 && snapshot->policy.connections)
		r = snapshot_held(pins, snapshot, event, &look.held);
	if (r < 0)
		return r;
	look.sheds = queue_length_to(&state, look.asked) >= look.sheds_from &&
		     !queue_has_room(&state, look.asked + look.held);
	*ret_look = look;
	return 0;
}
