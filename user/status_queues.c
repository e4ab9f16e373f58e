/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The accept queues of listeners, as a table and as JSON. */
#include <inttypes.h>

#include "../bpf/queue.h"
#include "status.h"
#include "table_print.h"
#include "util.h"

/* From how many on the fullest socket's queue is over its limit. */
static uint32_t threshold(const struct stile_listener *listener, const struct snapshot_queue *queue)
{
	const struct queue_state state = { .backlog = queue->fullest_backlog };

	return queue_threshold(&state, listener->accept_limit, listener->accept_percent);
}

static void add_queue(const struct stile_listener *listener, const struct snapshot_queue *queue,
		      struct table_print *table)
{
	table_print_cell(table, "%s", listener->name);
	table_print_cell(table, "%" PRIu32, queue->sockets);
	table_print_cell(table, "%" PRIu64, queue->length);
	table_print_cell(table, "%" PRIu64, queue->backlog);
	table_print_cell(table, "%" PRIu32 " of %" PRIu32, queue->fullest_length,
			 queue->fullest_backlog);
	if (listener->accept_limit)
		table_print_cell(table, "%" PRIu32, threshold(listener, queue));
	else
		table_print_cell(table, "-");
	if (listener->backlog)
		table_print_cell(table, listener->backlog_exactly ? "=%" PRIu32 : "%" PRIu32,
				 listener->backlog);
	else
		table_print_cell(table, "-");
	table_print_cell(table, "%" PRIu64, queue->in_flight);
}

int status_print_queues(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false }, { "SOCKETS", true },   { "QUEUED", true },
		{ "BACKLOG", true },   { "FULLEST", true },   { "SHEDS-FROM", true },
		{ "WANTED", true },    { "IN-FLIGHT", true },
	};
	const struct snapshot *snapshot = status->snapshot;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 1; i < STILE_LISTENERS_MAX; i++) {
		if (*snapshot->policy.listeners[i].name && snapshot->queues[i].sockets)
			add_queue(&snapshot->policy.listeners[i], &snapshot->queues[i], &table);
	}
	return status_print_finish(&table, out);
}

json_t *status_queue_json(const struct snapshot *snapshot, uint32_t slot)
{
	const struct stile_listener *listener = &snapshot->policy.listeners[slot];
	const struct snapshot_queue *queue = &snapshot->queues[slot];

	if (listener->protocol != STILE_PROTOCOL_TCP || !snapshot->has_queues)
		return json_null();
	return json_pack(
		"{sI, sI, sI, s{sI, sI}, so, so, sI}", "sockets", (json_int_t)queue->sockets,
		"length", (json_int_t)queue->length, "backlog", (json_int_t)queue->backlog,
		"fullest", "length", (json_int_t)queue->fullest_length, "backlog",
		(json_int_t)queue->fullest_backlog, "sheds_from",
		listener->accept_limit && queue->sockets
			? json_integer((json_int_t)threshold(listener, queue))
			: json_null(),
		"listen_backlog",
		listener->backlog ? json_integer((json_int_t)listener->backlog) : json_null(),
		"in_flight", (json_int_t)queue->in_flight);
}
