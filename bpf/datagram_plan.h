/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a busy answer to a datagram is made of: a listener's rules and pieces
 * (<stile/datagram.h>), held against the request and noted as ranges of bytes. The request lies in
 * memory already. Global functions with small frames: the verifier looks at each by itself.
 */
#ifndef STILE_BPF_DATAGRAM_PLAN_H
#define STILE_BPF_DATAGRAM_PLAN_H

#include "datagram_lines.h"

#define DATAGRAM_COUNTED_MAX 8 /* RFC 7252, 3: lengths 9 to 15 are reserved */
#define DATAGRAM_POLL_MAX 17   /* RFC 5905, 7.2: MAXPOLL */
#define DATAGRAM_DIGITS 10

static __always_inline int datagram_add(struct stile_datagram_work *work, __u32 source, __u32 from,
					__u32 length)
{
	__u32 n = work->n_ranges;

	if (length == 0)
		return 0;
	opaque(n); /* verifier: as above */
	if (n >= STILE_DATAGRAM_RANGES)
		return -1;
	work->ranges[n].from = from;
	work->ranges[n].length = length;
	work->ranges[n].source = source;
	work->n_ranges = n + 1;
	work->total += length;
	return 0;
}

static __always_inline int datagram_copy(struct stile_datagram_work *work, __u32 offset,
					 __u32 length)
{
	if (offset > work->size)
		return -1;
	if (length == STILE_DATAGRAM_REST)
		length = work->size - offset;
	if (length > work->size - offset)
		return -1;
	return datagram_add(work, STILE_RANGE_REQUEST, offset, length);
}

/* Room for @length bytes that are made up; beyond the last: STILE_DATAGRAM_MADE. */
static __always_inline __u32 datagram_room(struct stile_datagram_work *work, __u32 length)
{
	__u32 at = work->n_made;

	opaque(at); /* verifier: as above */
	if (at > STILE_DATAGRAM_MADE - DATAGRAM_DIGITS)
		return STILE_DATAGRAM_MADE;
	work->n_made = at + length;
	return datagram_add(work, STILE_RANGE_MADE, at, length) ? STILE_DATAGRAM_MADE : at;
}

static __always_inline int datagram_byte(struct stile_datagram_work *work, __u8 byte)
{
	__u32 at = datagram_room(work, 1);

	if (at >= STILE_DATAGRAM_MADE)
		return -1;
	work->made[at] = byte;
	return 0;
}

static __always_inline __u32 datagram_digits(__u32 number)
{
	__u32 n = 1;

	unrolled
	for (__u32 i = 1; i < DATAGRAM_DIGITS; i++) {
		number /= 10;
		n += number != 0;
	}
	return n;
}

static __always_inline int datagram_decimal(struct stile_datagram_work *work, __u32 number)
{
	__u32 digits = datagram_digits(number), at, i;

	at = datagram_room(work, digits);
	if (at > STILE_DATAGRAM_MADE - DATAGRAM_DIGITS)
		return -1;
	for (i = 0; i < DATAGRAM_DIGITS; i++) {
		__u32 place = digits - 1 - i;

		if (i >= digits)
			break;
		opaque(place); /* verifier: as above */
		if (place < DATAGRAM_DIGITS)
			work->made[at + place] = '0' + number % 10;
		number /= 10;
	}
	return 0;
}

/* Big-endian; where it is too large, the most that there is room for. */
static __always_inline int datagram_binary(struct stile_datagram_work *work, __u32 number,
					   __u32 length)
{
	int i, failed = 0;

	if (length < 4 && number >> (8 * length & 31))
		number = 0xffffffff;
	unrolled
	for (i = 3; i >= 0; i--) {
		if ((__u32)i < length)
			failed |= datagram_byte(work, number >> 8 * i);
	}
	return failed;
}

/* RFC 5905, 7.3: how long to wait is a power of two. */
static __always_inline int datagram_poll(struct stile_datagram_work *work, __u32 offset)
{
	__u8 poll = work->request[datagram_bound(offset)], log = 0;

	while (log < DATAGRAM_POLL_MAX && 1U << log < work->seconds)
		log++;
	return datagram_byte(work,
			     (__s8)poll > (__s8)log && poll <= DATAGRAM_POLL_MAX ? poll : log);
}

