/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A TCP client that is no kernel's: every segment is sent by the test, and what comes back is read.
 * The kernel of its namespace has to be kept from answering, see segments_quiet.
 */
#ifndef STILE_LIVE_SEGMENTS_H
#define STILE_LIVE_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#define SEGMENTS_PORTS "5000-5999" /* of clients of this kind */
#define SEGMENTS_ISN 1000	   /* the number of their SYN */

enum segment_flag {
	SEGMENT_FIN = 1,
	SEGMENT_SYN = 2,
	SEGMENT_RST = 4,
	SEGMENT_PSH = 8,
	SEGMENT_ACK = 16,
};

struct segments {
	const char *from, *to; /* addresses, IPv4 */
	uint16_t port, to_port;
	int out, in;
};

struct segment {
	uint8_t flags;
	uint32_t sequence, acknowledgment;
	const char *body;  /* NULL: none; of those that came, not kept */
	unsigned int size; /* of those that came */
};

/* A line for nft(8): no RST but the test's own leaves for them. */
extern const char segments_quiet[];

/* In the namespace that the test is in. */
bool segments_open(struct segments *segments);
void segments_close(struct segments *segments);
#define autosegments __attribute__((cleanup(segments_close)))

bool segments_send(const struct segments *segments, const struct segment *segment);

/* The next that has @flags, which may be followed by others; within @bound_ms. */
bool segments_await(const struct segments *segments, uint8_t flags, int bound_ms,
		    struct segment *ret_segment);

#endif /* STILE_LIVE_SEGMENTS_H */
