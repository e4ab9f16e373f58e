/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks: maps whose keys are fixed. A table says which keys a block has, and what reads each. */
#ifndef STILE_CONFIG_BLOCK_H
#define STILE_CONFIG_BLOCK_H

#include "config_value.h"

/* Reads the value of one key into @object, which is what the block describes. */
typedef void config_field_read(struct config_reader *reader, const struct tree_node *value,
			       void *object);

struct config_field {
	const char *name; /* NULL ends a table */
	config_field_read *read;
};

/* A key that policies ask for, and what they call it. */
struct config_asked {
	const char *name; /* NULL ends a table */
	enum config_part part;
};

struct config_block {
	const char *what;    /* "a listener" */
	const char *where;   /* "under listeners"; NULL: at the top */
	const char *example; /* a key of it */
	const struct config_field *fields;
	const struct config_asked *asked; /* NULL: of none */
};

extern const struct config_block config_block_limiter, config_block_listener,
	config_block_interface;

/*
 * Returns each config_part that is not known: its value is wrong, or it is missing and a key that
 * is not known may have been meant for it.
 */
unsigned int config_block_read(struct config_reader *reader, const struct tree_node *map,
			       const struct config_block *block, void *object);

void config_limiter_init(struct config_limiter *limiter);
void config_limiter_release(struct config_limiter *limiter);
void config_listener_init(struct config_listener *listener);
void config_listener_release(struct config_listener *listener);

/* Keys of a limiter, in config_response.c. */
config_field_read config_read_response, config_read_missing_key, config_read_policy_headers;

/* Keys of a listener, in config_queue.c. */
config_field_read config_read_accept_queue_limit, config_read_listen_backlog;

/* Keys of a listener, in config_level.c. */
#define CONFIG_UNAVAILABLE_BELOW 26 /* a tenth */
config_field_read config_read_agent_check, config_read_unavailable_below;
void config_response_release(struct language_response *response);

/* Keys of a listener, in config_language.c. */
config_field_read config_read_app_protocol, config_read_dns_answer, config_read_raw;

/* Maps of names to such blocks, read into struct config. */
config_field_read config_read_limiters, config_read_listeners, config_read_interfaces;

/* config_bounds.c, into struct config. */
#define CONFIG_MAX_SESSIONS 1000000
#define CONFIG_MAX_CLIENTS 262144
#define CONFIG_REPLIES 100000
config_field_read config_read_max_sessions, config_read_max_clients, config_read_replies,
	config_read_cookies, config_read_reset_text;

/* Keys of the daemon itself. */
config_field_read config_read_user, config_read_control_group, config_read_cgroup;

#endif /* STILE_CONFIG_BLOCK_H */
