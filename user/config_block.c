/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of blocks. A key that is not known is the mistake made most often, so that what was meant
 * is looked for: another spelling, another block, another program's configuration.
 */
#include <string.h>

#include "config_block.h"
#include "util.h"

#define FIELDS_MAX 24 /* of any block */

static const struct config_field *find_field(const struct config_block *block, const char *name)
{
	const struct config_field *field;

	for (field = block->fields; field->name; field++)
		if (strcmp(field->name, name) == 0)
			return field;
	return NULL;
}

/* The block that @name would be right in. */
static const struct config_block *find_block(const char *name)
{
	static const struct config_block *const blocks[] = {
		&config_block_limiter,
		&config_block_listener,
		&config_block_interface,
	};

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (find_field(blocks[i], name))
			return blocks[i];
	return NULL;
}

/* Keys of Trickster's configuration, and what stands in their place. */
static const char *elsewhere(const char *name)
{
	static const struct {
		const char *name, *instead;
	} keys[] = {
		{ "backends", "listeners: Stile sits in front of the service itself" },
		{ "paths", "no paths: Stile decides before a request is sent" },
		{ "kubernetes", "listeners" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(name, keys[i].name) == 0)
			return keys[i].instead;
	return NULL;
}

/*
 * Options of the OPC UA .NET server's ServerRateLimitOptions, and what stands in their place;
 * stile.yaml(5), OTHER PROGRAMS, says more.
 */
static const char *in_server(const char *name)
{
	static const struct {
		const char *name, *instead;
	} options[] = {
		{ "Enabled", "'enabled'" },
		{ "ConnectionRateLimitEnabled", "'rate_limiter_name' of a listener" },
		{ "ConnectionsPerSecond", "'limit' of a limiter with 'keys: []' and 'window: 1s'" },
		{ "ConnectionBurst", "'burst' of a limiter with 'algorithm: token_bucket'" },
		{ "ListenBacklog", "'listen_backlog' of a listener" },
		{ "MaxSessionCount", "'limit' of a limiter with 'algorithm: concurrency'" },
		{ "SessionRateLimitEnabled", "it in the server alone" },
		{ "MaxConcurrentSessionEstablishment",
		  "a limiter with 'algorithm: concurrency' and 'unit: establishments'" },
		{ "SessionEstablishmentQueueLimit", "'queue' of that limiter" },
		{ "ServerRateLimitOptions", "'rate_limiters' and 'listeners'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strcmp(name, options[i].name) == 0)
			return options[i].instead;
	return NULL;
}

/* Their names, ended by NULL. */
static void list_fields(const struct config_block *block, const char *names[FIELDS_MAX + 1])
{
	size_t n = 0;

	for (const struct config_field *field = block->fields; field->name; field++)
		if (n < FIELDS_MAX)
			names[n++] = field->name;
	names[n] = NULL;
}

static unsigned int part_of(const struct config_block *block, const char *name)
{
	const struct config_asked *asked;

	for (asked = block->asked; asked && asked->name; asked++)
		if (strcmp(asked->name, name) == 0)
			return asked->part;
	return 0;
}

/* Returns the parts that @key may have been meant for. */
static unsigned int refuse_key(struct config_reader *reader, const struct tree_node *key,
			       const struct config_block *block)
{
	const char *name = tree_text(reader->tree, key);
	const struct config_block *other = find_block(name);
	const char *instead = elsewhere(name), *nearest;
	const char *names[FIELDS_MAX + 1];
	char quoted[DIAG_QUOTE_SIZE];
	char expected[320];

	if (in_server(name)) {
		config_value_mistake(reader, key->place,
				     "found '%s' of the OPC UA .NET server in %s, expected %s; see "
				     "stile.yaml(5), OTHER PROGRAMS",
				     name, block->what, in_server(name));
		return ~0U;
	}
	list_fields(block, names);
	nearest = diag_nearest_at(reader->diag, key->place, name, names);
	diag_quote(name, quoted);
	if (instead)
		config_value_mistake(reader, key->place, "found the key %s in %s, expected %s",
				     quoted, block->what, instead);
	else if (other && other != block)
		config_value_mistake(reader, key->place,
				     "found the key %s in %s, expected it in %s, %s", quoted,
				     block->what, other->what, other->where);
	else if (nearest)
		config_value_mistake(reader, key->place,
				     "found the unknown key %s in %s; did you mean '%s'?", quoted,
				     block->what, nearest);
	else
		config_value_mistake(
			reader, key->place, "found the unknown key %s in %s, expected %s", quoted,
			block->what, config_value_words(names, expected, sizeof(expected)));
	if (instead || (other && other != block))
		return 0;
	return nearest ? part_of(block, nearest) : ~0U;
}

/* Returns the parts that are not known from then on. */
static unsigned int read_field(struct config_reader *reader, const struct tree_node *key,
			       const struct config_block *block, const struct tree_node *value,
			       void *object)
{
	const char *name = tree_text(reader->tree, key);
	const struct config_field *field = find_field(block, name);
	size_t before = reader->n_mistakes;

	if (!field)
		return refuse_key(reader, key, block);
	reader->key = field->name;
	field->read(reader, value, object);
	return reader->n_mistakes > before || key->repeated ? part_of(block, name) : 0;
}

unsigned int config_block_read(struct config_reader *reader, const struct tree_node *map,
			       const struct config_block *block, void *object)
{
	const struct tree_node *key, *value;
	const char *outer = reader->key;
	struct tree_walk walk = { 0 };
	unsigned int given = 0, wrong = 0, doubtful = map->merged ? ~0U : 0;

	if (map->kind != TREE_MAP) {
		config_value_refuse(reader, map, "a map of keys such as %s", block->example);
		return ~0U;
	}
	if (map->flawed)
		reader->n_mistakes++; /* which the tree has reported */
	while ((key = tree_walk_map(reader->tree, map, &walk, &value))) {
		unsigned int part = part_of(block, tree_text(reader->tree, key));
		unsigned int found = read_field(reader, key, block, value, object);

		if (part)
			wrong |= found;
		else
			doubtful |= found;
		given |= part;
	}
	reader->key = outer;
	return wrong | (doubtful & ~given);
}
