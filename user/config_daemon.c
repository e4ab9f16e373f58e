/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of the daemon as a process: whom it runs as, and who else may ask it. */
#include "config_block.h"

void config_read_user(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config *config = object;

	config_value_name(reader, value, &config->user);
}

void config_read_control_group(struct config_reader *reader, const struct tree_node *value,
			       void *object)
{
	struct config *config = object;

	config_value_name(reader, value, &config->control_group);
}
