/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a request in a language of lines (SIP) that its answer copies: found by their names,
 * and noted as ranges of bytes. The request lies in memory. Global functions with small frames: the
 * verifier looks at each by itself.
 */
#ifndef STILE_BPF_DATAGRAM_LINES_H
#define STILE_BPF_DATAGRAM_LINES_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <stile/abi.h>

#include "compiler.h"

#define DATAGRAM_WORDS ((STILE_DATAGRAM_SIZE + 7) / 8)
#define DATAGRAM_ROOM 2048 /* a power of two: the request, and more behind its end */
#define DATAGRAM_LINES (STILE_DATAGRAM_SIZE / 2) /* all that a request can have */
#define DATAGRAM_NAME 7				 /* letters that a line's name has at most */
#define DATAGRAM_HIGH 0x8080808080808080ULL
#define DATAGRAM_LOW 0x0101010101010101ULL
#define DATAGRAM_SMALL 0x2020202020202020ULL

_Static_assert(DATAGRAM_ROOM + 8 <= sizeof(((struct stile_datagram_work *)0)->request),
	       "it is there");

/*
 * Where in the request something may be; right behind its end are zeros. verifier: a branch would
 * be followed both ways at each turn of a loop.
 */
static __always_inline __u32 datagram_bound(__u32 offset)
{
	return offset & (DATAGRAM_ROOM - 1);
}

/* At any offset: the verifier allows that where the machine does. */
__attribute__((no_sanitize("alignment"))) static __always_inline __u64
datagram_word(const struct stile_datagram_work *work, __u32 offset)
{
	return *(const __u64 *)(work->request + datagram_bound(offset));
}

static __always_inline __u8 datagram_at(const struct stile_datagram_work *work, __u32 offset)
{
	return work->request[datagram_bound(offset)];
}

static __always_inline bool datagram_is_blank(__u8 byte)
{
	return byte == ' ' || byte == '\t';
}

/* Where the line at @start ends, its CR and LF included; 0: it does not, or not with both. */
__attribute__((noinline)) int datagram_line_end(const struct stile_datagram_work *work, __u32 start)
{
	__u64 word, feeds;
	__u32 i, end;

	if (!work)
		return 0;
	for (i = 0; i < DATAGRAM_WORDS; i++) {
		word = datagram_word(work, start + 8 * i) ^ DATAGRAM_LOW * '\n';
		feeds = (word - DATAGRAM_LOW) & ~word & DATAGRAM_HIGH; /* Mycroft, 1987 */
		if (feeds)
			break;
	}
	for (word = 0; word < 8; word++) {
		if (feeds >> 8 * word & 0xff)
			break;
	}
	end = start + 8 * i + word + 1;
	if (!feeds || end > work->size || end - start < 2)
		return 0;
	return datagram_at(work, end - 2) == '\r' ? end : 0;
}

/*
 * The name of the line at @start, in small letters with zeros behind them; 0: a longer one, or no
 * name. White space may stand before its colon (RFC 3261, 25.1, HCOLON).
 */
__attribute__((noinline)) __u64 datagram_name(const struct stile_datagram_work *work, __u32 start)
{
	__u64 name = 0;
	__u32 i, n;
	__u8 byte;

	if (!work)
		return 0;
	for (n = 0; n <= DATAGRAM_NAME; n++) {
		byte = datagram_at(work, start + n);
		if (byte == ':' || datagram_is_blank(byte))
			break;
		name |= (__u64)(byte | 0x20) << (8 * n & 63);
	}
	if (n > DATAGRAM_NAME)
		return 0;
	for (i = 0; i < STILE_DATAGRAM_SIZE; i++) {
		byte = datagram_at(work, start + n + i);
		if (!datagram_is_blank(byte))
			break;
	}
	return byte == ':' ? name : 0;
}

/* Which of the answer's lines the one at the cursor is; STILE_DATAGRAM_LINES: none. */
static __always_inline __u32 datagram_which_line(const struct stile_datagram *datagram,
						 const struct stile_datagram_work *work)
{
	__u64 name = datagram_name(work, work->cursor);
	__u32 i;

	for (i = 0; i < STILE_DATAGRAM_LINES; i++) {
		if (i < datagram->n_lines && name && name == datagram->lines[i].name)
			break;
	}
	return i;
}

/* What follows the range before it in the request becomes a part of it. */
static __always_inline void datagram_add_line(struct stile_datagram_work *work, __u32 source,
					      __u32 from, __u32 length)
{
	__u32 n = work->n_lines, last = n - 1;

	opaque(last);
	if (last < STILE_DATAGRAM_LINE_RANGES && source == STILE_RANGE_REQUEST &&
	    work->lines[last].source == source &&
	    work->lines[last].from + work->lines[last].length == from) {
		work->lines[last].length += length;
		return;
	}
	opaque(n); /* verifier: as above */
	if (n >= STILE_DATAGRAM_LINE_RANGES) {
		work->failed = 1;
		return;
	}
	work->lines[n].from = from;
	work->lines[n].length = length;
	work->lines[n].source = source;
	work->n_lines = n + 1;
}

/*
 * Ends the line before the cursor. Where it gets a parameter, that is put before its end, for now;
 * whether it has one already is looked at when all lines are known.
 */
static __always_inline void datagram_end_line(const struct stile_datagram *datagram,
					      struct stile_datagram_work *work)
{
	__u32 line = work->line, last = work->n_lines - 1;

