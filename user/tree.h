/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A YAML document as a tree in which every node knows its place. It refuses what would make a
 * configuration mean something else than it seems to: keys given twice, tags, merge keys, a
 * second document. It knows nothing of what the keys mean.
 */
#ifndef STILE_TREE_H
#define STILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

#define TREE_BYTES_MAX (16U << 20)
#define TREE_NODES_MAX (1U << 20) /* every use of an alias counted as what it stands for */
#define TREE_DEPTH_MAX 16
#define TREE_ANCHORS_MAX 256

enum tree_kind {
	TREE_NOTHING, /* no value, ~ or null */
	TREE_SCALAR,
	TREE_LIST,
	TREE_MAP,
	TREE_ALIAS, /* never seen from outside: it is followed */
};

struct tree_node {
	enum tree_kind kind;
	struct place place;
	uint32_t text;	 /* offset of a scalar's text; never holds a NUL but its last */
	uint32_t length; /* of the text */
	uint32_t first;	 /* child of a list or map (key, value, key, ...); 0: none */
	uint32_t next;	 /* sibling; 0: none */
	uint32_t size;	 /* nodes from here down, aliases followed */
	uint32_t target; /* of an alias */
	bool open;	 /* a list or map that goes on, or would where the reading was cut short */
	bool repeated;	 /* a key that its map has already, which has been reported */
	bool refused;	 /* a key that no map may have, which has been reported: never seen */
	bool flawed;	 /* a map with such keys */
	bool merged;	 /* a map with merge keys, so that it may lack what it was to have */
};

struct tree {
	struct tree_node *nodes; /* the first is never used; the second is the root */
	uint32_t n_nodes, n_nodes_allocated;
	char *text;
	uint32_t n_text, n_text_allocated;
	bool cut_short; /* the reading stopped at a mistake: what came after it is not here */
};

/*
 * Reads UTF-8 text, with or without a byte order mark. Mistakes go to @diag. 0 where there is a
 * tree, which there is in spite of mistakes that come after its root begins; otherwise -EINVAL or
 * -ENOMEM, reported as well, and *ret_tree is untouched. Released with tree_release().
 */
int tree_parse(const char *text, size_t length, struct diag *diag, struct tree *ret_tree);
void tree_release(struct tree *tree);

const struct tree_node *tree_root(const struct tree *tree);
const char *tree_text(const struct tree *tree, const struct tree_node *scalar);

/* Where a walk through a list or a map stands; starts as { 0 }. */
struct tree_walk {
	uint32_t next;
	bool begun;
};

/* The next item of @list, or NULL. */
const struct tree_node *tree_walk_list(const struct tree *tree, const struct tree_node *list,
				       struct tree_walk *walk);

/* The next key of @map (a scalar), and its value; or NULL. */
const struct tree_node *tree_walk_map(const struct tree *tree, const struct tree_node *map,
				      struct tree_walk *walk, const struct tree_node **ret_value);

/* Reports and marks keys of @map that it has twice. 0 or -ENOMEM, which is not reported. */
int tree_check_keys(struct tree *tree, struct tree_node *map, struct diag *diag);

#endif /* STILE_TREE_H */
