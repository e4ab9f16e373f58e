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

#define DATAGRAM_LINE_WORDS 64 /* of eight bytes: a line that is longer is not looked into */
#define DATAGRAM_ROOM 2048     /* a power of two: the request, and a line beyond its end */
#define DATAGRAM_LINES 96      /* that are looked at */
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

static __always_inline __u64 datagram_word(const struct stile_datagram_work *work, __u32 offset)
{
	return *(const __u64 *)(work->request + datagram_bound(offset));
}

/* Where the line at @start ends, its line feed included; 0: it has none, or is too long. */
__attribute__((noinline)) int datagram_line_end(const struct stile_datagram_work *work, __u32 start)
{
	__u64 word, feeds;
	__u32 i;

	if (!work)
		return 0;
	for (i = 0; i < DATAGRAM_LINE_WORDS; i++) {
		word = datagram_word(work, start + 8 * i) ^ DATAGRAM_LOW * '\n';
		feeds = (word - DATAGRAM_LOW) & ~word & DATAGRAM_HIGH; /* Mycroft, 1987 */
		if (feeds)
			break;
	}
	for (word = 0; word < 8; word++) {
		if (feeds >> 8 * word & 0xff)
			break;
	}
	start += 8 * i + word + 1;
	return feeds && start <= work->size ? start : 0;
}

/* Whether what @index, a line, looks for does not stand between @start and @end. */
__attribute__((noinline)) int datagram_lacks(const struct stile_datagram *datagram,
					     const struct stile_datagram_work *work, __u32 index,
					     __u32 end)
{
	const struct stile_datagram_line *line;
	__u32 i, start;

	if (!datagram || !work || index >= STILE_DATAGRAM_LINES)
		return false;
	line = &datagram->lines[index];
	start = work->cursor;
	if (line->lacking_mask == 0)
		return false;
	for (i = 0; i < 8 * DATAGRAM_LINE_WORDS; i++) {
		if (start + i >= end)
			break;
		if (((datagram_word(work, start + i) | DATAGRAM_SMALL) & line->lacking_mask) ==
		    line->lacking)
			return false;
	}
	return true;
}

static __always_inline int datagram_add_line(struct stile_datagram_work *work, __u32 source,
					     __u32 from, __u32 length)
{
	__u32 n = work->n_lines;

	if (length == 0)
		return 0;
	opaque(n); /* verifier: as above */
	if (n >= STILE_DATAGRAM_LINE_RANGES)
		return -1;
	work->lines[n].from = from;
	work->lines[n].length = length;
	work->lines[n].source = source;
	work->n_lines = n + 1;
	return 0;
}

/* Notes the line from the cursor to @end, which the answer's line @index is about. 0 or -1. */
static __always_inline int datagram_take_line(const struct stile_datagram *datagram,
					      struct stile_datagram_work *work, __u32 index,
					      __u32 end)
{
	const struct stile_datagram_line *line;
	__u32 start = work->cursor, eol;

	opaque(index); /* verifier: as above */
	if (index >= STILE_DATAGRAM_LINES)
		return -1;
	line = &datagram->lines[index];
	work->found |= line->which;
	if (!datagram_lacks(datagram, work, index, end))
		return datagram_add_line(work, STILE_RANGE_REQUEST, start, end - start);
	eol = (__u8)datagram_word(work, end - 2) == '\r' ? 2 : 1;
	return datagram_add_line(work, STILE_RANGE_REQUEST, start, end - eol - start) |
	       datagram_add_line(work, STILE_RANGE_TEXT, line->text, line->text_length) |
	       datagram_add_line(work, STILE_RANGE_MADE, 0, STILE_DATAGRAM_TAG) |
	       datagram_add_line(work, STILE_RANGE_REQUEST, end - eol, eol);
}

/* Which of the answer's lines the one at the cursor is; STILE_DATAGRAM_LINES: none. */
static __always_inline __u32 datagram_which_line(const struct stile_datagram *datagram,
						 const struct stile_datagram_work *work)
{
	__u64 word = datagram_word(work, work->cursor) | DATAGRAM_SMALL;
	__u32 i;

	for (i = 0; i < STILE_DATAGRAM_LINES; i++) {
		if (i < datagram->n_lines &&
		    (word & datagram->lines[i].mask) == datagram->lines[i].value)
			break;
	}
	return i;
}

struct datagram_scan {
	const struct stile_datagram *datagram;
	struct stile_datagram_work *work;
	int failed;
};

/* Looks at the line at the cursor, and goes on to the next. 1: that was the last. */
static long datagram_next_line(__u32 number, void *context)
{
	struct datagram_scan *scan = context;
	struct stile_datagram_work *work = scan->work;
	__u32 start = work->cursor, end = datagram_line_end(work, start), which;
	bool continues = (__u8)datagram_word(work, start) <= ' ';

	if (end <= start) {
		scan->failed = -1;
		return 1;
	}
	if (end - start <= 2 && continues)
		return 1;
	if (continues && work->last)
		scan->failed |= datagram_add_line(work, STILE_RANGE_REQUEST, start, end - start);
	if (!continues && number) {
		which = datagram_which_line(scan->datagram, work);
		work->last = which < STILE_DATAGRAM_LINES;
		if (work->last)
			scan->failed |= datagram_take_line(scan->datagram, work, which, end);
	}
	work->cursor = end;
	return scan->failed != 0;
}

/* Finds the lines of the request, but for the first, that the answer copies. 0 or -1. */
__attribute__((noinline)) int datagram_scan(const struct stile_datagram *datagram,
					    struct stile_datagram_work *work)
{
	struct datagram_scan scan = { datagram, work, 0 };

	if (!datagram || !work)
		return -1;
	work->cursor = 0;
	work->found = 0;
	work->n_lines = 0;
	work->last = 0;
	bpf_loop(DATAGRAM_LINES, datagram_next_line, &scan, 0);
	return scan.failed || (datagram->lines_needed & ~work->found) ? -1 : 0;
}

#endif /* STILE_BPF_DATAGRAM_LINES_H */
