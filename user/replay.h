/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a policy would have made of a capture: the packets go through a program of its own, which
 * is attached to nothing, at the capture's times. It knows nothing of how that is shown.
 */
#ifndef STILE_REPLAY_RUN_H
#define STILE_REPLAY_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "capture.h"
#include "policy.h"
#include "prefix.h"

#define REPLAY_CLIENTS_MAX (1U << 20) /* the others are told by their number of packets alone */
#define REPLAY_SERVERS_MAX 16
#define REPLAY_STEP_BACK_MAX 1000000000ULL /* ns that packets may be out of order */

/* One client at one listener. */
struct replay_client {
	uint8_t address[16];
	uint32_t listener; /* slot; 0: the place is free */
	uint64_t admitted, counted, refused;
};

struct replay {
	uint64_t packets, judged;
	uint64_t cut, outgoing,
		elsewhere;    /* only the beginning is there; the host's own; not to it */
	uint64_t reordered;   /* earlier than the one before */
	uint64_t first, last; /* ns since 1970 */
	uint64_t untold;      /* events of clients past REPLAY_CLIENTS_MAX */
	struct prefix servers[REPLAY_SERVERS_MAX]; /* those that the packets must go to */
	size_t n_servers;			   /* 0: any */
	struct stile_packets verdicts;
	struct stile_decisions decisions[STILE_ATTACHMENTS_MAX];
	struct replay_client *clients; /* a hash table; sorted and without holes at the end */
	size_t n_clients, n_places;
	void (*progress)(const struct replay *replay, uint64_t position);
	char reason[CAPTURE_REASON_SIZE + 64]; /* why it failed */
};

/* Runs all of @capture through @policy. 0, or -1 and why not in @replay->reason. */
int replay_run(struct replay *replay, struct policy *policy, struct capture *capture);

void replay_release(struct replay *replay);

#endif /* STILE_REPLAY_RUN_H */
