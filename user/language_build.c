/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Texts with places, made into the bytes and patches of an answer. The last rule's comes first; one
 * that is the beginning of it takes no room.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "language.h"
#include "util.h"

#define STATUS 429
#define BODY "Too Many Requests\n"

struct writer {
	const struct language_response *response;
	struct stile_answer *answer;
	size_t length; /* of bytes, so far */
	unsigned int n_patches;
	int error;
};

static void put(struct writer *writer, const char *bytes, size_t n)
{
	if (writer->length + n > STILE_ANSWER_BYTES) {
		writer->error = -EMSGSIZE;
		return;
	}
	memcpy(writer->answer->bytes + writer->length, bytes, n);
	writer->length += n;
}

static void put_text(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

/* @patch, at the place that comes next, over bytes of its fill. */
static void put_patch(struct writer *writer, struct stile_patch patch)
{
	char fill[UINT8_MAX];

	if (writer->n_patches == STILE_ANSWER_PATCHES) {
		writer->error = -EMSGSIZE;
		return;
	}
	patch.offset = (__u16)writer->length;
	memset(fill, patch.fill, sizeof(fill));
	writer->answer->patches[writer->n_patches++] = patch;
	put(writer, fill, patch.width);
}

/* The reason phrases that a refusal is likely to want (RFC 9110, 15; RFC 6585, 4). */
static const char *phrase_of(unsigned int status)
{
	switch (status) {
	case 403:
		return "Forbidden";
	case 429:
		return "Too Many Requests";
	case 503:
		return "Service Unavailable";
	default:
		return "Refused";
	}
}

static void put_status(struct writer *writer)
{
	unsigned int status = writer->response->status ? writer->response->status : STATUS;
	char text[32];

	snprintf(text, sizeof(text), "%u %s", status, phrase_of(status));
	put_text(writer, text);
}

static const char *body_of(const struct language_response *response)
{
	return response->body ? response->body : BODY;
}

static void put_length(struct writer *writer)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", strlen(body_of(writer->response)));
	put_text(writer, text);
}

static void put_header(struct writer *writer, const char *name, const char *value)
{
	put_text(writer, name);
	put_text(writer, ": ");
	put_text(writer, value);
	put_text(writer, "\r\n");
}

static bool has_header(const struct language_response *response, const char *name)
{
	for (size_t i = 0; i < response->n_headers; i++)
		if (strcasecmp(response->headers[i].name, name) == 0)
			return true;
	return false;
}

/* A refusal is for this client and this moment, whatever else is said of it. */
static void put_headers(struct writer *writer)
{
	const struct language_response *response = writer->response;

	if (!has_header(response, "Cache-Control"))
		put_header(writer, "Cache-Control", "no-store");
	if (!has_header(response, "Content-Type") && *body_of(response))
		put_header(writer, "Content-Type", "text/plain; charset=utf-8");
	for (size_t i = 0; i < response->n_headers; i++)
		put_header(writer, response->headers[i].name, response->headers[i].value);
}

static void put_request(struct writer *writer, const char *where)
{
	unsigned int from, width;
	char end;

	if (sscanf(where, "%u:%u%c", &from, &width, &end) != 2 || from > UINT16_MAX || width == 0 ||
	    width > 64) {
		writer->error = -EINVAL;
		return;
	}
	put_patch(writer, (struct stile_patch){ .from = (__u16)from,
						.kind = STILE_PATCH_REQUEST,
						.width = (__u8)width });
}

/* One byte: the request's, as far as the mask goes, over another. */
static void put_bits(struct writer *writer, const char *where)
{
	unsigned int from, mask, byte;
	char end;

	if (sscanf(where, "%u:%u:%u%c", &from, &mask, &byte, &end) != 3 || from > UINT16_MAX ||
	    mask > UINT8_MAX || byte > UINT8_MAX) {
		writer->error = -EINVAL;
		return;
	}
	put_patch(writer, (struct stile_patch){ .from = (__u16)from,
						.kind = STILE_PATCH_REQUEST_BITS,
						.width = 1,
						.fill = (__u8)mask });
	if (!writer->error)
		writer->answer->bytes[writer->length - 1] = (__u8)byte;
}

