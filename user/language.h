/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The application protocols, one row of data each: how a client is told that the service is busy.
 * A text is what is sent; places in it are filled in when it is sent: {wait_s}, {wait_ms}, and
 * {request:OFFSET:LENGTH}. It does not know listeners or limiters.
 */
#ifndef STILE_LANGUAGE_H
#define STILE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <stile/abi.h>

struct language_bytes {
	const char *at;
	size_t length;
};
#define LANGUAGE_BYTES(text)                                                                       \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

/* What is said to a request that begins as @request does at @offset; where empty: to any. */
struct language_rule {
	struct language_bytes request; /* at most STILE_ANSWER_MATCH bytes */
	unsigned int offset;
	struct language_bytes text;
	bool goes_on; /* the client is to speak again */
};

struct language {
	const char *name;
	enum stile_protocol protocol;
	bool speaks_first; /* the server does, on TCP */
	struct language_rule rules[STILE_ANSWER_RULES];
	unsigned int n_rules;
};

/* A header of an HTTP response. */
struct language_header {
	char *name, *value;
};

/* What the operator wants to have said, where the language has a place for it. */
struct language_response {
	unsigned int status;
	struct language_bytes body;
	const struct language_header *headers;
	size_t n_headers;
};

/* The language of that name, or NULL; names end with NULL. */
const struct language *language_find(const char *name);
extern const char *const language_names[];

/*
 * Writes the answer of @language. 0, -EMSGSIZE where it does not fit, or -EINVAL where a text's
 * place is not one; *ret_answer is written on success only.
 */
int language_build(const struct language *language, const struct language_response *response,
		   struct stile_answer *ret_answer);

#endif /* STILE_LANGUAGE_H */
