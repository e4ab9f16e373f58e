/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The block rate_limiters: names, defaults and meaning are those of Trickster's rate limiting. */
#include <string.h>

#include "config_block.h"
#include "names.h"
#include "util.h"

#define LIMIT_MAX (STILE_TOKEN_RATE_MAX * (STILE_WINDOW_NS_MAX / STILE_WINDOW_NS_MIN))
_Static_assert(LIMIT_MAX + 1 == CONFIG_COUNT_OVER, "the highest that any algorithm takes");
#define MAX_KEYS_MAX 100000000 /* 5 GB of kernel memory and more */

static void read_algorithm(struct config_reader *reader, const struct tree_node *value,
			   void *object)
{
	const struct config_words words = { policy_algorithm_names, NULL };
	struct config_limiter *limiter = object;
	unsigned int algorithm;

	if (config_value_word(reader, value, words, &algorithm))
		limiter->algorithm = (enum stile_algorithm)algorithm;
}

static void read_action(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_words words = { policy_action_names, NULL };
	struct config_limiter *limiter = object;
	unsigned int action;

	if (config_value_word(reader, value, words, &action))
		limiter->action = (enum stile_action)action;
}

static void read_unit(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char *const later[] = { "packets", NULL };
	const struct config_words words = { policy_unit_names, later };
	struct config_limiter *limiter = object;
	unsigned int unit;

	if (config_value_is(reader, value, "requests")) {
		config_value_mistake(
			reader, value->place,
			"unit: 'requests' are read by an HTTP proxy, within a "
			"connection: Stile decides at its first packet; use connections");
		return;
	}
	if (!config_value_word(reader, value, words, &unit))
		return;
	limiter->unit = (enum stile_unit)unit;
	limiter->has_unit = true;
	limiter->unit_place = value->place;
}

static void read_full(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_words words = { policy_full_names, NULL };
	struct config_limiter *limiter = object;
	unsigned int full;

	if (config_value_word(reader, value, words, &full))
		limiter->full = (enum stile_full)full;
}

static void read_hash(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_words words = { policy_hash_names, NULL };
	struct config_limiter *limiter = object;
	unsigned int hash;

	if (config_value_word(reader, value, words, &hash))
		limiter->hash = (enum stile_hash)hash;
}

static void read_limit(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_limiter *limiter = object;

	limiter->limit_place = value->place;
	config_value_count(reader, value, &limiter->limit);
}

static void read_burst(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_limiter *limiter = object;

	limiter->burst_place = value->place;
	config_value_count(reader, value, &limiter->burst);
}

static void read_queue(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_limiter *limiter = object;

	limiter->queue_place = value->place;
	config_value_number(reader, value, (struct config_range){ 0, STILE_QUEUE_MAX },
			    &limiter->queue);
}

static void read_window(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct config_range range = { STILE_WINDOW_NS_MIN, STILE_WINDOW_NS_MAX };
	struct config_limiter *limiter = object;

	limiter->window_place = value->place;
	config_value_duration(reader, value, range, &limiter->window);
}

static void read_ipv4_prefix(struct config_reader *reader, const struct tree_node *value,
			     void *object)
{
	struct config_limiter *limiter = object;
	uint64_t bits;

	if (config_value_number(reader, value, (struct config_range){ 0, 32 }, &bits))
		limiter->ipv4_prefix = (uint8_t)bits;
}

static void read_ipv6_prefix(struct config_reader *reader, const struct tree_node *value,
			     void *object)
{
	struct config_limiter *limiter = object;
	uint64_t bits;

	limiter->ipv6_prefix_place = value->place;
	if (config_value_number(reader, value, (struct config_range){ 0, 128 }, &bits))
		limiter->ipv6_prefix = (uint8_t)bits;
}

static void read_max_keys(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_limiter *limiter = object;
	uint64_t keys;

	if (config_value_number(reader, value, (struct config_range){ 1, MAX_KEYS_MAX }, &keys))
		limiter->max_keys = (uint32_t)keys;
}

/* What a proxy could count by: where it reads it, or NULL where no proxy knows @key either. */
static const char *proxy_key_source(const char *key)
{
	static const struct {
		const char *name, *source;
		bool begins; /* a name of its own follows */
	} keys[] = {
		{ "host", "an HTTP request", false },
		{ "header:", "an HTTP request", true },
		{ "cookie:", "an HTTP request", true },
		{ "query:", "an HTTP request", true },
		{ "query", "an HTTP request", false },
		{ "method", "an HTTP request", false },
		{ "path", "an HTTP request", false },
		{ "sni", "a TLS handshake", false },
		{ "proxy_tlv:", "a PROXY protocol header", true },
		{ "user", "a session that has logged in", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].begins ? strncmp(key, keys[i].name, strlen(keys[i].name)) == 0
				   : strcmp(key, keys[i].name) == 0)
			return keys[i].source;
	return NULL;
}

