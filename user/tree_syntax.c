/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libyaml tells what its grammar missed; a person wants to know what to change. The texts compared
 * with here are those of libyaml 0.2; one that is not known is passed on as it is.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tree_syntax.h"
#include "util.h"

struct phrase {
	const char *problem;
	const char *text;
	/* where it is: where libyaml gave up, or where the thing that it was reading begins */
	enum { AT_PROBLEM, AT_CONTEXT } at;
	bool names_begin; /* the text is followed by the place where that thing begins */
};

static const struct phrase phrases[] = {
	{ "could not find expected ':'", "found a line without ':', expected 'key: value'",
	  AT_CONTEXT, false },
	{ "mapping values are not allowed in this context",
	  "found a ':' where no value can follow, expected one 'key: value' on a line, and the "
	  "keys of a block in one column",
	  AT_PROBLEM, false },
	{ "did not find expected key",
	  "found no key here, expected one in the column of its block, which begins at", AT_PROBLEM,
	  true },
	{ "did not find expected '-' indicator",
	  "found no '-' here, expected one in the column of its list, which begins at", AT_PROBLEM,
	  true },
	{ "did not find expected ',' or ']'",
	  "found neither ',' nor ']', expected the end of the list that begins at", AT_PROBLEM,
	  true },
	{ "did not find expected ',' or '}'",
	  "found neither ',' nor '}', expected the end of the map that begins at", AT_PROBLEM,
	  true },
	{ "found unexpected end of stream",
	  "found the end of the file, expected the end of the quoted text that begins at",
	  AT_PROBLEM, true },
	{ "found unknown escape character",
	  "found an unknown escape after '\\', expected single quotes around text with a '\\'",
	  AT_PROBLEM, false },
	{ "block sequence entries are not allowed in this context",
	  "found '-' within a line, expected a list to begin on a line of its own", AT_PROBLEM,
	  false },
	{ "found unexpected ':'",
	  "found a ':' within [] or {}, expected quotes around text that holds one", AT_PROBLEM,
	  false },
	{ "did not find expected alphabetic or numeric character",
	  "found '*' or '&' without a name, expected quotes around text that begins with it",
	  AT_CONTEXT, false },
	{ "did not find expected node content", "found no value here, expected one", AT_PROBLEM,
	  false },
	{ "did not find expected <document start>",
	  "found more text after the end of the settings, expected the end of the file", AT_PROBLEM,
	  false },
	{ "found a tab character where an indentation space is expected",
	  "found a tab, expected spaces: YAML is indented with spaces alone", AT_PROBLEM, false },
	{ "found a tab character that violates indentation",
	  "found a tab, expected spaces: YAML is indented with spaces alone", AT_PROBLEM, false },
};

struct place tree_syntax_place(yaml_mark_t mark)
{
	return (struct place){ .line = (unsigned int)mark.line + 1,
			       .column = (unsigned int)mark.column + 1 };
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Moves @place over byte @i; columns count characters, as libyaml's do. */
static void advance(struct place *place, const char *text, size_t length, size_t i)
{
	char next = i + 1 < length ? text[i + 1] : '\0';

	if (text[i] == '\n' || (text[i] == '\r' && next != '\n')) {
		place->line++;
		place->column = 1;
	} else if (!is_continuation(next)) {
		place->column++;
	}
}

static struct place place_of(const char *text, size_t length, size_t offset)
{
	struct place place = { 1, 1 };

	for (size_t i = 0; i < offset; i++)
		advance(&place, text, length, i);
	return place;
}

/* The byte at @place, or 0. */
static char byte_at(const char *text, size_t length, struct place place)
{
	struct place at = { 1, 1 };

	for (size_t i = 0; i < length; i++) {
		if (at.line == place.line && at.column == place.column)
			return text[i];
		advance(&at, text, length, i);
	}
	return '\0';
}

/* Bytes that are no text at all. */
static void report_bytes(const yaml_parser_t *parser, const char *text, size_t length,
			 struct diag *diag)
{
	bool control = parser->problem && strncmp(parser->problem, "control", 7) == 0;
	size_t offset = parser->problem_offset;
	struct place place;

	/* libyaml points at the byte that should have gone on with what began before it. */
	if (!control && offset > 0 && parser->problem && strstr(parser->problem, "trailing"))
		do
			offset--;
		while (offset > 0 && is_continuation(text[offset]));
	if (offset >= length)
		offset = length - 1; /* an error is about a byte: there is one */
	place = place_of(text, length, offset);
	if (control)
		diag_error(diag, place, "found the control character 0x%02x, expected text",
			   (unsigned char)text[offset]);
	else
		diag_error(diag, place, "found the byte 0x%02x, expected text in UTF-8",
			   (unsigned char)text[offset]);
}

static void report_character(char c, struct place place, struct diag *diag)
{
	if (c == '\t')
		diag_error(diag, place,
			   "found a tab, expected spaces: YAML is indented with spaces alone");
	else
		diag_error(diag, place,
			   "found '%c', expected quotes around text that begins with it", c);
}

static void report_phrase(const yaml_parser_t *parser, const struct phrase *phrase,
			  struct diag *diag)
{
	bool has_context = parser->context != NULL;
	yaml_mark_t mark = phrase->at == AT_CONTEXT && has_context ? parser->context_mark
								   : parser->problem_mark;
	struct place begin = tree_syntax_place(parser->context_mark);

	if (phrase->names_begin)
		diag_error(diag, tree_syntax_place(mark), "%s %u:%u", phrase->text, begin.line,
			   begin.column);
	else
		diag_error(diag, tree_syntax_place(mark), "%s", phrase->text);
}

void tree_syntax_report(const yaml_parser_t *parser, const char *text, size_t length,
			struct diag *diag)
{
	struct place place = tree_syntax_place(parser->problem_mark);
	const char *problem = parser->problem ? parser->problem : "no reason given";

	if (parser->error == YAML_MEMORY_ERROR) {
		diag_error(diag, (struct place){ 0 }, "out of memory");
		return;
	}
	if (parser->error == YAML_READER_ERROR) {
		report_bytes(parser, text, length, diag);
		return;
	}
	if (strcmp(problem, "found character that cannot start any token") == 0 ||
	    (strcmp(problem, "did not find expected node content") == 0 &&
	     byte_at(text, length, place) == ':')) {
		report_character(byte_at(text, length, place), place, diag);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(phrases); i++) {
		if (strcmp(problem, phrases[i].problem) != 0)
			continue;
		report_phrase(parser, &phrases[i], diag);
		return;
	}
	diag_error(diag, place, "found no YAML here: %s%s%s",
		   parser->context ? parser->context : "", parser->context ? ", " : "", problem);
}
