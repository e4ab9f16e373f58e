/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of a listener about the service's accept queue: how full it may be, and how long it is. */
#include <stdlib.h>
#include <string.h>

#include "config_block.h"

#define BACKLOG_MAX INT32_MAX /* what listen() takes */

void config_read_accept_queue_limit(struct config_reader *reader, const struct tree_node *value,
				    void *object)
{
	const char *text = value->kind == TREE_SCALAR ? tree_text(reader->tree, value) : "";
	struct config_queue *queue = &((struct config_listener *)object)->queue;
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	unsigned long number = strtoul(text, NULL, 10);

	queue->limit_place = value->place;
	if (digits == 0 || *text == '0' || (*unit && strcmp(unit, "%") != 0) ||
	    number > (*unit ? 100 : BACKLOG_MAX)) {
		config_value_refuse(reader, value,
				    "a part of the queue from 1%% to 100%%, or a number of "
				    "connections from 1 to %d",
				    BACKLOG_MAX);
		return;
	}
	queue->limit = (uint32_t)number;
	queue->in_percent = *unit == '%';
}

static void read_backlog(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_range range = { 1, BACKLOG_MAX };
	struct config_queue *queue = object;
	uint64_t number;

	if (config_value_number(reader, value, range, &number))
		queue->backlog = (uint32_t)number;
}

static void read_exactly(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_queue *queue = object;

	queue->lowers = true;
	read_backlog(reader, value, object);
}

void config_read_listen_backlog(struct config_reader *reader, const struct tree_node *value,
				void *object)
{
	static const struct config_field fields[] = {
		{ "exactly", read_exactly },
		{ NULL, NULL },
	};
	static const struct config_block block = { .what = "listen_backlog",
						   .example = "exactly",
						   .fields = fields };
	struct config_queue *queue = &((struct config_listener *)object)->queue;

	queue->backlog_place = value->place;
	if (value->kind == TREE_MAP && !value->first && !value->merged && !value->flawed)
		config_value_refuse(reader, value, "a backlog, or {exactly: N}");
	else if (value->kind == TREE_MAP)
		config_block_read(reader, value, &block, queue);
	else
		read_backlog(reader, value, queue);
}
