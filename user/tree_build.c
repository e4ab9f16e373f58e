/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nodes, made from libyaml's events: its documents would lose nothing, but they follow aliases
 * without a bound and nest without one. Lesser mistakes are noted and the reading goes on; it stops
 * where the text is too deep or too large to be a configuration.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree_build.h"
#include "tree_syntax.h"
#include "util.h"

int tree_build_failed(struct tree_build *build)
{
	diag_error(build->diag, (struct place){ 0 }, "out of memory");
	return -ENOMEM;
}

static int keep_text(struct tree_build *build, const char *text, size_t length,
		     uint32_t *ret_offset)
{
	struct tree *tree = &build->tree;
	size_t needed = tree->n_text + length + 1;

	if (needed > tree->n_text_allocated) {
		size_t n = needed + needed / 2 + 4096;
		char *grown = n > UINT32_MAX ? NULL : realloc(tree->text, n);

		if (!grown)
			return tree_build_failed(build);
		tree->text = grown;
		tree->n_text_allocated = (uint32_t)n;
	}
	memcpy(tree->text + tree->n_text, text, length);
	tree->text[tree->n_text + length] = '\0';
	*ret_offset = tree->n_text;
	tree->n_text = (uint32_t)needed;
	return 0;
}

static int check_room(struct tree_build *build, struct place place)
{
	if (build->expanded <= TREE_NODES_MAX)
		return 0;
	diag_error(build->diag, place, "found more than %u values, expected no more",
		   TREE_NODES_MAX);
	return -EINVAL;
}

/* Where in a map the next node goes. */
static bool is_key(const struct tree_build *build)
{
	const struct tree_level *level;

	if (build->depth == 0)
		return false;
	level = &build->levels[build->depth - 1];
	return build->tree.nodes[level->node].kind == TREE_MAP && level->n_children % 2 == 0;
}

static void link_child(struct tree_build *build, uint32_t node)
{
	struct tree_level *level;

	if (build->depth == 0)
		return;
	level = &build->levels[build->depth - 1];
	if (level->last)
		build->tree.nodes[level->last].next = node;
	else
		build->tree.nodes[level->node].first = node;
	level->before_last = level->last;
	level->last = node;
	level->n_children++;
}

static int add_node(struct tree_build *build, const struct tree_node *node, uint32_t *ret_node)
{
	struct tree *tree = &build->tree;
	int err;

	build->expanded++;
	err = check_room(build, node->place);
	if (err)
		return err;
	if (tree->n_nodes == tree->n_nodes_allocated) {
		uint32_t n = tree->n_nodes * 2 + 64;
		struct tree_node *grown = reallocarray(tree->nodes, n, sizeof(*grown));

		if (!grown)
			return tree_build_failed(build);
		if (tree->n_nodes == 0)
			grown[tree->n_nodes++] = (struct tree_node){ 0 };
		tree->nodes = grown;
		tree->n_nodes_allocated = n;
	}
	tree->nodes[tree->n_nodes] = *node;
	link_child(build, tree->n_nodes);
	*ret_node = tree->n_nodes++;
	return 0;
}

static void refuse_tag(struct tree_build *build, const yaml_char_t *tag, struct place place)
{
	static const char standard[] = "tag:yaml.org,2002:";
	const char *name = (const char *)tag;
	char quoted[DIAG_QUOTE_SIZE];
	bool is_standard;

	if (!tag)
		return;
	is_standard = strncmp(name, standard, strlen(standard)) == 0;
	diag_quote(is_standard ? name + strlen(standard) : name, quoted);
	diag_error(build->diag, place, "found the %stag %s, expected a value without one",
		   is_standard ? "standard " : "", quoted);
}

static int keep_anchor(struct tree_build *build, const yaml_char_t *name, uint32_t node)
{
	char *copy;

	if (!name)
		return 0;
	if (build->n_anchors == TREE_ANCHORS_MAX) {
		diag_error(build->diag, build->tree.nodes[node].place,
			   "found more than %d anchors, expected no more", TREE_ANCHORS_MAX);
		return -EINVAL;
	}
	copy = strdup((const char *)name);
	if (!copy)
		return tree_build_failed(build);
	build->anchors[build->n_anchors++] = (struct tree_anchor){ .name = copy, .node = node };
	return 0;
}

static bool is_nothing(const yaml_event_t *event)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };
	const char *text = (const char *)event->data.scalar.value;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static void mark_merged(struct tree_node *map)
{
	map->flawed = true;
	map->merged = true;
}

