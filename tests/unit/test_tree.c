/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* YAML as a tree: kinds, places, aliases, and what is left of a text that breaks off. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "tree.h"
#include "util.h"

static int parse(const char *text, struct tree *ret_tree, size_t *ret_errors)
{
	struct diag diag;
	int err;

	diag_init(&diag, "test");
	err = tree_parse(text, strlen(text), &diag, ret_tree);
	*ret_errors = diag.n_errors;
	diag_release(&diag);
	return err;
}

/* The value of the map's key @name, or NULL. */
static const struct tree_node *find(const struct tree *tree, const struct tree_node *map,
				    const char *name)
{
	const struct tree_node *key, *value;
	struct tree_walk walk = { 0 };

	while ((key = tree_walk_map(tree, map, &walk, &value)))
		if (strcmp(tree_text(tree, key), name) == 0)
			return value;
	return NULL;
}

static void test_kinds(void)
{
	static const char text[] = "plain: a b\n"
				   "quoted: \"null\"\n"
				   "number: 5\n"
				   "list: [a, b]\n"
				   "map: {a: b}\n"
				   "none: \n"
				   "tilde: ~\n"
				   "null: null\n"
				   "folded: >-\n"
				   "  a\n"
				   "  b\n";
	static const struct {
		const char *key;
		enum tree_kind kind;
		const char *text;
		unsigned int line, column;
	} rows[] = {
		{ "plain", TREE_SCALAR, "a b", 1, 8 },	{ "quoted", TREE_SCALAR, "null", 2, 9 },
		{ "number", TREE_SCALAR, "5", 3, 9 },	{ "list", TREE_LIST, NULL, 4, 7 },
		{ "map", TREE_MAP, NULL, 5, 6 },	{ "none", TREE_NOTHING, NULL, 6, 6 },
		{ "tilde", TREE_NOTHING, NULL, 7, 8 },	{ "null", TREE_NOTHING, NULL, 8, 7 },
		{ "folded", TREE_SCALAR, "a b", 9, 9 },
	};
	struct tree tree;
	size_t errors;

	if (!CHECK_EQ("it is a tree", parse(text, &tree, &errors), 0))
		return;
	CHECK_EQ("without mistakes", errors, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct tree_node *node = find(&tree, tree_root(&tree), rows[i].key);

		CHECK(rows[i].key, node != NULL);
		if (!node)
			continue;
		CHECK_EQ(rows[i].key, node->kind, rows[i].kind);
		CHECK_EQ(rows[i].key, node->place.line, rows[i].line);
		CHECK_EQ(rows[i].key, node->place.column, rows[i].column);
		if (rows[i].text)
			CHECK_STR_EQ(rows[i].key, tree_text(&tree, node), rows[i].text);
	}
	tree_release(&tree);
}

static void test_alias(void)
{
	const struct tree_node *list, *again;
	struct tree_walk walk = { 0 };
	struct tree tree;
	size_t errors;

	if (!CHECK_EQ("it is a tree",
		      parse("a: &x [one, two]\nb: *x\nc: {d: *x}\n", &tree, &errors), 0))
		return;
	CHECK_EQ("without mistakes", errors, 0);
	list = find(&tree, tree_root(&tree), "a");
	again = find(&tree, tree_root(&tree), "b");
	CHECK("an alias is what it stands for", list && list == again);
	CHECK("wherever it stands", find(&tree, find(&tree, tree_root(&tree), "c"), "d") == list);
	CHECK_STR_EQ("and can be walked", tree_text(&tree, tree_walk_list(&tree, again, &walk)),
		     "one");
	CHECK_STR_EQ("to the end", tree_text(&tree, tree_walk_list(&tree, again, &walk)), "two");
	CHECK("which is there", !tree_walk_list(&tree, again, &walk));
	CHECK_EQ("its nodes count at every use", tree_root(&tree)->size, 1 + 2 * 4 + 1 + 1 + 4);
	tree_release(&tree);
}

static void test_keys(void)
{
	const struct tree_node *key, *value;
	struct tree_walk walk = { 0 };
	struct tree tree;
	size_t errors;

	if (!CHECK_EQ("it is a tree", parse("{b: 1, a: 2, <<: {x: y}, b: 3}", &tree, &errors), 0))
		return;
	CHECK_EQ("a repeated key and a merge key are mistakes", errors, 2);
	CHECK_EQ("and mark their map", tree_root(&tree)->flawed, true);
	key = tree_walk_map(&tree, tree_root(&tree), &walk, &value);
	CHECK_EQ("the first is good", key->repeated, false);
	CHECK_STR_EQ("and has its value", tree_text(&tree, value), "1");
	CHECK("another", tree_walk_map(&tree, tree_root(&tree), &walk, &value) != NULL);
	key = tree_walk_map(&tree, tree_root(&tree), &walk, &value);
	CHECK_EQ("the merge key is left out; the repeated one is marked", key->repeated, true);
	CHECK_STR_EQ("and has its value", tree_text(&tree, value), "3");
	tree_release(&tree);
}

static void test_cut_short(void)
{
	const struct tree_node *inner;
	struct tree tree;
	size_t errors;

	if (!CHECK_EQ("it is a tree", parse("a: 1\nb: {c: 2, d: 3\ne: 4\n", &tree, &errors), 0))
		return;
	CHECK_EQ("with one mistake", errors, 1);
	CHECK_EQ("which says that there is no more", tree.cut_short, true);
	CHECK("what was whole is there", find(&tree, tree_root(&tree), "a") != NULL);
	inner = find(&tree, tree_root(&tree), "b");
	CHECK_EQ("what was not says so", inner->open, true);
	CHECK("what was whole in it is there", find(&tree, inner, "c") != NULL);
	CHECK("what may have been misread is not", !find(&tree, inner, "d"));
	tree_release(&tree);
}

static void test_no_tree(void)
{
	static const struct {
		const char *what, *text;
	} rows[] = {
		{ "nothing", "" },
		{ "a comment", "# a\n" },
		{ "a byte order mark", "\xef\xbb\xbf" },
		{ "UTF-16", "\xff\xfe"
			    "a" },
		{ "an alias of nothing", "*a" },
		{ "a scalar that is no scalar", "a\nb: c" },
		{ "a byte that no text has", "\xff" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tree tree = { .n_nodes = 77 };
		size_t errors;

		CHECK_EQ(rows[i].what, parse(rows[i].text, &tree, &errors), -EINVAL);
		CHECK_EQ(rows[i].what, errors, 1);
		CHECK_EQ("a failure leaves it alone", tree.n_nodes, 77);
	}
}

CHECK_SUITE(tree, { "every kind of node has its place", test_kinds },
	    { "aliases are followed", test_alias }, { "keys stand once", test_keys },
	    { "what was read before a mistake is there", test_cut_short },
	    { "what is no tree", test_no_tree });
