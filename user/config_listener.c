/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The blocks listeners and interfaces: what is protected, where, and by which limiters. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_block.h"
#include "names.h"
#include "util.h"

/* Of one listener: whoever has more of them wants every address, or ranges. */
#define ADDRESSES_MAX 256
#define PORTS_MAX 256

/* Twice the half minute after which most protocols on UDP send something to keep a flow open. */
#define SESSION_TIMEOUT (60 * STILE_WINDOW_NS_MIN)

static void read_protocol(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_words words = { policy_protocol_names, NULL };
	struct config_listener *listener = object;
	unsigned int protocol;

	if (config_value_word(reader, value, words, &protocol))
		listener->protocol = (enum stile_protocol)protocol;
}

static void read_addresses(struct config_reader *reader, const struct tree_node *value,
			   void *object)
{
	struct config_listener *listener = object;
	const struct tree_node *item;
	struct tree_walk walk = { 0 };

	while ((item = config_value_item(reader, value, &walk, "a list of addresses"))) {
		struct config_prefix host, *grown;

		if (!config_value_address(reader, item, &host))
			continue;
		if (listener->n_addresses == ADDRESSES_MAX) {
			config_value_refuse(reader, item, "at most %d addresses", ADDRESSES_MAX);
			return;
		}
		grown = config_value_grow(reader, listener->addresses, listener->n_addresses,
					  sizeof(*grown));
		if (!grown)
			return;
		listener->addresses = grown;
		grown[listener->n_addresses++] = host;
	}
}

/* An empty list is no list of every port: who empties one means none. */
static void read_ports(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char expected[] = "a list of ports such as [80, 8000-8099]";
	struct config_listener *listener = object;
	const struct tree_node *item;
	struct tree_walk walk = { 0 };

	if (value->kind == TREE_LIST && !value->first && !value->open)
		config_value_mistake(reader, value->place,
				     "ports: found an empty list, expected %s; leave it out for "
				     "every port",
				     expected);
	while ((item = config_value_item(reader, value, &walk, expected))) {
		struct config_ports ports, *grown;

		if (!config_value_ports(reader, item, &ports))
			continue;
		if (listener->n_ports == PORTS_MAX) {
			config_value_refuse(reader, item, "at most %d ports and ranges", PORTS_MAX);
			return;
		}
		grown = config_value_grow(reader, listener->ports, listener->n_ports,
					  sizeof(*grown));
		if (!grown)
			return;
		listener->ports = grown;
		grown[listener->n_ports++] = ports;
	}
}

static void read_listener_judges(struct config_reader *reader, const struct tree_node *value,
				 void *object)
{
	struct config_listener *listener = object;

	config_value_judges(reader, value, false, &listener->judges);
}

static void read_new_sources(struct config_reader *reader, const struct tree_node *value,
			     void *object)
{
	struct config_listener *listener = object;

	config_value_name(reader, value, &listener->new_sources);
}

static void read_source(struct config_reader *reader, const struct tree_node *key,
			const struct tree_node *value, struct config_listener *listener)
{
	struct config_source source = { 0 }, *grown;
	bool good = config_value_prefix(reader, key, &source.prefix);

	good = config_value_judges(reader, value, true, &source.judges) && good;
	if (key->repeated || (!good && source.judges.n_names == 0))
		return;
	grown = config_value_grow(reader, listener->sources, listener->n_sources, sizeof(*grown));
	if (!grown)
		return;
	listener->sources = grown;
	grown[listener->n_sources++] = source;
}

static void read_sources(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_listener *listener = object;
	const struct tree_node *key, *judges;
	struct tree_walk walk = { 0 };

	if (value->kind != TREE_MAP) {
		config_value_refuse(reader, value,
				    "a map of prefixes to limiters, such as {192.0.2.0/24: none}");
		return;
	}
	while (!reader->failed && (key = tree_walk_map(reader->tree, value, &walk, &judges)))
		read_source(reader, key, judges, listener);
}

static void read_session_timeout(struct config_reader *reader, const struct tree_node *value,
				 void *object)
{
	const struct config_range range = { STILE_WINDOW_NS_MIN, STILE_WINDOW_NS_MAX };
	struct config_listener *listener = object;

	listener->session_timeout_place = value->place;
	config_value_duration(reader, value, range, &listener->session_timeout);
}

static void read_on_limit(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char *const names[] = { "refuse", "evict-idle", NULL };
	const struct config_words words = { names, NULL };
	struct config_listener *listener = object;
	unsigned int evicts;

	listener->evicts_place = value->place;
	if (config_value_word(reader, value, words, &evicts))
		listener->evicts = evicts;
}

static void read_prove_sources(struct config_reader *reader, const struct tree_node *value,
			       void *object)
{
	const struct config_words words = { policy_prove_names, NULL };
	struct config_listener *listener = object;
	unsigned int proves;

	listener->proves_place = value->place;
	if (config_value_word(reader, value, words, &proves))
		listener->proves = (enum stile_prove)proves;
}

