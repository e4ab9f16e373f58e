/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of a TCP header (RFC 9293, 3.1 and 3.2; RFC 7323, 2.2 and 3.2; RFC 2018, 2) that a
 * handshake agrees on. Pure. One that does not fit ends the list, and of two the last counts, as in
 * Linux; so what is agreed here is what the stack would agree to.
 */
#ifndef STILE_BPF_OPTIONS_H
#define STILE_BPF_OPTIONS_H

#include "compiler.h"

#define OPTIONS_MAX 40	     /* bytes that a header has room for */
#define OPTIONS_BYTES 64     /* a power of two, so that every place can be masked into it */
#define OPTIONS_END 64	     /* no place: there are no more */
#define OPTIONS_SCALE_MAX 14 /* RFC 7323, 2.3 */
#define OPTIONS_NO_SCALE 15

enum option_kind {
	OPTION_END = 0,
	OPTION_NOP = 1,
	OPTION_MSS = 2,
	OPTION_WINDOW_SCALE = 3,
	OPTION_SACK_PERMITTED = 4,
	OPTION_TIMESTAMPS = 8,
};

enum option_size {
	OPTION_MSS_SIZE = 4,
	OPTION_WINDOW_SCALE_SIZE = 3,
	OPTION_SACK_PERMITTED_SIZE = 2,
	OPTION_TIMESTAMPS_SIZE = 10,
};

struct options {
	__u8 bytes[OPTIONS_BYTES];
	__u32 length; /* of them that there are */
	__u32 tsval, tsecr;
	__u16 mss;	   /* 0: not given */
	__u8 window_scale; /* OPTIONS_NO_SCALE: not given */
	__u8 sack;	   /* 1: permitted */
	__u8 timestamps;   /* 1: tsval and tsecr are given */
	__u8 reserved[3];
};

static __always_inline __u32 options_byte(const struct options *options, __u32 at)
{
	return options->bytes[at & (OPTIONS_BYTES - 1)];
}

static __always_inline __u32 options_word(const struct options *options, __u32 at)
{
	return options_byte(options, at) << 24 | options_byte(options, at + 1) << 16 |
	       options_byte(options, at + 2) << 8 | options_byte(options, at + 3);
}

static __always_inline void options_take(struct options *options, __u32 kind, __u32 size, __u32 at)
{
	__u32 mss, scale;

	if (kind == OPTION_MSS && size == OPTION_MSS_SIZE) {
		mss = options_byte(options, at + 2) << 8 | options_byte(options, at + 3);
		options->mss = mss ? mss : options->mss;
	} else if (kind == OPTION_WINDOW_SCALE && size == OPTION_WINDOW_SCALE_SIZE) {
		scale = options_byte(options, at + 2);
		options->window_scale = scale < OPTIONS_SCALE_MAX ? scale : OPTIONS_SCALE_MAX;
	} else if (kind == OPTION_SACK_PERMITTED && size == OPTION_SACK_PERMITTED_SIZE) {
		options->sack = 1;
	} else if (kind == OPTION_TIMESTAMPS && size == OPTION_TIMESTAMPS_SIZE) {
		options->timestamps = 1;
		options->tsval = options_word(options, at + 2);
		options->tsecr = options_word(options, at + 6);
	}
}

/* Reads the option at @at. Where the next one is, or OPTIONS_END. */
static __always_inline __u32 options_step(struct options *options, __u32 at)
{
	__u32 kind = options_byte(options, at), size;

	if (kind == OPTION_END)
		return OPTIONS_END;
	if (kind == OPTION_NOP)
		return at + 1;
	size = options_byte(options, at + 1);
	if (size < 2 || at + size > options->length)
		return OPTIONS_END;
	options_take(options, kind, size, at);
	return at + size;
}

#endif /* STILE_BPF_OPTIONS_H */
