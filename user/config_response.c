/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of a limiter that are about HTTP: what a refusal says, and what Trickster adds to every
 * response. They are checked whole, so that a file which is right stays right once they count.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config_block.h"
#include "util.h"

/* RFC 9110, 5.6.2: what a name of a header is made of. */
#define TOKEN                                                                                      \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"                                     \
	"0123456789!#$%&'*+-.^_`|~"

static void read_status(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_limiter *limiter = object;
	uint64_t status;

	if (config_value_number(reader, value, (struct config_range){ 400, 599 }, &status))
		limiter->response.status = (unsigned int)status;
}

static void keep_text(struct config_reader *reader, const char *text, char **ret_text)
{
	if (!text)
		return;
	free(*ret_text);
	*ret_text = strdup(text);
	if (!*ret_text)
		reader->failed = true;
}

static void read_body(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config_limiter *limiter = object;

	keep_text(reader, config_value_text(reader, value, "text"), &limiter->response.body);
}

/* Why a response cannot be given the header, or NULL. */
static const char *reserved(const char *name)
{
	static const struct {
		const char *name, *why;
	} headers[] = {
		{ "Retry-After", "it is computed from the client's bucket" },
		{ "RateLimit", "it is a quota header" },
		{ "RateLimit-Policy", "it is a quota header" },
		{ "X-RateLimit-Limit", "it is a quota header" },
		{ "X-RateLimit-Remaining", "it is a quota header" },
		{ "X-RateLimit-Reset", "it is a quota header" },
		{ "Content-Length", "it is computed from the body" },
		{ "Transfer-Encoding", "the body is sent as it is" },
		{ "Connection", "it is for one hop only" },
		{ "Keep-Alive", "it is for one hop only" },
		{ "Proxy-Authenticate", "it is for one hop only" },
		{ "Proxy-Authorization", "it is for one hop only" },
		{ "Proxy-Connection", "it is for one hop only" },
		{ "TE", "it is for one hop only" },
		{ "Trailer", "it is for one hop only" },
		{ "Upgrade", "it is for one hop only" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (strcasecmp(name, headers[i].name) == 0)
			return headers[i].why;
	return NULL;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7f)
			return true;
	return false;
}

static void add_header(struct config_reader *reader, struct language_response *response,
		       const char *name, const char *value)
{
	struct language_header *grown =
		config_value_grow(reader, response->headers, response->n_headers, sizeof(*grown));

	if (!grown)
		return;
	response->headers = grown;
	grown += response->n_headers++;
	*grown = (struct language_header){ NULL, NULL };
	keep_text(reader, name, &grown->name);
	keep_text(reader, value, &grown->value);
}

static void read_header(struct config_reader *reader, const struct tree_node *key,
			const struct tree_node *value, struct language_response *response)
{
	const char *name = tree_text(reader->tree, key);
	const char *why = reserved(name), *text;

	if (!*name || name[strspn(name, TOKEN)])
		config_value_refuse(reader, key, "a header's name, such as Cache-Control");
	else if (why)
		config_value_refuse(reader, key, "another header: %s", why);
	text = config_value_text(reader, value, "a header's value");
	if (text && has_control(text))
		config_value_refuse(reader, value, "a header's value in one line");
	else if (text)
		add_header(reader, response, name, text);
}

static void read_headers(struct config_reader *reader, const struct tree_node *value, void *object)
{
	const struct tree_node *key, *text;
	struct config_limiter *limiter = object;
	struct tree_walk walk = { 0 };

	if (value->kind != TREE_MAP) {
		config_value_refuse(reader, value,
				    "a map of headers, such as {Cache-Control: no-store}");
		return;
	}
	while ((key = tree_walk_map(reader->tree, value, &walk, &text)))
		read_header(reader, key, text, &limiter->response);
}

void config_response_release(struct language_response *response)
{
	for (size_t i = 0; i < response->n_headers; i++) {
		free(response->headers[i].name);
		free(response->headers[i].value);
	}
	free(response->headers);
	free(response->body);
}

void config_read_response(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const struct config_field fields[] = {
		{ "status", read_status },
		{ "body", read_body },
		{ "headers", read_headers },
		{ NULL, NULL },
	};
	static const struct config_block block = { .what = "response",
						   .example = "status",
						   .fields = fields };
	struct config_limiter *limiter = object;

	limiter->response_place = value->place;
	config_block_read(reader, value, &block, object);
}

void config_read_missing_key(struct config_reader *reader, const struct tree_node *value,
			     void *object)
{
	static const char *const names[] = { "exempt", "shared", NULL };
	const struct config_words words = { names, NULL };
	unsigned int ignored;

	(void)object; /* every packet has a source address: client_ip is never missing */
	config_value_word(reader, value, words, &ignored);
}

void config_read_policy_headers(struct config_reader *reader, const struct tree_node *value,
				void *object)
{
	static const char *const names[] = { "none", NULL };
	const struct config_words words = { names, NULL };
	unsigned int ignored;

	(void)object; /* none is all that there is */
	if (config_value_is(reader, value, "ietf") || config_value_is(reader, value, "legacy"))
		config_value_refuse(reader, value,
				    "none: only an HTTP proxy can add headers to the responses of "
				    "a service; 'stile explain' and 'stile clients' tell what is "
				    "left of a limit");
	else
		config_value_word(reader, value, words, &ignored);
}
