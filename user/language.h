/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The languages over TCP, a row of data each: how a client is told that the service is busy. A text
 * is what is sent, with places in it. Filled in when it is sent: {wait_s} and {wait_ms}, the time
 * to wait, with spaces on its left, {wait_s0} and {wait_ms0}, with zeros, and
 * {request:OFFSET:LENGTH}, bytes of the request, and {bits:OFFSET:MASK:BYTE}, one byte with some of
 * the request's bits. Filled in at once, with what the operator wants said: {status}, {headers},
 * {length} and {body}. It does not know listeners or limiters.
 */
#ifndef STILE_LANGUAGE_H
#define STILE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <stile/abi.h>

/* Places of a number: enough for the longest wait of any limiter, two hours. */
#define LANGUAGE_WIDTH_S 4
#define LANGUAGE_WIDTH_MS 7

struct raw;

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

/* The last rule is for any request, and does not go on; of the others all but one do. */
struct language {
	bool speaks_first; /* the server does */
	struct language_rule rules[STILE_ANSWER_RULES];
	unsigned int n_rules;
	unsigned int prelude; /* bytes that its rules which go on may say in one conversation */
};

struct language_header {
	char *name, *value;
};

/* What the operator wants to have said, where the language has a place for it. */
struct language_response {
	unsigned int status;
	char *body; /* NULL: the default */
	struct language_header *headers;
	size_t n_headers;
};

/* The language over TCP, or NULL: it is none. */
const struct language *language_of(enum stile_language language);

/*
 * Writes the answer of @language, or, where that is NULL, of action close. 0, -EMSGSIZE where it
 * does not fit, or -EINVAL where a text has a place that is none, or the rules are not as said
 * above; *ret_answer is written on success only.
 */
int language_build(const struct language *language, const struct language_response *response,
		   struct stile_answer *ret_answer);

/* The same of an operator's own bytes, which always fit. */
void language_build_raw(const struct raw *raw, struct stile_answer *ret_answer);

#endif /* STILE_LANGUAGE_H */