static const struct config_field listener_fields[] = {
	{ "protocol", read_protocol },
	{ "addresses", read_addresses },
	{ "ports", read_ports },
	{ "rate_limiter_name", read_listener_judges },
	{ "new_sources_rate_limiter_name", read_new_sources },
	{ "sources", read_sources },
	{ "session_timeout", read_session_timeout },
	{ "on_limit", read_on_limit },
	{ "agent_check", config_read_agent_check },
	{ "unavailable_below", config_read_unavailable_below },
	{ "app_protocol", config_read_app_protocol },
	{ "dns_answer", config_read_dns_answer },
	{ "raw", config_read_raw },
	{ "listen_backlog", config_read_listen_backlog },
	{ "accept_queue_limit", config_read_accept_queue_limit },
	{ "prove_sources", read_prove_sources },
	{ NULL, NULL },
};

static const struct config_asked listener_asked[] = {
	{ "protocol", CONFIG_PROTOCOL }, { "addresses", CONFIG_ADDRESSES },
	{ "ports", CONFIG_PORTS },	 { "app_protocol", CONFIG_LANGUAGE },
	{ "raw", CONFIG_RAW },		 { NULL, 0 },
};

const struct config_block config_block_listener = {
	.what = "a listener",
	.where = "under listeners",
	.example = "ports",
	.fields = listener_fields,
	.asked = listener_asked,
};

void config_listener_init(struct config_listener *listener)
{
	*listener = (struct config_listener){
		.session_timeout = SESSION_TIMEOUT,
		.level.unavailable_below = CONFIG_UNAVAILABLE_BELOW,
	};
}

void config_listener_release(struct config_listener *listener)
{
	free(listener->addresses);
	free(listener->ports);
	free(listener->sources);
	free(listener->level.agent_host);
	free(listener->raw);
}

/* One whose name is wrong, or another's, is read for its mistakes, and not kept. */
static void read_listener(struct config_reader *reader, const struct tree_node *key,
			  const struct tree_node *value, struct config *config)
{
	struct config_listener listener, *grown = NULL;
	bool good;

	config_listener_init(&listener);
	good = config_value_name(reader, key, &listener.name);
	listener.unsure = config_block_read(reader, value, &config_block_listener, &listener);
	if (good && !key->repeated)
		grown = config_value_grow(reader, config->listeners, config->n_listeners,
					  sizeof(*grown));
	if (!grown) {
		config_listener_release(&listener);
		return;
	}
	config->listeners = grown;
	grown[config->n_listeners++] = listener;
}

void config_read_listeners(struct config_reader *reader, const struct tree_node *value,
			   void *object)
{
	const struct tree_node *key, *listener;
	struct tree_walk walk = { 0 };

	if (value->kind != TREE_MAP) {
		config_value_refuse(reader, value, "a map of names to listeners");
		return;
	}
	while (!reader->failed && (key = tree_walk_map(reader->tree, value, &walk, &listener)))
		read_listener(reader, key, listener, object);
}

static void read_mode(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_words words = { policy_mode_names, NULL };
	struct config_interface *interface = object;
	unsigned int mode;

	if (config_value_word(reader, value, words, &mode))
		interface->mode = (enum stile_mode)mode;
}

static void read_interface_judges(struct config_reader *reader, const struct tree_node *value,
				  void *object)
{
	struct config_interface *interface = object;

	config_value_judges(reader, value, false, &interface->judges);
}

static const struct config_field interface_fields[] = {
	{ "mode", read_mode },
	{ "rate_limiter_name", read_interface_judges },
	{ NULL, NULL },
};

const struct config_block config_block_interface = {
	.what = "an interface",
	.where = "under interfaces",
	.example = "mode",
	.fields = interface_fields,
};

/* What the kernel takes for a name of a network device. */
static bool is_device(const char *name)
{
	if (!*name || strlen(name) >= sizeof(((struct stile_interface *)NULL)->name) ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	for (; *name; name++)
		if (*name == '/' || *name == ':' || isspace((unsigned char)*name))
			return false;
	return true;
}

static void read_interface(struct config_reader *reader, const struct tree_node *key,
			   const struct tree_node *value, struct config *config)
{
	struct config_interface interface = { .name.place = key->place }, *grown;
	const char *name = tree_text(reader->tree, key);
	bool good = is_device(name);

	if (good)
		memcpy(interface.name.text, name, strlen(name));
	else
		config_value_refuse(reader, key, "an interface's name, 15 letters at most");
	if (value->kind != TREE_NOTHING)
		config_block_read(reader, value, &config_block_interface, &interface);
	if (!good || key->repeated)
		return;
	grown = config_value_grow(reader, config->interfaces, config->n_interfaces, sizeof(*grown));
	if (!grown)
		return;
	config->interfaces = grown;
	grown[config->n_interfaces++] = interface;
}

void config_read_interfaces(struct config_reader *reader, const struct tree_node *value,
			    void *object)
{
	static const char expected[] = "a map of interfaces such as {eth0: {mode: auto}}; without "
				       "it, those with a default route";
	const struct tree_node *key, *interface;
	struct tree_walk walk = { 0 };

	if (value->kind != TREE_MAP) {
		config_value_refuse(reader, value, "%s", expected);
		return;
	}
	if (!value->first && !value->open)
		config_value_mistake(reader, value->place,
				     "interfaces: found an empty map, expected %s", expected);
	while (!reader->failed && (key = tree_walk_map(reader->tree, value, &walk, &interface)))
		read_interface(reader, key, interface, object);
}
