/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libyaml says of a text that is not YAML, in words that help to mend it. */
#ifndef STILE_TREE_SYNTAX_H
#define STILE_TREE_SYNTAX_H

#include <stddef.h>

#include <yaml.h>

#include "diag.h"

/* @text and @length are what @parser was given. */
void tree_syntax_report(const yaml_parser_t *parser, const char *text, size_t length,
			struct diag *diag);

/* A mark of libyaml's counts from 0. */
struct place tree_syntax_place(yaml_mark_t mark);

#endif /* STILE_TREE_SYNTAX_H */
