/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From text to tree: libyaml's events in a row, and what is left of them where the text turns out
 * to be no YAML.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree_build.h"
#include "tree_syntax.h"
#include "util.h"

/* -EINVAL: the text is no YAML, or what it says ends the reading; reported either way. */
static int read_events(struct tree_build *build, yaml_parser_t *parser, const char *text,
		       size_t length)
{
	bool ended = false;
	int err = 0;

	while (!err && !ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event)) {
			tree_syntax_report(parser, text, length, build->diag);
			return parser->error == YAML_MEMORY_ERROR ? -ENOMEM : -EINVAL;
		}
		err = tree_build_event(build, &event);
		ended = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	return err;
}

/*
 * Takes back the last value of what was being read: where the text is no YAML, its end was perhaps
 * missed, and what it seems to say is no mistake of its own.
 */
static void drop_last(struct tree_build *build)
{
	const struct tree_level *level = &build->levels[build->depth - 1];
	struct tree_node *nodes = build->tree.nodes;

	if (!level->last || nodes[level->last].kind > TREE_SCALAR)
		return;
	if (level->before_last)
		nodes[level->before_last].next = 0;
	else
		nodes[level->node].first = 0;
}

/* A reading that stopped leaves what it had read so far. */
static int finish(struct tree_build *build, int err)
{
	struct tree *tree = &build->tree;

	if (err == -ENOMEM)
		return err;
	tree->cut_short = err != 0;
	if (build->depth > 0)
		drop_last(build);
	while (build->depth > 0) {
		err = tree_build_check(build, &tree->nodes[build->levels[--build->depth].node]);
		if (err)
			return err;
	}
	if (tree->n_nodes > 1 && (!tree->cut_short || tree->nodes[1].kind > TREE_SCALAR))
		return 0;
	if (!tree->cut_short)
		diag_error(build->diag, (struct place){ 0 },
			   "found no settings, expected some: see stile.yaml(5)");
	return -EINVAL;
}

/* Skips a byte order mark. UTF-16 is refused here, because libyaml would read it. */
static int check_encoding(const char **text, size_t *length, struct diag *diag)
{
	if (*length >= 2 &&
	    (memcmp(*text, "\xff\xfe", 2) == 0 || memcmp(*text, "\xfe\xff", 2) == 0)) {
		diag_error(diag, (struct place){ 0 }, "found UTF-16, expected UTF-8");
		return -EINVAL;
	}
	if (*length >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
		*text += 3;
		*length -= 3;
	}
	return 0;
}

int tree_parse(const char *text, size_t length, struct diag *diag, struct tree *ret_tree)
{
	autofree struct tree_build *build = NULL;
	yaml_parser_t parser;
	int err;

	err = check_encoding(&text, &length, diag);
	if (err)
		return err;
	build = calloc(1, sizeof(*build));
	if (!build || !yaml_parser_initialize(&parser)) {
		diag_error(diag, (struct place){ 0 }, "out of memory");
		return -ENOMEM;
	}
	build->diag = diag;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	err = finish(build, read_events(build, &parser, text, length));
	yaml_parser_delete(&parser);
	for (unsigned int i = 0; i < build->n_anchors; i++)
		free(build->anchors[i].name);
	if (err)
		tree_release(&build->tree);
	else
		*ret_tree = build->tree;
	return err;
}
