/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same for programs: mistakes and warnings, or what would be in force. */
#include <jansson.h>

#include "cmd_check.h"
#include "names.h"
#include "phrase.h"
#include "reading.h"

/* What a path of any bytes becomes where it is no UTF-8: nothing. */
static json_t *text_or_null(const char *text)
{
	json_t *json = json_string(text);

	return json ? json : json_null();
}

static json_t *entries(const struct diag *diag, enum diag_severity severity)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diag->n_entries && array; i++) {
		const struct diag_entry *entry = &diag->entries[i];

		if (entry->severity == severity)
			reading_append(&array,
				       json_pack("{s:i, s:i, s:o}", "line", entry->place.line,
						 "column", entry->place.column, "text",
						 text_or_null(entry->text)));
	}
	return array;
}

static json_t *names(const struct config_judges *judges)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < judges->n_names && array; i++)
		reading_append(&array, json_string(judges->names[i].text));
	return array;
}

static json_t *prefixes(const struct config_prefix *list, size_t n)
{
	json_t *array = json_array();
	char text[PREFIX_TEXT_SIZE];

	for (size_t i = 0; i < n && array; i++)
		reading_append(&array, json_string(prefix_format(&list[i].prefix, text)));
	return array;
}

static json_t *interfaces(const struct config *config)
{
	json_t *array = json_array();

	for (size_t i = 0; i < config->n_interfaces && array; i++) {
		const struct config_interface *interface = &config->interfaces[i];

		reading_append(&array, json_pack("{s:s, s:s, s:o}", "name", interface->name.text,
						 "mode", policy_mode_names[interface->mode],
						 "limiters", names(&interface->judges)));
	}
	return array;
}

static json_t *limiter(const struct stile_limiter *from)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:I, s:s, s:s, s:I, s:s, s:s, s:I}", "name", from->name, "algorithm",
		policy_algorithm_names[from->algorithm], "limit", (json_int_t)from->limit, "unit",
		phrase_unit(from), "action", policy_action_names[from->action], "max_keys",
		(json_int_t)from->max_keys, "max_keys_action", policy_full_names[from->full],
		"hash", policy_hash_names[from->hash], "memory_bytes",
		(json_int_t)policy_table_bytes(from));
	bool tokens = from->algorithm == STILE_ALGORITHM_TOKEN_BUCKET;
	bool places = from->algorithm == STILE_ALGORITHM_CONCURRENCY;
	bool good;

	if (!json)
		return NULL;
	good = json_object_set_new(json, "burst",
				   tokens ? json_integer((json_int_t)from->burst) : json_null()) ==
	       0;
	good = good &&
	       json_object_set_new(json, "window_seconds",
				   places ? json_null() : reading_seconds(from->window)) == 0;
	good = good && json_object_set_new(json, "queue",
					   places ? json_integer(from->queue) : json_null()) == 0;
	if (good && from->keyed)
		good = json_object_set_new(json, "keys",
					   json_pack("{s:i, s:i}", "ipv4_prefix", from->ipv4_prefix,
						     "ipv6_prefix", from->ipv6_prefix)) == 0;
	else if (good)
		good = json_object_set_new(json, "keys", json_null()) == 0;
	if (good)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *limiters(const struct check *check)
{
	json_t *array = json_array();

	for (size_t i = 0; i < check->config->n_limiters && array; i++)
		reading_append(&array,
			       limiter(check_limiter(check, check->config->limiters[i].name.text)));
	return array;
}

static json_t *ports(const struct config_listener *from)
{
	json_t *array = json_array();

	for (size_t i = 0; i < from->n_ports && array; i++)
		reading_append(&array, json_pack("{s:i, s:i}", "first", from->ports[i].first,
						 "last", from->ports[i].last));
	return array;
}

static json_t *sources(const struct config_listener *from)
{
	json_t *array = json_array();
	char text[PREFIX_TEXT_SIZE];

	for (size_t i = 0; i < from->n_sources && array; i++)
		reading_append(&array,
			       json_pack("{s:s, s:o}", "source",
					 prefix_format(&from->sources[i].prefix.prefix, text),
					 "limiters", names(&from->sources[i].judges)));
	return array;
}

static json_t *timeout(const struct config_listener *from)
{
	if (from->protocol != STILE_PROTOCOL_UDP)
		return json_null();
	return reading_seconds(from->session_timeout);
}

/* As the file has it. */
static json_t *queue_limit(const struct config_queue *queue)
{
	if (!queue->limit)
		return json_null();
	return queue->in_percent ? json_sprintf("%u%%", queue->limit)
				 : json_integer((json_int_t)queue->limit);
}

static json_t *backlog(const struct config_queue *queue)
{
	if (!queue->backlog)
		return json_null();
	return queue->lowers ? json_pack("{s:I}", "exactly", (json_int_t)queue->backlog)
			     : json_integer((json_int_t)queue->backlog);
}

/* NULL: not given. */
static const char *given(const struct config_name *name)
{
	return *name->text ? name->text : NULL;
}

static json_t *agent_check(const struct config_listener *from)
{
	if (!from->level.agent_host)
		return json_null();
	return json_pack("{s:s, s:i}", "host", from->level.agent_host, "port",
			 from->level.agent_port);
}

static json_t *listeners(const struct config *config)
{
	json_t *array = json_array();

	for (size_t i = 0; i < config->n_listeners && array; i++) {
		const struct config_listener *from = &config->listeners[i];

		reading_append(
			&array,
			json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, "
				  "s:s?}",
				  "name", from->name.text, "protocol",
				  policy_protocol_names[from->protocol], "addresses",
				  prefixes(from->addresses, from->n_addresses), "ports",
				  ports(from), "limiters", names(&from->judges), "sources",
				  sources(from), "session_timeout_seconds", timeout(from),
				  "accept_queue_limit", queue_limit(&from->queue), "listen_backlog",
				  backlog(&from->queue), "agent_check", agent_check(from),
				  "unavailable_below", from->level.unavailable_below,
				  "prove_sources", policy_prove_names[from->proves],
				  "new_sources_limiter", given(&from->new_sources)));
	}
	return array;
}

static json_t *in_force(const struct check *check)
{
	const struct config *config = check->config;

	return json_pack(
		"{s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:s?, s:i, s:s, s:{s:o, s:s}}",
		"enabled", config->enabled, "interfaces", interfaces(config), "trusted",
		prefixes(config->trusted, config->n_trusted), "blocked",
		prefixes(config->blocked, config->n_blocked), "rate_limiters", limiters(check),
		"listeners", listeners(config), "max_sessions", (json_int_t)config->max_sessions,
		"replies_per_second", (json_int_t)config->replies_per_second,
		"session_memory_bytes", (json_int_t)policy_session_bytes(check->policy),
		"metrics_host", config->metrics_host, "metrics_port", config->metrics_port,
		"on_stop", config->keep_on_stop ? "keep" : "detach", "watchdog", "after_seconds",
		reading_seconds(config->watchdog.after), "then",
		policy_watchdog_names[config->watchdog.then]);
}

int check_print_json(const struct check *check)
{
	const struct diag *diag = check->diag;

	return reading_print_json(
		json_pack("{s:o, s:b, s:I, s:o, s:o, s:o}", "file",
			  check->defaults ? json_null() : text_or_null(diag->file), "valid",
			  diag->n_errors == 0, "n_mistakes", (json_int_t)diag->n_errors, "mistakes",
			  entries(diag, DIAG_ERROR), "warnings", entries(diag, DIAG_WARNING),
			  "in_force", check->config ? in_force(check) : json_null()));
}
