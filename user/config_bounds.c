/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds of the whole, and what else all listeners share. */
#include "config_block.h"

#define MAX_SESSIONS_MAX 100000000 /* 1.8 GB of kernel memory */
#define MAX_CLIENTS_MAX 10000000   /* 1 GB of kernel memory, while so many are connected */

void config_read_max_sessions(struct config_reader *reader, const struct tree_node *value,
			      void *object)
{
	struct config *config = object;
	uint64_t n;

	if (config_value_number(reader, value, (struct config_range){ 1, MAX_SESSIONS_MAX }, &n))
		config->max_sessions = (uint32_t)n;
}

void config_read_max_clients(struct config_reader *reader, const struct tree_node *value,
			     void *object)
{
	struct config *config = object;
	uint64_t n;

	if (config_value_number(reader, value, (struct config_range){ 1, MAX_CLIENTS_MAX }, &n))
		config->max_clients = (uint32_t)n;
}

void config_read_replies(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config *config = object;
	uint64_t n;

	if (config_value_number(reader, value, (struct config_range){ 0, STILE_TOKEN_RATE_MAX },
				&n))
		config->replies_per_second = (uint32_t)n;
}

/* A bound that forbids them all would lock everybody out as soon as sources are proven. */
void config_read_cookies(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config *config = object;
	uint64_t n;

	if (config_value_number(reader, value, (struct config_range){ 1, STILE_TOKEN_RATE_MAX },
				&n))
		config->cookies_per_second = (uint32_t)n;
}

void config_read_reset_text(struct config_reader *reader, const struct tree_node *value,
			    void *object)
{
	struct config *config = object;

	config_value_bool(reader, value, &config->reset_text);
}