static __always_inline int datagram_make(struct stile_datagram_work *work,
					 const struct stile_piece *piece)
{
	__u8 byte = work->request[datagram_bound(piece->offset)];

	switch (piece->kind) {
	case STILE_PIECE_BITS:
		return datagram_byte(work, (byte & piece->mask) | piece->bits);
	case STILE_PIECE_SECONDS:
		return datagram_decimal(work, work->seconds);
	case STILE_PIECE_MILLISECONDS:
		return datagram_decimal(work, work->milliseconds);
	case STILE_PIECE_BINARY:
		return datagram_binary(work, work->seconds, piece->length);
	case STILE_PIECE_POLL:
		return datagram_poll(work, piece->offset);
	default:
		return -1;
	}
}

static __always_inline int datagram_copy_lines(struct stile_datagram_work *work)
{
	__u32 i;

	for (i = 0; i < STILE_DATAGRAM_LINE_RANGES; i++) {
		if (i >= work->n_lines)
			break;
		if (datagram_add(work, work->lines[i].source, work->lines[i].from,
				 work->lines[i].length))
			return -1;
	}
	return 0;
}

/* One piece of an answer. 0, or -1: the request does not have what it takes. */
__attribute__((noinline)) int datagram_piece(const struct stile_datagram *datagram,
					     struct stile_datagram_work *work, __u32 index)
{
	const struct stile_piece *piece;
	__u32 length;

	if (!datagram || !work || index >= STILE_DATAGRAM_PIECES)
		return -1;
	piece = &datagram->pieces[index];
	switch (piece->kind) {
	case STILE_PIECE_TEXT:
		return datagram_add(work, STILE_RANGE_TEXT, piece->offset, piece->length);
	case STILE_PIECE_COPY:
		return datagram_copy(work, piece->offset, piece->length);
	case STILE_PIECE_COUNTED:
		length = work->request[datagram_bound(piece->length)] & 15;
		return length > DATAGRAM_COUNTED_MAX ? -1
						     : datagram_copy(work, piece->offset, length);
	case STILE_PIECE_LINES:
		return datagram_copy_lines(work);
	default:
		return datagram_make(work, piece);
	}
}

static __always_inline bool datagram_meets(const struct stile_datagram_work *work,
					   const struct stile_datagram_rule *rule)
{
	return work->size >= rule->least &&
	       (datagram_word(work, rule->offset) & rule->mask) == rule->value;
}

/* What the answer by one rule is made of. 0, or -1: there is none by it. */
__attribute__((noinline)) int datagram_plan(const struct stile_datagram *datagram,
					    struct stile_datagram_work *work, __u32 index)
{
	const struct stile_datagram_rule *rule;
	__u32 i, at;

	if (!datagram || !work || index >= STILE_DATAGRAM_RULES)
		return -1;
	rule = &datagram->rules[index];
	work->n_ranges = 0;
	work->n_made = STILE_DATAGRAM_TAG;
	work->total = 0;
	for (i = 0; i < STILE_DATAGRAM_PIECES; i++) {
		if (i >= rule->n_pieces)
			break;
		at = rule->first + i;
		opaque(at); /* verifier: as above */
		if (at >= STILE_DATAGRAM_PIECES)
			return -1;
		if (datagram_piece(datagram, work, at))
			return -1;
	}
	return work->total + rule->shorter <= work->size ? 0 : -1;
}

/* The first rule that gives an answer. 0, or -1: none does. */
static __always_inline int datagram_choose(const struct stile_datagram *datagram,
					   struct stile_datagram_work *work)
{
	__u32 i;

	for (i = 0; i < STILE_DATAGRAM_RULES; i++) {
		if (i >= datagram->n_rules)
			break;
		if (!datagram_meets(work, &datagram->rules[i]))
			continue;
		if (datagram->rules[i].n_pieces == 0)
			return -1;
		if (datagram_plan(datagram, work, i) == 0)
			return 0;
	}
	return -1;
}

#endif /* STILE_BPF_DATAGRAM_PLAN_H */
