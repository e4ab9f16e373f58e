/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service level: how much more a listener's service can take, in one number, so that a load
 * balancer can send it less before anything has to be turned away. Idea and range are those of the
 * ServiceLevel of OPC UA (OPC 10000-4, 6.6.2.4): 255 is all, 1 hardly anything, 0 nothing. Pure;
 * seconds are the caller's.
 */
#ifndef STILE_LEVEL_H
#define STILE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#define LEVEL_MAX 255
#define LEVEL_SECONDS 5 /* that the share of refused events is taken of */
#define LEVEL_QUIET 5	/* seconds in a row that are to be better before it rises */
#define LEVEL_STEP 32	/* that it then rises by each second, at most */

/* Whether a service listens there. */
enum level_service {
	LEVEL_SERVICE_UNKNOWN, /* the kernel does not tell, or it is not of this host */
	LEVEL_SERVICE_LISTENS,
	LEVEL_SERVICE_NONE,
};

/* What is known of a listener's load now. A limit of 0: it has none, or it is not known. */
struct level_input {
	enum level_service service;
	uint64_t events, refused;     /* of the last seconds, at the limit that refused most */
	uint64_t held, limit;	      /* places of connections, of the fullest limit */
	uint64_t queued, queue_limit; /* connections that wait to be accepted */
};

/* All zero: nothing is known yet. */
struct level {
	bool known;
	bool listened; /* a service of this host was seen to listen */
	uint8_t value;
	uint8_t quiet; /* seconds in a row that were better, up to LEVEL_QUIET */
};

/*
 * The level that @input is worth, as if there had been nothing before but a service that listened:
 * where none ever did, packets may be on their way to another host.
 */
uint8_t level_of(const struct level_input *input);

/* One second later. */
void level_step(struct level *level, const struct level_input *input);

/* Seconds until it can be @wanted again at the earliest; 0: it is. */
unsigned int level_wait(const struct level *level, uint8_t wanted);

/* Hundredths, for a load balancer's weight: 0 for 0 alone. */
unsigned int level_percent(uint8_t level);

struct snapshot;
struct stile_decisions;

/*
 * What @snapshot says of the listener in @slot; @before are the decisions of LEVEL_SECONDS ago, by
 * attachment slot. Only limits that all clients share say something of the service: who is refused
 * by a limit of his own is at fault himself.
 */
void level_gather(const struct snapshot *snapshot, const struct stile_decisions *before,
		  uint32_t slot, struct level_input *ret_input);

#endif /* STILE_LEVEL_H */