	opaque(line); /* verifier: as above */
	opaque(last);
	if (line >= STILE_DATAGRAM_LINES || last >= STILE_DATAGRAM_LINE_RANGES ||
	    !datagram->lines[line].gets)
		return;
	work->to = work->cursor;
	work->put = work->n_lines;
	work->lines[last].length -= 2;
	datagram_add_line(work, STILE_RANGE_TEXT, datagram->parameter.text,
			  datagram->parameter.text_length);
	datagram_add_line(work, STILE_RANGE_MADE, 0, STILE_DATAGRAM_TAG);
	datagram_add_line(work, STILE_RANGE_REQUEST, work->cursor - 2, 2);
}

/* Notes which of the answer's lines begins at the cursor, if one does. */
static __always_inline void datagram_begin_line(const struct stile_datagram *datagram,
						struct stile_datagram_work *work)
{
	__u32 line = datagram_which_line(datagram, work);

	work->line = line;
	opaque(line); /* verifier: as above */
	if (line >= STILE_DATAGRAM_LINES)
		return;
	if (datagram->lines[line].once && work->found & datagram->lines[line].which)
		work->failed = 1;
	work->found |= datagram->lines[line].which;
	if (datagram->lines[line].gets)
		work->from = work->cursor;
}

/* The first line, which says what this is: where it does not end so, it is something else. */
static __always_inline void datagram_first_line(const struct stile_datagram *datagram,
						struct stile_datagram_work *work, __u32 end)
{
	if (end < sizeof(__u64) + 2 ||
	    (datagram_word(work, end - 2 - sizeof(__u64)) | DATAGRAM_SMALL) != datagram->first_ends)
		work->failed = 1;
}

struct datagram_scan {
	const struct stile_datagram *datagram;
	struct stile_datagram_work *work;
};

/* Looks at the line at the cursor, and goes on to the next. 1: that was the last. */
static long datagram_next_line(__u32 number, void *context)
{
	const struct datagram_scan *scan = context;
	struct stile_datagram_work *work = scan->work;
	__u32 start = work->cursor, end = datagram_line_end(work, start);
	bool continues = datagram_is_blank(datagram_at(work, start));

	if (end == 0 || (continues && number < 2))
		work->failed = 1;
	if (!continues)
		datagram_end_line(scan->datagram, work);
	if (work->failed || end - start == 2)
		return 1;
	if (number == 0)
		datagram_first_line(scan->datagram, work, end);
	else if (!continues)
		datagram_begin_line(scan->datagram, work);
	if (work->line < STILE_DATAGRAM_LINES)
		datagram_add_line(work, STILE_RANGE_REQUEST, start, end - start);
	work->cursor = end;
	return 0;
}

/* One byte outside of quotes and brackets. A parameter has an equals sign and then a value. */
static __always_inline void datagram_plain_byte(const struct stile_datagram_parameter *parameter,
						struct stile_datagram_work *work, __u8 byte)
{
	if (byte == ';' && ((work->recent & parameter->mask) == parameter->name ||
			    (work->recent & parameter->mask << 8) == parameter->name << 8))
		work->failed = 1;
	work->recent = work->recent >> 8 | (__u64)(byte | 0x20) << 56;
	if (byte == '"')
		work->within = STILE_WITHIN_QUOTES;
	else if (byte == '<')
		work->within = STILE_WITHIN_BRACKETS;
	else if ((work->recent & parameter->mask) == parameter->name)
		work->has = 1;
}

/* The next byte of a line that gets a parameter; behind the last, a semicolon. 1: that was it. */
static long datagram_next_byte(__u32 number, void *context)
{
	const struct datagram_scan *scan = context;
	struct stile_datagram_work *work = scan->work;
	bool last = work->from + number >= work->to;
	__u8 byte = last ? ';' : datagram_at(work, work->from + number);
	__u32 within = work->within;

	if (within == STILE_WITHIN_ESCAPE)
		work->within = STILE_WITHIN_QUOTES;
	else if (within == STILE_WITHIN_QUOTES && byte == '\\')
		work->within = STILE_WITHIN_ESCAPE;
	else if ((within == STILE_WITHIN_QUOTES && byte == '"') ||
		 (within == STILE_WITHIN_BRACKETS && byte == '>'))
		work->within = STILE_WITHIN_NOTHING;
	else if (within == STILE_WITHIN_NOTHING && byte > ' ')
		datagram_plain_byte(&scan->datagram->parameter, work, byte);
	return last;
}

/* Takes the parameter out again where the line has it. */
static __always_inline void datagram_look_for_parameter(struct datagram_scan *scan)
{
	struct stile_datagram_work *work = scan->work;
	__u32 put;

	work->recent = 0;
	work->within = STILE_WITHIN_NOTHING;
	work->has = 0;
	bpf_loop(STILE_DATAGRAM_SIZE + 1, datagram_next_byte, scan, 0);
	put = work->put;
	opaque(put); /* verifier: as above */
	if (work->within != STILE_WITHIN_NOTHING || put >= STILE_DATAGRAM_LINE_RANGES - 1)
		work->failed = 1;
	else if (work->has)
		work->lines[put].length = work->lines[put + 1].length = 0;
}

/* Finds the lines of the request, but for the first, that the answer copies. 0 or -1. */
__attribute__((noinline)) int datagram_scan(const struct stile_datagram *datagram,
					    struct stile_datagram_work *work)
{
	struct datagram_scan scan = { datagram, work };

	if (!datagram || !work)
		return -1;
	work->cursor = work->found = work->n_lines = 0;
	work->from = work->to = 0;
	work->line = STILE_DATAGRAM_LINES;
	work->failed = 0;
	bpf_loop(DATAGRAM_LINES, datagram_next_line, &scan, 0);
	if (datagram->parameter.text_length && !work->failed && work->to)
		datagram_look_for_parameter(&scan);
	return work->failed || datagram->lines_needed & ~work->found ? -1 : 0;
}

#endif /* STILE_BPF_DATAGRAM_LINES_H */
