/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One row for each language: see "How to add a language" in CONTRIBUTING.md. */
#include "language.h"

/* RFC 9110, 15.1 and 10.2.3; spaces before a number are optional white space (5.6.3). */
#define HTTP_HEAD                                                                                  \
	"HTTP/1.1 {status}\r\n"                                                                    \
	"Retry-After: {wait_s}\r\n"                                                                \
	"{headers}"                                                                                \
	"Content-Length: {length}\r\n"                                                             \
	"Connection: close\r\n"                                                                    \
	"\r\n"

static const struct language languages[_STILE_LANGUAGE_MAX] = {
	[STILE_LANGUAGE_HTTP] = {
		.rules = {
			{ .request = LANGUAGE_BYTES("HEAD "), .text = LANGUAGE_BYTES(HTTP_HEAD) },
			{ .text = LANGUAGE_BYTES(HTTP_HEAD "{body}") },
		},
		.n_rules = 2,
	},
	/* RFC 5321, 3.1 and 4.2.3; RFC 3463, 3.5: X.4.5, mail system congestion. */
	[STILE_LANGUAGE_SMTP] = {
		.speaks_first = true,
		.rules = { { .text = LANGUAGE_BYTES("421 4.4.5 Service busy, try again in "
						    "{wait_s} seconds\r\n") } },
		.n_rules = 1,
	},
};

const struct language *language_of(enum stile_language language)
{
	return language < _STILE_LANGUAGE_MAX && languages[language].n_rules ? &languages[language]
									     : NULL;
}