static bool put_number(struct writer *writer, const char *name)
{
	static const struct {
		const char *name;
		struct stile_patch patch;
	} places[] = {
		{ "wait_s",
		  { .kind = STILE_PATCH_WAIT_S, .width = LANGUAGE_WIDTH_S, .fill = ' ' } },
		{ "wait_s0",
		  { .kind = STILE_PATCH_WAIT_S, .width = LANGUAGE_WIDTH_S, .fill = '0' } },
		{ "wait_ms",
		  { .kind = STILE_PATCH_WAIT_MS, .width = LANGUAGE_WIDTH_MS, .fill = ' ' } },
		{ "wait_ms0",
		  { .kind = STILE_PATCH_WAIT_MS, .width = LANGUAGE_WIDTH_MS, .fill = '0' } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strcmp(places[i].name, name) == 0) {
			put_patch(writer, places[i].patch);
			return true;
		}
	return false;
}

static void put_place(struct writer *writer, const char *name)
{
	static const struct {
		const char *name;
		void (*put)(struct writer *writer);
	} places[] = {
		{ "status", put_status },
		{ "headers", put_headers },
		{ "length", put_length },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strcmp(places[i].name, name) == 0) {
			places[i].put(writer);
			return;
		}
	if (strcmp(name, "body") == 0)
		put_text(writer, body_of(writer->response));
	else if (strncmp(name, "request:", strlen("request:")) == 0)
		put_request(writer, name + strlen("request:"));
	else if (strncmp(name, "bits:", strlen("bits:")) == 0)
		put_bits(writer, name + strlen("bits:"));
	else if (!put_number(writer, name))
		writer->error = -EINVAL;
}

static void put_places(struct writer *writer, struct language_bytes text)
{
	char name[32];

	for (size_t i = 0; i < text.length && !writer->error; i++) {
		const char *end = NULL;
		size_t n;

		if (text.at[i] == '{')
			end = memchr(text.at + i, '}', text.length - i);
		if (!end) {
			put(writer, &text.at[i], 1);
			continue;
		}
		n = (size_t)(end - text.at) - i - 1;
		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0),
			 text.at + i + 1);
		put_place(writer, name);
		i += n + 1;
	}
}

/* Whether @text is how the bytes of @writer begin anyway. */
static bool is_beginning(const struct writer *writer, const struct writer *text)
{
	return text->length <= writer->length && text->n_patches <= writer->n_patches &&
	       memcmp(writer->answer->bytes, text->answer->bytes, text->length) == 0 &&
	       memcmp(writer->answer->patches, text->answer->patches,
		      text->n_patches * sizeof(struct stile_patch)) == 0;
}

/* Puts @text behind what there is. Where it begins. */
static size_t append(struct writer *writer, const struct writer *text)
{
	size_t start = writer->length;

	put(writer, (const char *)text->answer->bytes, text->length);
	for (unsigned int i = 0; i < text->n_patches && !writer->error; i++) {
		struct stile_patch patch = text->answer->patches[i];

		if (writer->n_patches == STILE_ANSWER_PATCHES) {
			writer->error = -EMSGSIZE;
			break;
		}
		patch.offset = (__u16)(patch.offset + start);
		writer->answer->patches[writer->n_patches++] = patch;
	}
	return start;
}

static void put_rule(struct writer *writer, const struct language_rule *rule,
		     struct stile_answer_rule *ret_rule)
{
	struct stile_answer_rule out = { .offset = (__u16)rule->offset, .goes_on = rule->goes_on };
	autofree struct stile_answer *answer = calloc(1, sizeof(*answer));
	struct writer text = { .response = writer->response, .answer = answer };

	if (!answer) {
		writer->error = -ENOMEM;
		return;
	}
	if (rule->request.length)
		memcpy(out.value, rule->request.at, rule->request.length);
	memset(out.mask, 0xff, rule->request.length);
	put_places(&text, rule->text);
	if (text.error) {
		writer->error = text.error;
		return;
	}
	out.length = (__u16)text.length;
	if (!is_beginning(writer, &text))
		out.first = (__u16)append(writer, &text);
	if (out.goes_on && out.length > STILE_ANSWER_PIECE)
		writer->error = -EMSGSIZE;
	*ret_rule = out;
}

/* The rule before the last that does not go on, as struct stile_answer has it; of two -EINVAL. */
static int find_other(const struct language *language)
{
	int other = 0;

	for (unsigned int i = 0; i + 1 < language->n_rules; i++) {
		if (language->rules[i].goes_on)
			continue;
		if (other)
			return -EINVAL;
		other = (int)i + 1;
	}
	return other;
}

int language_build(const struct language *language, const struct language_response *response,
		   struct stile_answer *ret_answer)
{
	static const struct language close = { .speaks_first = true, .n_rules = 1 };
	autofree struct stile_answer *answer = calloc(1, sizeof(*answer));
	struct writer writer = { .response = response, .answer = answer };
	int other;

	if (!answer)
		return -ENOMEM;
	if (!language)
		language = &close;
	other = find_other(language);
	if (other < 0)
		return other;
	for (unsigned int i = language->n_rules; i-- > 0 && !writer.error;)
		put_rule(&writer, &language->rules[i], &answer->rules[i]);
	if (writer.error)
		return writer.error;
	answer->speaks_first = language->speaks_first;
	answer->prelude = (__u8)language->prelude;
	answer->n_rules = (__u8)language->n_rules;
	answer->other = (__u8)other;
	answer->n_patches = (__u8)writer.n_patches;
	answer->length = (__u16)writer.length;
	*ret_answer = *answer;
	return 0;
}
