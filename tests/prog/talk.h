/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A refused client's side of a conversation with Stile, segment by segment. */
#ifndef STILE_TALK_H
#define STILE_TALK_H

#include "prog.h"

#define TALK_SEQUENCE 0x01020304U /* of the client's SYN */
#define TALK_MSS 1220
#define TALK_WINDOW 4880

struct talk {
	struct prog *prog;
	struct pkt_spec spec; /* who talks to whom: addresses, ports, tags */
	uint32_t cookie;      /* sequence number of Stile's SYN */
};

/* A segment of the client's, and the answer: what is left out is not in it. */
struct talk_turn {
	uint16_t flags;
	uint32_t has;  /* bytes of Stile's stream that are acknowledged, the SYN not among them */
	uint32_t sent; /* bytes that the client sent before this segment */
	const char *data;
	size_t data_size;	 /* 0: as strlen() says */
	uint16_t window;	 /* 0: plenty */
	bool no_window;		 /* 0 */
	uint8_t tcp_options;	 /* bytes */
	bool group;		 /* to a multicast MAC address */
	const char *want;	 /* as prog_send() says it */
	uint16_t back_flags;	 /* 0: the frame is not looked at */
	const char *back;	 /* data */
	size_t back_size;	 /* of them */
	uint32_t unacknowledged; /* bytes of what the client has sent, by what comes back */
};

/*
 * The SYN of @spec, which is refused, and the SYN-ACK that is looked at byte for byte. @want is
 * what prog_send() says of it.
 */
bool talk_begin(struct talk *talk, struct prog *prog, const struct pkt_spec *spec,
		const char *want);

void talk_turn(struct talk *talk, const char *what, const struct talk_turn *turn);

/* The data of the frame that came back, their number, and whether a FIN is with them. */
const uint8_t *talk_data(const struct talk *talk, size_t *ret_size, bool *ret_fin);

#endif /* STILE_TALK_H */
