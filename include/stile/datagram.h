/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a language answers a datagram that is refused: data, which bpf/datagram.h carries out. The
 * first rule that the request meets, and whose pieces take no more bytes than the request has,
 * is the answer. Rules and pieces of all languages are in user/language_udp.c.
 */
#ifndef STILE_DATAGRAM_H
#define STILE_DATAGRAM_H

#include <linux/types.h>

#define STILE_DATAGRAM_SIZE 1472 /* of a request, at most: Ethernet's 1500 without IPv4 and UDP */
#define STILE_DATAGRAM_TEXT 1024
#define STILE_DATAGRAM_TEXT_PIECE 512 /* bytes of it in one piece, at most */
#define STILE_DATAGRAM_RULES 6
#define STILE_DATAGRAM_PIECES 24
#define STILE_DATAGRAM_LINES 12
#define STILE_DATAGRAM_REST 0xffff /* COPY: all that follows */
#define STILE_DATAGRAM_RANGES 64
#define STILE_DATAGRAM_LINE_RANGES 32
#define STILE_DATAGRAM_MADE 64
#define STILE_DATAGRAM_TAG 8 /* bytes at the start of those: the client's tag */

enum stile_piece_kind {
	STILE_PIECE_TEXT,    /* @length bytes at @offset of the text */
	STILE_PIECE_COPY,    /* @length bytes at @offset of the request */
	STILE_PIECE_COUNTED, /* the same, as many as the low half of the request's byte @length
				says, and no more than 8 (CoAP's token) */
	STILE_PIECE_BITS,    /* the request's byte at @offset, through @mask, with @bits set */
	STILE_PIECE_SECONDS, /* the wait in decimal */
	STILE_PIECE_MILLISECONDS,
	STILE_PIECE_BINARY, /* the wait in seconds, big-endian in @length bytes; more: the most */
	STILE_PIECE_POLL,   /* the wait's binary logarithm in seconds, rounded up, in one byte,
			       or the request's byte at @offset where that is more (NTP's poll) */
	STILE_PIECE_LINES,  /* the lines of the request that the answer's lines name */
	_STILE_PIECE_MAX,
};

struct stile_piece {
	__u16 offset, length;
	__u8 kind; /* enum stile_piece_kind */
	__u8 mask, bits;
	__u8 reserved;
};

/* Words are eight bytes as they lie in memory. */
struct stile_datagram_rule {
	__u64 mask, value; /* the request's bytes at offset, through the mask */
	__u16 offset;
	__u16 least;   /* bytes that the request has */
	__u8 first;    /* piece */
	__u8 n_pieces; /* 0: no answer */
	__u8 shorter;  /* 1: the answer has to be shorter than the request */
	__u8 reserved;
};

/* A line that is copied, with all that continue it (RFC 3261, 7.3.1). */
struct stile_datagram_line {
	__u64 name; /* in small letters, at most seven, and zeros behind them */
	__u8 which; /* lines with different names may be the same: bit in @lines_needed */
	__u8 once;  /* 1: a request that has it twice gets no answer */
	__u8 gets;  /* 1: the datagram's parameter is put behind it, where it has none; one line */
	__u8 reserved[5];
};

/*
 * A parameter: ";name=" as the last bytes of a word, in small letters, in the line that @gets it;
 * and where it lacks, that and the client's tag behind that line. Whatever stands between quotes
 * or angle brackets is not one (RFC 3261, 25.1).
 */
struct stile_datagram_parameter {
	__u64 mask, name;
	__u16 text, text_length; /* as it is put in: bytes of the text */
	__u8 reserved[4];
};

/* stile_datagrams (array). What is read in ranges comes first: the verifier adds up the most. */
struct stile_datagram {
	__u8 text[STILE_DATAGRAM_TEXT];
	struct stile_datagram_rule rules[STILE_DATAGRAM_RULES];
	struct stile_datagram_line lines[STILE_DATAGRAM_LINES];
	struct stile_piece pieces[STILE_DATAGRAM_PIECES];
	struct stile_datagram_parameter parameter;
	__u64 first_ends; /* what the line before those ends with, in small letters */
	__u32 n_rules, n_lines;
	__u32 lines_needed; /* one bit for each that the request has to have */
	__u32 n_text;
};

enum stile_range_source { STILE_RANGE_REQUEST, STILE_RANGE_TEXT, STILE_RANGE_MADE };

struct stile_datagram_range {
	__u16 from, length;
	__u32 source; /* enum stile_range_source */
};

enum stile_within {
	STILE_WITHIN_NOTHING,
	STILE_WITHIN_BRACKETS,
	STILE_WITHIN_QUOTES,
	STILE_WITHIN_ESCAPE
};

/* stile_work (per-CPU array of one): a request while it is answered. */
struct stile_datagram_work {
	__u8 request[2 * STILE_DATAGRAM_SIZE]; /* eight zeros follow it, and then anything */
	__u8 made[STILE_DATAGRAM_MADE];
	struct stile_datagram_range ranges[STILE_DATAGRAM_RANGES];
	struct stile_datagram_range lines[STILE_DATAGRAM_LINE_RANGES];
	__u64 recent; /* the last eight bytes of the line that are no part of a quoted one */
	__u32 size;   /* of the request */
	__u32 total;  /* of the answer so far */
	__u32 n_ranges, n_lines, n_made;
	__u32 seconds, milliseconds; /* the wait */
	__u32 cursor;		     /* where the next line begins, or byte */
	__u32 line;		     /* which of the answer's it continues; LINES: none */
	__u32 found;		     /* bits of the lines that are there */
	__u32 from, to;		     /* the line that gets a parameter */
	__u32 put;		     /* where that is among the lines */
	__u32 within;		     /* enum stile_within */
	__u32 has;		     /* 1: it has that parameter itself */
	__u32 failed;
};

_Static_assert(sizeof(struct stile_piece) == 8, "stile_piece");
_Static_assert(sizeof(struct stile_datagram_rule) == 24, "stile_datagram_rule");
_Static_assert(sizeof(struct stile_datagram_line) == 16, "stile_datagram_line");
_Static_assert(sizeof(struct stile_datagram_parameter) == 24, "stile_datagram_parameter");
_Static_assert(sizeof(struct stile_datagram) == 1024 + 6 * 24 + 12 * 16 + 24 * 8 + 24 + 8 + 16,
	       "stile_datagram");
_Static_assert(sizeof(struct stile_datagram_work) == 2 * 1472 + 64 + 64 * 8 + 32 * 8 + 8 + 16 * 4,
	       "stile_datagram_work");

#endif /* STILE_DATAGRAM_H */
