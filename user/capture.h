/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets from a capture file, one after the other, as Ethernet frames with the capture's own
 * clock. It knows nothing of what becomes of them.
 */
#ifndef STILE_CAPTURE_H
#define STILE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_FRAME_MAX 2048 /* what lies behind is never looked at */
#define CAPTURE_REASON_SIZE 320

struct capture;

struct capture_packet {
	uint64_t time;	   /* ns since 1970 */
	uint8_t *frame;	   /* in the capture's memory, until the next one is read */
	uint32_t size;	   /* of the frame, at most CAPTURE_FRAME_MAX */
	bool is_cut;	   /* the capture holds only its beginning */
	bool is_outgoing;  /* sent by the host itself, as a cooked capture tells */
	uint64_t position; /* bytes read of the file; 0 where that cannot be told */
};

/* "-" is the standard input. 0, or -1 and why not in @ret_reason. */
int capture_open(const char *path, struct capture **ret_capture,
		 char ret_reason[CAPTURE_REASON_SIZE]);
void capture_close(struct capture *capture);

/* 1: a packet; 0: there are no more; -1: the file is broken, and how in @ret_reason. */
int capture_next(struct capture *capture, struct capture_packet *ret_packet,
		 char ret_reason[CAPTURE_REASON_SIZE]);

#endif /* STILE_CAPTURE_H */
