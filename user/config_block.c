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

static const char *nearest_field(const struct config_block *block, const char *name)
{
	const char *names[FIELDS_MAX + 1] = { NULL };

	for (size_t i = 0; i < FIELDS_MAX && block->fields[i].name; i++)
		names[i] = block->fields[i].name;
	return diag_nearest(name, names);
}

static void refuse_key(struct config_reader *reader, const struct tree_node *key,
		       const struct config_block *block)
{
	const char *name = tree_text(reader->tree, key);
	const struct config_block *other = find_block(name);
	const char *nearest = nearest_field(block, name);
	const char *instead = elsewhere(name);
	char quoted[DIAG_QUOTE_SIZE];

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
			reader, key->place,
			"found the unknown key %s in %s, expected one of stile.yaml(5)", quoted,
			block->what);
}

static void read_field(struct config_reader *reader, const struct tree_node *key,
		       const struct config_block *block, const struct tree_node *value,
		       void *object)
{
	const struct config_field *field = find_field(block, tree_text(reader->tree, key));

	if (!field) {
		refuse_key(reader, key, block);
	} else if (!field->read) {
		config_value_mistake(reader, key->place, "'%s' is not supported yet", field->name);
	} else {
		reader->key = field->name;
		field->read(reader, value, object);
	}
}

void config_block_read(struct config_reader *reader, const struct tree_node *map,
		       const struct config_block *block, void *object)
{
	const struct tree_node *key, *value;
	const char *outer = reader->key;
	struct tree_walk walk = { 0 };

	if (map->kind != TREE_MAP) {
		config_value_refuse(reader, map, "a map: the settings of %s", block->what);
		return;
	}
	while ((key = tree_walk_map(reader->tree, map, &walk, &value)))
		read_field(reader, key, block, value, object);
	reader->key = outer;
}
