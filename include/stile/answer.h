/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a service's clients are told that it is busy, in the language that they speak: data that
 * one program reads for every language. Whoever adds a language writes such a struct, and no code
 * for the kernel.
 *
 * On TCP the conversation is: the client's SYN is answered with a cookie; its first data (or, where
 * the server speaks first, the ACK that ends the handshake) is answered by the first rule that
 * matches, with a part of the answer's bytes, and a FIN where the rule does not go on. On UDP the
 * datagram that is refused is answered by the first rule that matches, or not at all.
 */
#ifndef STILE_ANSWER_H
#define STILE_ANSWER_H

#include <linux/types.h>

#define STILE_ANSWERS_MAX 1024	/* slot 0 is never used: 0 means none */
#define STILE_ANSWER_BYTES 4096 /* that an answer has at most */
#define STILE_ANSWER_CHUNK 32	/* bytes that are read at once */
#define STILE_ANSWER_RULES 4
#define STILE_ANSWER_PATCHES 8
#define STILE_ANSWER_MATCH 8 /* bytes of the request that a rule looks at */

/*
 * What one TCP segment brings wherever the frame can grow at its head alone: an answer's part that
 * is not its last rule's has to keep within that. The last rule's may be longer; it is sent in
 * pieces, each on the client's acknowledgment of the one before.
 */
#define STILE_ANSWER_PIECE 208

/* What is put into the answer's bytes as it is sent. */
enum stile_patch_kind {
	STILE_PATCH_WAIT_S,	   /* seconds until the client is admitted, rounded up; decimal */
	STILE_PATCH_WAIT_MS,	   /* the same in milliseconds */
	STILE_PATCH_WAIT_S_BINARY, /* the same two as numbers, big-endian */
	STILE_PATCH_WAIT_MS_BINARY,
	STILE_PATCH_REQUEST,	  /* bytes of the request; where it is shorter, those here stay */
	STILE_PATCH_REQUEST_BITS, /* one byte: the request's bits that are set in fill, over it */
	_STILE_PATCH_KIND_MAX,
};

struct stile_patch {
	__u16 offset; /* of its first byte in the answer's bytes */
	__u16 from;   /* REQUEST, REQUEST_BITS: of the first byte in the request's data */
	__u8 kind;    /* enum stile_patch_kind */
	__u8 width;   /* bytes; at most 10 of a decimal number, 4 of a binary one, 64 of others */
	__u8 fill;    /* decimal: ' ' or '0', left of the digits */
	__u8 reserved;
};

/* Matches where ((byte ^ value) & mask) is 0 in all eight bytes; past the request's end are 0. */
struct stile_answer_rule {
	__u8 value[STILE_ANSWER_MATCH];
	__u8 mask[STILE_ANSWER_MATCH]; /* all zero: whatever the request is */
	__u16 offset;		       /* of the first of the eight in the request's data */
	__u16 first, length;	       /* which of the answer's bytes are sent */
	__u8 goes_on;		       /* 1: no FIN, the client is to speak again (TCP) */
	__u8 reserved;
};

/*
 * stile_answers (array). On TCP the last rule has a mask of zeros and does not go on; of those
 * before it at most one, the other, does not either.
 */
struct stile_answer {
	__u16 length;	   /* of bytes, in use; 0: there is nothing to say, as of action close */
	__u8 speaks_first; /* 1: the server does; TCP */
	__u8 n_rules;	   /* at least one */
	__u8 n_patches;
	__u8 prelude; /* bytes that rules which go on may have sent before the last rule's; TCP */
	__u8 other;   /* 1 + the index of that rule; 0: there is none */
	__u8 reserved;
	struct stile_patch patches[STILE_ANSWER_PATCHES];
	struct stile_answer_rule rules[STILE_ANSWER_RULES];
	__u8 bytes[STILE_ANSWER_BYTES];
	__u8 behind[STILE_ANSWER_CHUNK]; /* zero */
};
/*
 * stile_refusals (array of __u64, by listener slot): when a client was refused there in its own
 * language last, ns of CLOCK_MONOTONIC; 0: never.
 */

_Static_assert(sizeof(struct stile_patch) == 8, "stile_patch");
_Static_assert(sizeof(struct stile_answer_rule) == 24, "stile_answer_rule");
_Static_assert(sizeof(struct stile_answer) == 8 + 64 + 96 + 4096 + 32, "stile_answer");

#endif /* STILE_ANSWER_H */
