/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of one word: switches, numbers, spans of time, names, words of an enum. YAML's own types
 * are not asked: quoted or not, a value is the text that it is.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config_value.h"
#include "duration.h"
#include "phrase.h"
#include "util.h"

static const char *found(const struct config_reader *reader, const struct tree_node *node,
			 char quoted[DIAG_QUOTE_SIZE])
{
	switch (node->kind) {
	case TREE_LIST:
		return "a list";
	case TREE_MAP:
		return "a map";
	case TREE_SCALAR:
		return diag_quote(tree_text(reader->tree, node), quoted);
	default:
		return "no value";
	}
}

void config_value_mistake(struct config_reader *reader, struct place place, const char *format, ...)
{
	autofree char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	reader->n_mistakes++;
	diag_error(reader->diag, place, "%s", text ? text : "out of memory");
}

void config_value_refuse(struct config_reader *reader, const struct tree_node *node,
			 const char *format, ...)
{
	char quoted[DIAG_QUOTE_SIZE];
	autofree char *expected = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&expected, format, arguments) < 0)
		expected = NULL;
	va_end(arguments);
	config_value_mistake(reader, node->place, "%s: found %s, expected %s", reader->key,
			     found(reader, node, quoted), expected ? expected : "something else");
}

const char *config_value_text(struct config_reader *reader, const struct tree_node *node,
			      const char *expected)
{
	if (node->kind == TREE_SCALAR)
		return tree_text(reader->tree, node);
	config_value_refuse(reader, node, "%s", expected);
	return NULL;
}

bool config_value_is(const struct config_reader *reader, const struct tree_node *node,
		     const char *word)
{
	return node->kind == TREE_SCALAR && strcmp(tree_text(reader->tree, node), word) == 0;
}

const struct tree_node *config_value_item(struct config_reader *reader,
					  const struct tree_node *node, struct tree_walk *walk,
					  const char *expected)
{
	if (node->kind == TREE_LIST)
		return tree_walk_list(reader->tree, node, walk);
	if (walk->begun)
		return NULL;
	walk->begun = true;
	if (node->kind == TREE_SCALAR)
		return node;
	config_value_refuse(reader, node, "%s", expected);
	return NULL;
}

bool config_value_bool(struct config_reader *reader, const struct tree_node *node, bool *ret_value)
{
	static const char *const names[] = { "false", "true", NULL };
	unsigned int value;

	if (!config_value_word(reader, node, (struct config_words){ .names = names }, &value))
		return false;
	*ret_value = value == 1;
	return true;
}

/*
 * Digits alone, without leading zeros, which YAML would take for octal. What is too large for a
 * number is the largest.
 */
static bool parse_number(const char *text, uint64_t *ret_number)
{
	size_t length = strspn(text, "0123456789");

	if (length == 0 || text[length] || (text[0] == '0' && length > 1))
		return false;
	*ret_number = strtoull(text, NULL, 10);
	return true;
}

bool config_value_number(struct config_reader *reader, const struct tree_node *node,
			 struct config_range range, uint64_t *ret_number)
{
	uint64_t number;

	if (node->kind == TREE_SCALAR && parse_number(tree_text(reader->tree, node), &number) &&
	    number >= range.min && number <= range.max) {
		*ret_number = number;
		return true;
	}
	config_value_refuse(reader, node, "a whole number from %" PRIu64 " to %" PRIu64, range.min,
			    range.max);
	return false;
}

bool config_value_count(struct config_reader *reader, const struct tree_node *node,
			uint64_t *ret_count)
{
	uint64_t count;

	if (node->kind != TREE_SCALAR || !parse_number(tree_text(reader->tree, node), &count) ||
	    count == 0) {
		config_value_refuse(reader, node, "a whole number of 1 or more");
		return false;
	}
	*ret_count = count < CONFIG_COUNT_OVER ? count : CONFIG_COUNT_OVER;
	return true;
}

bool config_value_duration(struct config_reader *reader, const struct tree_node *node,
			   struct config_range range, uint64_t *ret_ns)
{
	const char *text = node->kind == TREE_SCALAR ? tree_text(reader->tree, node) : "";
	char min[PHRASE_SIZE], max[PHRASE_SIZE];
	uint64_t ns;

	if (duration_parse(text, &ns) == 0 && ns >= range.min && ns <= range.max) {
		*ret_ns = ns;
		return true;
	}
	config_value_refuse(reader, node,
			    "a time from %s to %s, with its unit, such as 10s, 1m or 1m30s",
			    phrase_window(range.min, min), phrase_window(range.max, max));
	return false;
}

bool config_value_name(struct config_reader *reader, const struct tree_node *node,
		       struct config_name *ret_name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.-";
	const char *text = tree_text(reader->tree, node);

	if (node->kind == TREE_SCALAR && strcmp(text, "none") == 0) {
		config_value_refuse(reader, node, "another name: none means no limiter");
		return false;
	}
	if (node->kind != TREE_SCALAR || node->length == 0 ||
	    node->length >= sizeof(ret_name->text) || text[strspn(text, letters)]) {
		config_value_refuse(reader, node,
				    "a name of 1 to %zu letters, digits, '_', '.' or '-'",
				    sizeof(ret_name->text) - 1);
		return false;
	}
	*ret_name = (struct config_name){ .place = node->place };
	memcpy(ret_name->text, text, node->length);
	return true;
}

static bool find_word(const char *word, const char *const *names, unsigned int *ret_value)
{
	for (unsigned int i = 0; names && names[i]; i++) {
		if (strcmp(word, names[i]) != 0)
			continue;
		*ret_value = i;
		return true;
	}
	return false;
}

const char *config_value_words(const char *const *names, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (unsigned int i = 0; names[i] && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s",
					   i == 0	  ? ""
					   : names[i + 1] ? ", "
							  : " or ",
					   names[i]);
	return text;
}

bool config_value_word(struct config_reader *reader, const struct tree_node *node,
		       struct config_words words, unsigned int *ret_value)
{
	const char *text = node->kind == TREE_SCALAR ? tree_text(reader->tree, node) : "";
	const char *nearest;
	char expected[256];
	unsigned int value;

	if (find_word(text, words.names, ret_value))
		return true;
	nearest = diag_nearest_at(reader->diag, node->place, text, words.names);
	config_value_words(words.names, expected, sizeof(expected));
	if (find_word(text, words.later, &value))
		config_value_mistake(reader, node->place,
				     "%s: '%s' is not supported yet, expected %s", reader->key,
				     text, expected);
	else if (nearest)
		config_value_refuse(reader, node, "%s; did you mean '%s'?", expected, nearest);
	else
		config_value_refuse(reader, node, "%s", expected);
	return false;
}

void *config_value_grow(struct config_reader *reader, void *array, size_t n, size_t size)
{
	void *grown;

	if (n != 0 && (n & (n - 1)) != 0)
		return array;
	grown = reallocarray(array, n ? n * 2 : 1, size);
	if (!grown)
		reader->failed = true;
	return grown;
}
