/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The finished tree: walked, and released. How it is built is in tree_parse.c and tree_build.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"
#include "util.h"

void tree_release(struct tree *tree)
{
	free(tree->nodes);
	free(tree->text);
	*tree = (struct tree){ 0 };
}

/* An alias stands for a node that was read before it, which is no alias itself. */
static const struct tree_node *follow(const struct tree *tree, uint32_t node)
{
	const struct tree_node *found = &tree->nodes[node];

	return found->kind == TREE_ALIAS ? &tree->nodes[found->target] : found;
}

const struct tree_node *tree_root(const struct tree *tree)
{
	return follow(tree, 1);
}

const char *tree_text(const struct tree *tree, const struct tree_node *scalar)
{
	return tree->text + scalar->text;
}

const struct tree_node *tree_walk_list(const struct tree *tree, const struct tree_node *list,
				       struct tree_walk *walk)
{
	uint32_t node = walk->begun ? walk->next : list->first;

	if (!node)
		return NULL;
	walk->begun = true;
	walk->next = tree->nodes[node].next;
	return follow(tree, node);
}

const struct tree_node *tree_walk_map(const struct tree *tree, const struct tree_node *map,
				      struct tree_walk *walk, const struct tree_node **ret_value)
{
	const struct tree_node *key, *value;

	do {
		key = tree_walk_list(tree, map, walk);
		/* The last key of a reading that was cut short may have no value. */
		value = key ? tree_walk_list(tree, map, walk) : NULL;
	} while (value && key->refused);
	if (value)
		*ret_value = value;
	return value ? key : NULL;
}

struct key {
	const char *text;
	const struct tree_node *node;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *one = a, *other = b;
	int order = strcmp(one->text, other->text);

	if (order == 0)
		order = one->node < other->node ? -1 : one->node > other->node;
	return order;
}

/* Sorted. */
struct keys {
	struct key *keys;
	size_t n;
};

static void mark_repeated(struct tree *tree, struct tree_node *map, const struct keys *sorted,
			  struct diag *diag)
{
	const struct key *first = sorted->keys;
	char quoted[DIAG_QUOTE_SIZE];

	for (const struct key *key = first + 1; key < sorted->keys + sorted->n; key++) {
		if (strcmp(key->text, first->text) != 0) {
			first = key;
			continue;
		}
		tree->nodes[key->node - tree->nodes].repeated = true;
		map->flawed = true;
		diag_error(diag, key->node->place,
			   "found %s again, expected it once: it is on line %u already",
			   diag_quote(key->text, quoted), first->node->place.line);
	}
}

int tree_check_keys(struct tree *tree, struct tree_node *map, struct diag *diag)
{
	autofree struct key *keys = NULL;
	const struct tree_node *key, *value;
	struct tree_walk walk = { 0 };
	size_t n = 0;

	while (tree_walk_map(tree, map, &walk, &value))
		n++;
	if (n < 2)
		return 0;
	keys = calloc(n, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	walk = (struct tree_walk){ 0 };
	for (n = 0; (key = tree_walk_map(tree, map, &walk, &value)); n++)
		keys[n] = (struct key){ tree_text(tree, key), key };
	qsort(keys, n, sizeof(*keys), compare_keys);
	mark_repeated(tree, map, &(struct keys){ keys, n }, diag);
	return 0;
}