static int on_scalar(struct tree_build *build, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	struct tree_node node = {
		.kind = is_nothing(event) ? TREE_NOTHING : TREE_SCALAR,
		.place = tree_syntax_place(event->start_mark),
		.size = 1,
	};
	uint32_t index;
	int err;

	refuse_tag(build, event->data.scalar.tag, node.place);
	if (memchr(text, '\0', length)) {
		diag_error(build->diag, node.place, "found a NUL character, expected text");
		length = strlen(text);
	}
	if (is_key(build) && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    strcmp(text, "<<") == 0) {
		diag_error(build->diag, node.place,
			   "found a merge key '<<', expected the keys themselves");
		node.refused = true;
		mark_merged(&build->tree.nodes[build->levels[build->depth - 1].node]);
	}
	node.length = (uint32_t)length;
	err = keep_text(build, text, length, &node.text);
	if (err)
		return err;
	err = add_node(build, &node, &index);
	if (err)
		return err;
	return keep_anchor(build, event->data.scalar.anchor, index);
}

static const struct tree_anchor *find_anchor(const struct tree_build *build, const char *name)
{
	for (unsigned int i = build->n_anchors; i > 0; i--)
		if (strcmp(build->anchors[i - 1].name, name) == 0)
			return &build->anchors[i - 1];
	return NULL;
}

static int on_alias(struct tree_build *build, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct tree_anchor *anchor = find_anchor(build, name);
	struct tree_node node = {
		.kind = TREE_ALIAS,
		.place = tree_syntax_place(event->start_mark),
	};
	uint32_t index;

	if (is_key(build)) {
		diag_error(build->diag, node.place,
			   "found the alias '*%.64s' as a key, expected a name", name);
		return -EINVAL;
	}
	if (!anchor || build->tree.nodes[anchor->node].open) {
		diag_error(build->diag, node.place, "found the alias '*%.64s', but %s '&%.64s'",
			   name, anchor ? "it is a part of" : "nothing before it is marked", name);
		return -EINVAL;
	}
	node.target = anchor->node;
	node.size = build->tree.nodes[anchor->node].size;
	build->expanded += node.size - 1;
	return add_node(build, &node, &index);
}

static int on_begin(struct tree_build *build, enum tree_kind kind, const yaml_event_t *event)
{
	bool list = kind == TREE_LIST;
	const struct tree_node node = {
		.kind = kind,
		.place = tree_syntax_place(event->start_mark),
		.size = 1,
		.open = true,
	};
	uint32_t index;
	int err;

	refuse_tag(build, list ? event->data.sequence_start.tag : event->data.mapping_start.tag,
		   node.place);
	if (is_key(build)) {
		diag_error(build->diag, node.place, "found a %s as a key, expected a name",
			   list ? "list" : "map");
		return -EINVAL;
	}
	if (build->depth == TREE_DEPTH_MAX) {
		diag_error(build->diag, node.place,
			   "found lists and maps nested more than %d deep, expected fewer",
			   TREE_DEPTH_MAX);
		return -EINVAL;
	}
	err = add_node(build, &node, &index);
	if (err)
		return err;
	build->levels[build->depth++] = (struct tree_level){ .node = index };
	return keep_anchor(
		build, list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor,
		index);
}

int tree_build_check(struct tree_build *build, struct tree_node *node)
{
	if (node->kind == TREE_MAP && tree_check_keys(&build->tree, node, build->diag) < 0)
		return tree_build_failed(build);
	return 0;
}

static int on_end(struct tree_build *build)
{
	struct tree_node *nodes = build->tree.nodes;
	struct tree_node *node = &nodes[build->levels[--build->depth].node];

	node->open = false;
	for (uint32_t i = node->first; i; i = nodes[i].next)
		node->size += nodes[i].size;
	return tree_build_check(build, node);
}

static int on_document(struct tree_build *build, const yaml_event_t *event)
{
	if (build->n_documents++ == 0)
		return 0;
	diag_error(build->diag, tree_syntax_place(event->start_mark),
		   "found a second document, expected one");
	return -EINVAL;
}

int tree_build_event(struct tree_build *build, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return on_document(build, event);
	case YAML_SCALAR_EVENT:
		return on_scalar(build, event);
	case YAML_ALIAS_EVENT:
		return on_alias(build, event);
	case YAML_SEQUENCE_START_EVENT:
		return on_begin(build, TREE_LIST, event);
	case YAML_MAPPING_START_EVENT:
		return on_begin(build, TREE_MAP, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(build);
	default:
		return 0;
	}
}
