/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Read from left to right; what is not an escape and not a place is itself. */
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "util.h"

struct reading {
	const char *text, *at;
	unsigned int n_places;
	struct raw *raw;
	struct raw_mistake *mistake;
};

/* Quotes what is there, as far as it belongs together. */
static bool refuse(struct reading *reading, const char *expected)
{
	size_t length = strcspn(reading->at, *reading->at == '{' ? "}" : " ");

	length += reading->at[length] == '}';
	if (length >= sizeof(reading->mistake->found))
		length = sizeof(reading->mistake->found) - 1;
	snprintf(reading->mistake->found, sizeof(reading->mistake->found), "%.*s", (int)length,
		 reading->at);
	reading->mistake->expected = expected;
	return false;
}

static bool add_piece(struct reading *reading, const struct raw_piece *piece)
{
	struct raw *raw = reading->raw;

	if (piece->kind != RAW_BYTES && reading->n_places++ == RAW_PLACES_MAX)
		return refuse(reading, "at most 8 places");
	raw->pieces[raw->n_pieces++] = *piece;
	return true;
}

static bool add_byte(struct reading *reading, uint8_t byte)
{
	struct raw *raw = reading->raw;
	struct raw_piece *last = raw->n_pieces ? &raw->pieces[raw->n_pieces - 1] : NULL;

	if (raw->n_bytes == RAW_BYTES_MAX) {
		reading->at = reading->text;
		return refuse(reading, "at most 1024 bytes");
	}
	if (!last || last->kind != RAW_BYTES) {
		const struct raw_piece piece = { RAW_BYTES, (uint16_t)raw->n_bytes, 0 };

		if (!add_piece(reading, &piece))
			return false;
		last = &raw->pieces[raw->n_pieces - 1];
	}
	raw->bytes[raw->n_bytes++] = byte;
	last->length++;
	return true;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 'a' - 'A' : c) : NULL;

	return found ? (int)(found - digits) : -1;
}

static bool read_escape(struct reading *reading)
{
	static const char letters[] = "rnt0\\{}", bytes[] = "\r\n\t\0\\{}";
	const char *at = reading->at + 1, *letter = *at ? strchr(letters, *at) : NULL;
	int high, low;

	if (letter) {
		reading->at += 2;
		return add_byte(reading, (uint8_t)bytes[letter - letters]);
	}
	high = *at == 'x' ? hex_digit(at[1]) : -1;
	low = high >= 0 ? hex_digit(at[2]) : -1;
	if (high < 0 || low < 0)
		return refuse(reading, "\\xNN, \\r, \\n, \\t, \\0, \\\\, \\{ or \\}");
	reading->at += 4;
	return add_byte(reading, (uint8_t)((unsigned int)high << 4 | (unsigned int)low));
}

/* Digits behind @before, and nothing else: no signs, no blanks. */
static bool read_number(const char **at, char before, unsigned int max, unsigned int *ret_number)
{
	const char *digit = *at + 1;
	unsigned int number = 0;

	if (**at != before || *digit < '0' || *digit > '9')
		return false;
	for (; *digit >= '0' && *digit <= '9'; digit++) {
		number = 10 * number + (unsigned int)(*digit - '0');
		if (number > max)
			return false;
	}
	*at = digit;
	*ret_number = number;
	return true;
}

static bool read_request(struct reading *reading)
{
	static const char expected[] = "{request:OFFSET:LENGTH}, an offset of 1400 at most and a "
				       "length from 1 to 64";
	const char *at = reading->at + strlen("{request");
	unsigned int offset, length;

	if (!read_number(&at, ':', RAW_OFFSET_MAX, &offset) ||
	    !read_number(&at, ':', RAW_REQUEST_MAX, &length) || *at != '}' || length == 0)
		return refuse(reading, expected);
	if (!add_piece(reading,
		       &(struct raw_piece){ RAW_REQUEST, (uint16_t)offset, (uint16_t)length }))
		return false;
	reading->at = at + 1;
	return true;
}

/* Whatever else begins with a brace is itself, but for what looks like a place. */
static bool read_brace(struct reading *reading)
{
	static const struct {
		const char *name;
		enum raw_kind kind;
	} places[] = { { "{wait_s}", RAW_WAIT_S }, { "{wait_ms}", RAW_WAIT_MS } };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		size_t length = strlen(places[i].name);

		if (strncmp(reading->at, places[i].name, length) != 0)
			continue;
		if (!add_piece(reading, &(struct raw_piece){ .kind = places[i].kind }))
			return false;
		reading->at += length;
		return true;
	}
	if (strncmp(reading->at, "{request", strlen("{request")) == 0)
		return read_request(reading);
	if (strncmp(reading->at, "{wait", strlen("{wait")) == 0)
		return refuse(reading, "{wait_s} or {wait_ms}; \\{ is a brace");
	reading->at++;
	return add_byte(reading, '{');
}

static bool read_one(struct reading *reading)
{
	if (*reading->at == '\\')
		return read_escape(reading);
	if (*reading->at == '{')
		return read_brace(reading);
	if ((uint8_t)*reading->at >= 0x80)
		return refuse(reading, "ASCII: other bytes are \\xNN, in 'single quotes'");
	return add_byte(reading, (uint8_t)*reading->at++);
}

bool raw_parse(const char *text, struct raw *ret_raw, struct raw_mistake *ret_mistake)
{
	struct raw raw = { .server_first = ret_raw->server_first };
	struct reading reading = { .text = text, .at = text, .raw = &raw, .mistake = ret_mistake };

	if (!*text)
		return refuse(&reading, "what is sent");
	while (*reading.at)
		if (!read_one(&reading))
			return false;
	*ret_raw = raw;
	return true;
}
