/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One function for each type of value in the configuration. Each says what it found and what it
 * expected, at the value's place, and leaves the caller's object alone where they differ.
 */
#ifndef STILE_CONFIG_VALUE_H
#define STILE_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "tree.h"

struct config_reader {
	const struct tree *tree;
	struct diag *diag;
	const char *key; /* whose value is being read; every message begins with it */
	bool failed;	 /* out of memory */
	size_t n_mistakes;
};

/* Reports a mistake. */
__attribute__((format(printf, 3, 4))) void
config_value_mistake(struct config_reader *reader, struct place place, const char *format, ...);

/* "KEY: found 'VALUE', expected ..." */
__attribute__((format(printf, 3, 4))) void config_value_refuse(struct config_reader *reader,
							       const struct tree_node *node,
							       const char *format, ...);

/* A scalar's text, or NULL, which has been reported. */
const char *config_value_text(struct config_reader *reader, const struct tree_node *node,
			      const char *expected);

/* Whether the value is just that word. */
bool config_value_is(const struct config_reader *reader, const struct tree_node *node,
		     const char *word);

/* The items of a list, or a single value as if it were a list of one. NULL at the end. */
const struct tree_node *config_value_item(struct config_reader *reader,
					  const struct tree_node *node, struct tree_walk *walk,
					  const char *expected);

struct config_range {
	uint64_t min, max;
};

/* Each returns true where it wrote the result. */
bool config_value_bool(struct config_reader *reader, const struct tree_node *node, bool *ret_value);
bool config_value_number(struct config_reader *reader, const struct tree_node *node,
			 struct config_range range, uint64_t *ret_number);
/* A number of 1 or more; CONFIG_COUNT_OVER for all that are that or more. */
bool config_value_count(struct config_reader *reader, const struct tree_node *node,
			uint64_t *ret_count);
bool config_value_duration(struct config_reader *reader, const struct tree_node *node,
			   struct config_range range, uint64_t *ret_ns);
bool config_value_name(struct config_reader *reader, const struct tree_node *node,
		       struct config_name *ret_name);
bool config_value_prefix(struct config_reader *reader, const struct tree_node *node,
			 struct config_prefix *ret_prefix);
bool config_value_address(struct config_reader *reader, const struct tree_node *node,
			  struct config_prefix *ret_host);
bool config_value_ports(struct config_reader *reader, const struct tree_node *node,
			struct config_ports *ret_ports);

/* "a, b or c", cut where @size is too small for it. Returns @text. */
const char *config_value_words(const char *const *names, char *text, size_t size);

/* Words of an enum; both lists end with NULL, @later may be NULL. */
struct config_words {
	const char *const *names; /* by value */
	const char *const *later; /* known, and not supported yet */
};

bool config_value_word(struct config_reader *reader, const struct tree_node *node,
		       struct config_words words, unsigned int *ret_value);

/* "ADDRESS:PORT" or none; @ret_host is NULL for none, otherwise the caller's. */
bool config_value_listen(struct config_reader *reader, const struct tree_node *node,
			 char **ret_host, uint16_t *ret_port);

/*
 * A limiter's name or a list of them; none only where it is allowed. A list with mistakes is
 * written as well, without them.
 */
bool config_value_judges(struct config_reader *reader, const struct tree_node *node,
			 bool allow_none, struct config_judges *ret_judges);

/*
 * Room for one more entry behind the @n of @array, which was grown by this function alone: the
 * array, moved where need be, or NULL (then reader->failed is set, and the old one is still good).
 */
void *config_value_grow(struct config_reader *reader, void *array, size_t n, size_t size);

#endif /* STILE_CONFIG_VALUE_H */
