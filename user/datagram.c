/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The languages on UDP. Numbers and layouts are those of the documents named beside them. */
#include <errno.h>
#include <string.h>

#include "datagram.h"
#include "raw.h"
#include "util.h"

struct piece {
	enum stile_piece_kind kind;
	const char *text;
	uint16_t offset, length;
	uint8_t mask, bits;
};

/* What the request begins with at @offset, through @mask; NULL: whatever. */
struct rule {
	const char *value, *mask;
	size_t n_match; /* bytes of both */
	uint16_t offset, least;
	const struct piece *pieces; /* NULL: it gets no answer */
	size_t n_pieces;
};

struct line {
	const char *name; /* in small letters */
	unsigned int which;
	bool once, gets_tag; /* the first: it may not come twice */
};

struct table {
	const struct rule *rules;
	size_t n_rules;
	const struct line *lines;
	size_t n_lines;
};

#define TEXT(bytes)                                                                                \
	{                                                                                          \
		.kind = STILE_PIECE_TEXT, .text = (bytes), .length = sizeof(bytes) - 1             \
	}
#define COPY(at, n)                                                                                \
	{                                                                                          \
		.kind = STILE_PIECE_COPY, .offset = (at), .length = (n)                            \
	}
#define BITS(at, kept, set)                                                                        \
	{                                                                                          \
		.kind = STILE_PIECE_BITS, .offset = (at), .mask = (kept), .bits = (set)            \
	}
#define MATCH(at, what, through)                                                                   \
	.offset = (at), .value = (what), .mask = (through), .n_match = sizeof(through) - 1
#define PIECES(list) .pieces = (list), .n_pieces = ARRAY_SIZE(list)

/*
 * DNS (RFC 1035, 4.1.1): the question as it came, EDNS and all, as a response (QR). Truncated (TC)
 * without an answer sends a resolver to TCP (RFC 7766, 5); the response code is the other way.
 * Only a standard query (OPCODE 0) with one question and no records is asked here.
 */
#define DNS_QUERY MATCH(2, "\0\0\0\1\0\0\0\0", "\xf8\0\xff\xff\xff\xff\xff\xff"), .least = 17

static const struct piece dns_truncated[] = {
	COPY(0, 2),
	BITS(2, 0x79, 0x82), /* OPCODE and RD stay; QR and TC */
	BITS(3, 0x10, 0x00), /* CD stays (RFC 4035, 3.2.2) */
	COPY(4, STILE_DATAGRAM_REST),
};
static const struct piece dns_refused[] = {
	COPY(0, 2),
	BITS(2, 0x79, 0x80),
	BITS(3, 0x10, 0x05), /* REFUSED */
	COPY(4, STILE_DATAGRAM_REST),
};
static const struct rule dns_rules[] = { { DNS_QUERY, PIECES(dns_truncated) } };
static const struct rule dns_refusing_rules[] = { { DNS_QUERY, PIECES(dns_refused) } };

/*
 * NTP (RFC 5905, 7.3 and 7.4): a kiss-o'-death, code RATE, to a client (mode 3), in its version.
 * Its transmit time comes back as the origin's, as it must, and as the other two: there is no
 * clock here, and zeros would make clients discard the packet.
 */
static const struct piece ntp_kiss[] = {
	BITS(0, 0x38, 0xc4), /* the version stays; LI 3, mode 4 (server) */
	TEXT("\0"),	     /* stratum 0 */
	{ .kind = STILE_PIECE_POLL, .offset = 2 },
	TEXT("\0\0\0\0\0\0\0\0\0"), /* precision, root delay, root dispersion */
	TEXT("RATE"),
	TEXT("\0\0\0\0\0\0\0\0"), /* reference time */
	COPY(40, 8),		  /* origin, */
	COPY(40, 8),		  /* receive, */
	COPY(40, 8),		  /* and transmit time */
};
static const struct rule ntp_rules[] = { { MATCH(0, "\3", "\7"), .least = 48, PIECES(ntp_kiss) } };

/*
 * CoAP (RFC 7252): 5.03 with Max-Age, in seconds (5.9.3.4, 5.10.5; option 14 of two bytes), message
 * ID and token as they came. A confirmable request is answered in its acknowledgment (5.2.1),
 * another in a message like itself (5.2.3). Empty messages are pings (4.3) and get nothing.
 */
#define COAP_REST                                                                                  \
	TEXT("\xa3"), COPY(2, 2), { .kind = STILE_PIECE_COUNTED, .offset = 4, .length = 0 },       \
		TEXT("\xd2\x01"),                                                                  \
	{                                                                                          \
		.kind = STILE_PIECE_BINARY, .length = 2                                            \
	}

