/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An answer of the operator's own, app_protocol raw: bytes, and places in them that are filled in
 * when it is sent. In the file it is ASCII: \xNN is any byte, \r \n \t \0 \\ \{ and \} are those,
 * and {wait_s}, {wait_ms} and {request:OFFSET:LENGTH} are places. It knows no packets.
 */
#ifndef STILE_RAW_H
#define STILE_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_BYTES_MAX 1024 /* places not counted */
#define RAW_PLACES_MAX 8
#define RAW_PIECES_MAX (2 * RAW_PLACES_MAX + 1)
#define RAW_REQUEST_MAX 64 /* bytes of the request in one place */
#define RAW_OFFSET_MAX 1400

enum raw_kind { RAW_BYTES, RAW_WAIT_S, RAW_WAIT_MS, RAW_REQUEST };

struct raw_piece {
	enum raw_kind kind;
	uint16_t offset, length; /* of the bytes, or of the request */
};

struct raw {
	bool server_first;
	uint8_t bytes[RAW_BYTES_MAX];
	size_t n_bytes;
	struct raw_piece pieces[RAW_PIECES_MAX];
	unsigned int n_pieces;
};

struct raw_mistake {
	char found[32];
	const char *expected;
};

/* Reads @text into *ret_raw, of which server_first stays. False: *ret_mistake says why. */
bool raw_parse(const char *text, struct raw *ret_raw, struct raw_mistake *ret_mistake);

#endif /* STILE_RAW_H */
