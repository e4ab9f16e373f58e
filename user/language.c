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
	/* RFC 5321, 3.1 and 4.2.3; a greeting has no enhanced code (RFC 2034, 3). */
	[STILE_LANGUAGE_SMTP] = {
		.speaks_first = true,
		.rules = { { .text = LANGUAGE_BYTES("421 Service busy, try again in {wait_s} "
						    "seconds\r\n") } },
		.n_rules = 1,
	},
	/*
	 * RESP, "Simple errors"; the words are those of Redis itself at maxclients, by which
	 * client libraries know the error: there is no place for the wait.
	 */
	[STILE_LANGUAGE_REDIS] = {
		.rules = { { .text = LANGUAGE_BYTES("-ERR max number of clients reached\r\n") } },
		.n_rules = 1,
	},
	/*
	 * PostgreSQL, "Message Formats": SSLRequest and GSSENCRequest get N (the client goes on
	 * without); whatever else is there an ErrorResponse with the words and the SQLSTATE of a
	 * server at max_connections, and a hint.
	 */
	[STILE_LANGUAGE_POSTGRESQL] = {
		.rules = {
			{ .request = LANGUAGE_BYTES("\0\0\0\x08\x04\xd2\x16\x2f"),
			  .text = LANGUAGE_BYTES("N"),
			  .goes_on = true },
			{ .request = LANGUAGE_BYTES("\0\0\0\x08\x04\xd2\x16\x30"),
			  .text = LANGUAGE_BYTES("N"),
			  .goes_on = true },
			{ .text = LANGUAGE_BYTES("E\0\0\0\x57" "SFATAL\0" "VFATAL\0" "C53300\0"
						 "Msorry, too many clients already\0"
						 "HTry again in {wait_s} seconds.\0\0") },
		},
		.n_rules = 3,
		.prelude = 2,
	},
	/*
	 * MySQL client/server protocol, ERR_Packet before the handshake: a length of three bytes,
	 * sequence 0, 0xff, error 1040 (ER_CON_COUNT_ERROR) and the words of a server at
	 * max_connections.
	 */
	[STILE_LANGUAGE_MYSQL] = {
		.speaks_first = true,
		.rules = { { .text = LANGUAGE_BYTES("\x17\0\0\0\xff\x10\x04"
						    "Too many connections") } },
		.n_rules = 1,
	},
	/*
	 * OPC 10000-6, 7.1.2.2 and 7.1.2.5: an Error message of 36 bytes, BadTcpServerTooBusy
	 * (0x807D0000), and a reason of 20, by which clients know how long to wait.
	 */
	[STILE_LANGUAGE_OPCUA] = {
		.rules = { { .text = LANGUAGE_BYTES("ERRF\x24\0\0\0\0\0\x7d\x80\x14\0\0\0"
						    "RetryAfterMs={wait_ms0}") } },
		.n_rules = 1,
	},
	/* RFC 8446, 5.1, 6 and 6.2: a record with a fatal alert, internal_error (80). */
	[STILE_LANGUAGE_TLS] = {
		.rules = { { .text = LANGUAGE_BYTES("\x15\x03\x03\0\x02\x02\x50") } },
		.n_rules = 1,
	},
	/*
	 * RFC 7766, 8: a length of two bytes, and a message; RFC 1035, 4.1.1: a header alone, the
	 * query's ID, a response (QR) that is REFUSED (5), where OPCODE, RD and CD stay. A segment
	 * that does not bring the count of questions, as one with the length alone, has no ID to
	 * answer: the connection is closed.
	 */
	[STILE_LANGUAGE_DNS] = {
		.rules = {
			{ .request = LANGUAGE_BYTES("\0\0"),
			  .offset = 6,
			  .text = LANGUAGE_BYTES("") },
			{ .text = LANGUAGE_BYTES("\0\x0c{request:2:2}{bits:4:121:128}"
						 "{bits:5:16:5}\0\0\0\0\0\0\0\0") },
		},
		.n_rules = 2,
	},
};

const struct language *language_of(enum stile_language language)
{
	return language < _STILE_LANGUAGE_MAX && languages[language].n_rules ? &languages[language]
									     : NULL;
}