static const struct piece coap_acknowledgment[] = { BITS(0, 0x0f, 0x60), COAP_REST };
static const struct piece coap_another[] = { BITS(0, 0x0f, 0x50), COAP_REST };
static const struct rule coap_rules[] = {
	{ MATCH(0, "\x40\x00", "\xc0\xff") },
	{ MATCH(0, "\x40\x00", "\xf0\xe0"), .least = 4, PIECES(coap_acknowledgment) },
	{ MATCH(0, "\x50\x00", "\xf0\xe0"), .least = 4, PIECES(coap_another) },
};

/*
 * SIP (RFC 3261): 503 with Retry-After (21.5.4, 20.33), and the headers that a response takes from
 * its request as they came (8.2.6.2; short names: 7.3.3), To with a tag. Whoever keeps no state
 * answers no ACK and no CANCEL (8.2.7), nobody answers a response. It goes where the request came
 * from, as RFC 3581 has it, and Via does not say so: "received" and "rport" would need room.
 */
static const struct piece sip_busy[] = {
	TEXT("SIP/2.0 503 Service Unavailable\r\n"),
	{ .kind = STILE_PIECE_LINES },
	TEXT("Retry-After: "),
	{ .kind = STILE_PIECE_SECONDS },
	TEXT("\r\nContent-Length: 0\r\n\r\n"),
};
static const struct piece sip_short[] = {
	TEXT("SIP/2.0 503 Service Unavailable\r\n"),
	{ .kind = STILE_PIECE_LINES },
	TEXT("Content-Length: 0\r\n\r\n"),
};
static const struct rule sip_rules[] = {
	{ MATCH(0, "ACK ", "\xff\xff\xff\xff") },
	{ MATCH(0, "CANCEL ", "\xff\xff\xff\xff\xff\xff\xff") },
	{ MATCH(0, "SIP/", "\xdf\xdf\xdf\xff") },
	{ .least = 1, PIECES(sip_busy) },
	{ .least = 1, PIECES(sip_short) },
};
static const struct line sip_lines[] = {
	{ "via", 1, false, false },    { "v", 1, false, false }, { "from", 2, true, false },
	{ "f", 2, true, false },       { "to", 4, true, true },	 { "t", 4, true, true },
	{ "call-id", 8, true, false }, { "i", 8, true, false },	 { "cseq", 16, true, false },
};
#define SIP_TAG ";tag="
#define SIP_FIRST_ENDS " sip/2.0" /* 7.1 */

#define LANGUAGE(list)                                                                             \
	{                                                                                          \
		.rules = (list), .n_rules = ARRAY_SIZE(list)                                       \
	}

static const struct table languages[_STILE_LANGUAGE_MAX] = {
	[STILE_LANGUAGE_DNS] = LANGUAGE(dns_rules),
	[STILE_LANGUAGE_NTP] = LANGUAGE(ntp_rules),
	[STILE_LANGUAGE_COAP] = LANGUAGE(coap_rules),
	[STILE_LANGUAGE_SIP] = { .rules = sip_rules,
				 .n_rules = ARRAY_SIZE(sip_rules),
				 .lines = sip_lines,
				 .n_lines = ARRAY_SIZE(sip_lines) },
};

bool datagram_speaks(enum stile_language language)
{
	return language == STILE_LANGUAGE_RAW || languages[language].rules;
}

/* A struct stile_datagram as it grows. */
struct builder {
	struct stile_datagram *out;
	uint8_t n_pieces;
	bool full;
};

static void add_piece(struct builder *builder, const struct piece *piece)
{
	struct stile_datagram *out = builder->out;
	struct stile_piece *to = &out->pieces[builder->n_pieces];
	size_t text = piece->kind == STILE_PIECE_TEXT ? piece->length : 0;

	if (builder->n_pieces == STILE_DATAGRAM_PIECES ||
	    text > STILE_DATAGRAM_TEXT - out->n_text || text > STILE_DATAGRAM_TEXT_PIECE) {
		builder->full = true;
		return;
	}
	*to = (struct stile_piece){
		.kind = (uint8_t)piece->kind,
		.offset = text ? (uint16_t)out->n_text : piece->offset,
		.length = piece->length,
		.mask = piece->mask,
		.bits = piece->bits,
	};
	if (text && piece->text)
		memcpy(out->text + out->n_text, piece->text, text);
	out->n_text += (uint32_t)text;
	builder->n_pieces++;
}

