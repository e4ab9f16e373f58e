/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of a listener that say in which language its clients are told that it is busy. */
#include <stdlib.h>
#include <string.h>

#include "config_block.h"
#include "names.h"
#include "raw.h"
#include "util.h"

/* What else languages are called, so that the right name can be told. */
static const char *other_name(const char *name)
{
	static const struct {
		const char *name, *language;
	} names[] = {
		{ "https", "tls" },	   { "ssl", "tls" },	   { "postgres", "postgresql" },
		{ "pgsql", "postgresql" }, { "mariadb", "mysql" }, { "valkey", "redis" },
		{ "resp", "redis" },	   { "opc.tcp", "opcua" }, { "opc-ua", "opcua" },
		{ "opc_ua", "opcua" },	   { "domain", "dns" },	   { "submission", "smtp" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i].name) == 0)
			return names[i].language;
	return NULL;
}

void config_read_app_protocol(struct config_reader *reader, const struct tree_node *value,
			      void *object)
{
	const struct config_words words = { policy_language_names, NULL };
	struct config_listener *listener = object;
	const char *other = NULL;
	unsigned int language;
	char expected[256];

	listener->language_place = value->place;
	if (value->kind == TREE_SCALAR)
		other = other_name(tree_text(reader->tree, value));
	if (other)
		config_value_refuse(
			reader, value, "%s; did you mean '%s'?",
			config_value_words(policy_language_names, expected, sizeof(expected)),
			other);
	else if (config_value_word(reader, value, words, &language))
		listener->language = (enum stile_language)language;
}

void config_read_dns_answer(struct config_reader *reader, const struct tree_node *value,
			    void *object)
{
	static const char *const names[] = { "truncated", "refused", NULL };
	const struct config_words words = { names, NULL };
	struct config_listener *listener = object;
	unsigned int answer;

	listener->dns_answer_place = value->place;
	if (config_value_word(reader, value, words, &answer))
		listener->dns_refused = answer == 1;
}

static void read_first(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char *const names[] = { "client", "server", NULL };
	const struct config_words words = { names, NULL };
	struct raw *raw = object;
	unsigned int first;

	if (config_value_word(reader, value, words, &first))
		raw->server_first = first == 1;
}

static void read_bytes(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct raw_mistake mistake;
	const char *text;

	text = config_value_text(reader, value, "what is sent, such as 'BUSY {wait_s}\\r\\n'");
	if (!text || raw_parse(text, object, &mistake))
		return;
	config_value_mistake(reader, value->place, "bytes: found '%s', expected %s", mistake.found,
			     mistake.expected);
}

void config_read_raw(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const struct config_field fields[] = {
		{ "first", read_first },
		{ "bytes", read_bytes },
		{ NULL, NULL },
	};
	static const struct config_block block = { .what = "raw",
						   .example = "bytes",
						   .fields = fields };
	struct config_listener *listener = object;
	size_t mistakes = reader->n_mistakes;

	listener->raw_place = value->place;
	if (!listener->raw)
		listener->raw = calloc(1, sizeof(*listener->raw));
	if (!listener->raw) {
		reader->failed = true;
		return;
	}
	config_block_read(reader, value, &block, listener->raw);
	if (mistakes == reader->n_mistakes && listener->raw->n_pieces == 0)
		config_value_mistake(reader, value->place,
				     "raw: found no bytes, expected what is sent, such as {bytes: "
				     "'BUSY {wait_s}\\r\\n'}");
}
