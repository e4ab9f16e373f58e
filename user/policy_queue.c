/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accept queues: from when on they are watched, and how long services' own are made. */
#include "policy_build.h"

static void check_protocol(struct policy_build *build, const struct config_listener *listener,
			   struct place place, const char *key)
{
	if (place.line && listener->protocol != STILE_PROTOCOL_TCP &&
	    !(listener->unsure & CONFIG_PROTOCOL))
		diag_error(build->diag, place,
			   "%s is for protocol: tcp only, and '%s' is on udp: there is no accept "
			   "queue",
			   key, listener->name.text);
}

static void build_listener(struct policy_build *build, size_t index)
{
	const struct config_listener *listener = &build->config->listeners[index];
	struct stile_listener *out = &build->policy->kernel.listeners[build->listeners[index]];
	const struct config_queue *queue = &listener->queue;

	check_protocol(build, listener, queue->limit_place, "accept_queue_limit");
	check_protocol(build, listener, queue->backlog_place, "listen_backlog");
	out->accept_limit = queue->limit;
	out->accept_percent = queue->in_percent ? (uint8_t)queue->limit : 0;
	out->backlog = queue->backlog;
	out->backlog_exactly = queue->lowers;
	if (queue->limit && build->machine->queue_backlog)
		build->policy->kernel.accept_limits = 1;
	else if (queue->limit)
		diag_warning(build->diag, queue->limit_place,
			     "accept_queue_limit of '%s' has no effect: this kernel does not tell "
			     "where accept queues are (BTF)",
			     listener->name.text);
	if (queue->limit && !queue->in_percent && queue->backlog && queue->limit > queue->backlog &&
	    queue->lowers)
		diag_warning(build->diag, queue->limit_place,
			     "accept_queue_limit %u of '%s' is never reached: its listen_backlog "
			     "is %u",
			     queue->limit, listener->name.text, queue->backlog);
}

void policy_build_queues(struct policy_build *build)
{
	build->policy->kernel.queue_length = build->machine->queue_length;
	build->policy->kernel.queue_backlog = build->machine->queue_backlog;
	build->policy->kernel.queue_young = build->machine->queue_young;
	for (size_t i = 0; i < build->config->n_listeners; i++)
		build_listener(build, i);
}