static bool read_key(struct config_reader *reader, const struct tree_node *item)
{
	static const char *const names[] = { "client_ip", NULL };
	const struct config_words words = { names, NULL };
	const char *source = NULL;
	char quoted[DIAG_QUOTE_SIZE];
	unsigned int ignored;

	if (item->kind == TREE_SCALAR)
		source = proxy_key_source(tree_text(reader->tree, item));
	if (!source)
		return config_value_word(reader, item, words, &ignored);
	config_value_mistake(
		reader, item->place,
		"keys: %s is read from %s, which only a proxy sees: Stile decides at a "
		"connection's first packet; use client_ip",
		diag_quote(tree_text(reader->tree, item), quoted), source);
	return false;
}

static void read_keys(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char expected[] = "a list: [client_ip], or [] for one bucket for every event";
	struct config_limiter *limiter = object;
	const struct tree_node *item;
	struct tree_walk walk = { 0 };
	unsigned int n = 0, n_read = 0;

	if (value->kind == TREE_NOTHING || value->kind == TREE_MAP) {
		config_value_refuse(reader, value, "%s", expected);
		return;
	}
	while ((item = config_value_item(reader, value, &walk, expected))) {
		n++;
		if (!read_key(reader, item))
			continue;
		if (n_read++)
			config_value_refuse(reader, item, "each key once");
	}
	limiter->keyed = n > 0;
}

static const struct config_field fields[] = {
	{ "keys", read_keys },
	{ "ipv4_prefix", read_ipv4_prefix },
	{ "ipv6_prefix", read_ipv6_prefix },
	{ "algorithm", read_algorithm },
	{ "limit", read_limit },
	{ "window", read_window },
	{ "burst", read_burst },
	{ "queue", read_queue },
	{ "unit", read_unit },
	{ "action", read_action },
	{ "max_keys", read_max_keys },
	{ "max_keys_action", read_full },
	{ "hash", read_hash },
	{ "response", config_read_response },
	{ "missing_key", config_read_missing_key },
	{ "policy_headers", config_read_policy_headers },
	{ NULL, NULL },
};

static const struct config_asked asked[] = {
	{ "algorithm", CONFIG_ALGORITHM }, { "limit", CONFIG_LIMIT }, { "window", CONFIG_WINDOW },
	{ "burst", CONFIG_BURST },	   { "unit", CONFIG_UNIT },   { NULL, 0 },
};

const struct config_block config_block_limiter = {
	.what = "a limiter",
	.where = "under rate_limiters",
	.example = "limit",
	.fields = fields,
	.asked = asked,
};

void config_limiter_init(struct config_limiter *limiter)
{
	*limiter = (struct config_limiter){
		.algorithm = STILE_ALGORITHM_SLIDING_WINDOW,
		.window = 60 * STILE_WINDOW_NS_MIN,
		.keyed = true,
		.ipv4_prefix = 32,
		.ipv6_prefix = 64,
		.action = STILE_ACTION_REJECT,
		.max_keys = 100000,
		.full = STILE_FULL_EVICT,
	};
}

void config_limiter_release(struct config_limiter *limiter)
{
	config_response_release(&limiter->response);
}

static void read_limiter(struct config_reader *reader, const struct tree_node *key,
			 const struct tree_node *value, struct config *config)
{
	struct config_limiter limiter, *grown = NULL;
	bool good;

	config_limiter_init(&limiter);
	good = config_value_name(reader, key, &limiter.name);
	limiter.unsure = config_block_read(reader, value, &config_block_limiter, &limiter);
	if (good && !key->repeated)
		grown = config_value_grow(reader, config->limiters, config->n_limiters,
					  sizeof(*grown));
	if (!grown) {
		config_limiter_release(&limiter);
		return;
	}
	config->limiters = grown;
	grown[config->n_limiters++] = limiter;
}

void config_read_limiters(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct tree_node *key, *limiter;
	struct tree_walk walk = { 0 };

	if (value->kind != TREE_MAP) {
		config_value_refuse(reader, value, "a map of names to limiters");
		return;
	}
	while (!reader->failed && (key = tree_walk_map(reader->tree, value, &walk, &limiter)))
		read_limiter(reader, key, limiter, object);
}
