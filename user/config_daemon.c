/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of the daemon as a process: whom it runs as, and who else may ask it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

void config_read_cgroup(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char expected[] = "the absolute path of a cgroup2 directory, or none";
	const char *text = config_value_text(reader, value, expected);
	struct config *config = object;
	bool none = config_value_is(reader, value, "none");
	char *path = NULL;

	if (!text)
		return;
	if (!none && (text[0] != '/' || value->length >= PATH_MAX)) {
		config_value_refuse(reader, value, "%s", expected);
		return;
	}
	if (!none) {
		path = strdup(text);
		reader->failed = reader->failed || !path;
	}
	free(config->cgroup);
	config->cgroup = path;
	config->cgroup_none = none;
	config->cgroup_place = value->place;
}
