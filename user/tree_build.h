/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tree while it is built: tree_parse.c reads events, tree_build.c makes nodes of them. */
#ifndef STILE_TREE_BUILD_H
#define STILE_TREE_BUILD_H

#include <stdint.h>

#include <yaml.h>

#include "tree.h"

struct tree_level {
	uint32_t node;
	uint32_t last; /* child */
	uint32_t before_last;
	uint32_t n_children;
};

struct tree_anchor {
	char *name;
	uint32_t node;
};

struct tree_build {
	struct tree tree;
	struct diag *diag;
	struct tree_level levels[TREE_DEPTH_MAX];
	unsigned int depth;
	unsigned int n_documents;
	struct tree_anchor anchors[TREE_ANCHORS_MAX];
	unsigned int n_anchors;
	uint32_t expanded; /* nodes so far, aliases followed */
};

/* 0; -EINVAL where the reading must stop, or -ENOMEM: both have been reported. */
int tree_build_event(struct tree_build *build, const yaml_event_t *event);

/* What can be said of a list or a map only when all of it is there. 0 or -ENOMEM, reported. */
int tree_build_check(struct tree_build *build, struct tree_node *node);

/* Reports that memory ran out. -ENOMEM. */
int tree_build_failed(struct tree_build *build);

#endif /* STILE_TREE_BUILD_H */
