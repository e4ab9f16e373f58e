/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of a listener that say who is told of its service level, and how. */
#include <stdlib.h>

#include "config_block.h"

#define LEVEL_HIGHEST 255

static void read_listen(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_listener *listener = object;
	char *host;

	listener->level.agent_place = value->place;
	if (!config_value_listen(reader, value, &host, &listener->level.agent_port))
		return;
	free(listener->level.agent_host);
	listener->level.agent_host = host;
}

void config_read_agent_check(struct config_reader *reader, const struct tree_node *value,
			     void *object)
{
	static const struct config_field fields[] = { { "listen", read_listen }, { NULL, NULL } };
	static const struct config_block block = { .what = "agent_check",
						   .example = "listen",
						   .fields = fields };

	config_block_read(reader, value, &block, object);
}

void config_read_unavailable_below(struct config_reader *reader, const struct tree_node *value,
				   void *object)
{
	struct config_listener *listener = object;
	uint64_t level;

	if (config_value_number(reader, value, (struct config_range){ 0, LEVEL_HIGHEST }, &level))
		listener->level.unavailable_below = (uint8_t)level;
}