static uint64_t word_of(const char *bytes, size_t n)
{
	uint64_t word = 0;

	if (n)
		memcpy(&word, bytes, n);
	return word;
}

static void add_rule(struct builder *builder, const struct rule *rule)
{
	struct stile_datagram *out = builder->out;

	out->rules[out->n_rules++] = (struct stile_datagram_rule){
		.mask = word_of(rule->mask, rule->n_match),
		.value = word_of(rule->value, rule->n_match),
		.offset = rule->offset,
		.least = rule->least,
		.first = builder->n_pieces,
		.n_pieces = (uint8_t)rule->n_pieces,
	};
	for (size_t i = 0; i < rule->n_pieces; i++)
		add_piece(builder, &rule->pieces[i]);
}

static bool add_text(struct builder *builder, const char *text, size_t length)
{
	struct stile_datagram *out = builder->out;

	if (length > STILE_DATAGRAM_TEXT - out->n_text) {
		builder->full = true;
		return false;
	}
	memcpy(out->text + out->n_text, text, length);
	out->n_text += (uint32_t)length;
	return true;
}

/* It is looked for in the last bytes of a word. */
static void add_tag(struct builder *builder)
{
	static const char all[] = "\xff\xff\xff\xff\xff";
	struct stile_datagram_parameter *to = &builder->out->parameter;
	size_t length = strlen(SIP_TAG), before = sizeof(to->name) - length;

	to->text = (uint16_t)builder->out->n_text;
	to->text_length = (uint16_t)length;
	memcpy((char *)&to->name + before, SIP_TAG, length);
	memcpy((char *)&to->mask + before, all, length);
	(void)add_text(builder, SIP_TAG, length); /* the builder knows */
}

static void add_lines(struct builder *builder, const struct table *language)
{
	struct stile_datagram *out = builder->out;

	if (language->n_lines == 0)
		return;
	add_tag(builder);
	out->first_ends = word_of(SIP_FIRST_ENDS, strlen(SIP_FIRST_ENDS));
	for (size_t i = 0; i < language->n_lines; i++) {
		const struct line *line = &language->lines[i];

		out->lines_needed |= line->which;
		out->lines[out->n_lines++] = (struct stile_datagram_line){
			.name = word_of(line->name, strlen(line->name)),
			.which = (uint8_t)line->which,
			.once = line->once,
			.gets = line->gets_tag,
		};
	}
}

/* The answer is shorter than the request: two hosts that answer each other come to an end. */
static void add_raw(struct builder *builder, const struct raw *raw)
{
	static const enum stile_piece_kind kinds[] = {
		[RAW_BYTES] = STILE_PIECE_TEXT,
		[RAW_WAIT_S] = STILE_PIECE_SECONDS,
		[RAW_WAIT_MS] = STILE_PIECE_MILLISECONDS,
		[RAW_REQUEST] = STILE_PIECE_COPY,
	};

	for (unsigned int i = 0; i < raw->n_pieces; i++) {
		const struct raw_piece *from = &raw->pieces[i];
		struct piece piece = { .kind = kinds[from->kind], .offset = from->offset };
		size_t left = from->length;

		do {
			piece.length = (uint16_t)(left > STILE_DATAGRAM_TEXT_PIECE
							  ? STILE_DATAGRAM_TEXT_PIECE
							  : left);
			if (from->kind == RAW_BYTES)
				piece.text = (const char *)raw->bytes + piece.offset;
			add_piece(builder, &piece);
			left -= piece.length;
			piece.offset = (uint16_t)(piece.offset + piece.length);
		} while (left);
	}
	builder->out->rules[0] = (struct stile_datagram_rule){ .least = 1,
							       .shorter = 1,
							       .n_pieces = builder->n_pieces };
	builder->out->n_rules = 1;
}

int datagram_build(enum stile_language language, const struct datagram_wish *wish,
		   struct stile_datagram *ret_datagram)
{
	static const struct table refusing = LANGUAGE(dns_refusing_rules);
	const struct table *table = &languages[language];
	struct stile_datagram out = { 0 };
	struct builder builder = { .out = &out };

	if (!datagram_speaks(language))
		return -ENOENT;
	if (language == STILE_LANGUAGE_DNS && wish->dns_refused)
		table = &refusing;
	for (size_t i = 0; i < table->n_rules; i++)
		add_rule(&builder, &table->rules[i]);
	add_lines(&builder, table);
	if (language == STILE_LANGUAGE_RAW)
		add_raw(&builder, wish->raw);
	if (builder.full)
		return -EMSGSIZE;
	*ret_datagram = out;
	return 0;
}
