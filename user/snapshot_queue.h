/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The accept queues of one listener on tcp, as a part of snapshot.h. Data only. */
#ifndef STILE_SNAPSHOT_QUEUE_H
#define STILE_SNAPSHOT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* Of the sockets that listen for it in this network namespace. */
struct snapshot_queue {
	uint32_t sockets;
	uint64_t length, backlog;		  /* summed: Recv-Q and Send-Q of ss(8) */
	uint32_t fullest_length, fullest_backlog; /* of that one alone */
	uint64_t in_flight;			  /* handshakes */
};

/* What the queue would say of a connection. */
struct snapshot_queue_look {
	bool looked; /* false: there is no accept_queue_limit, or no socket */
	bool sheds;
	uint32_t length, backlog, sheds_from; /* of the fullest socket */
	uint64_t held, asked;		      /* what the client weighs */
};

#endif /* STILE_SNAPSHOT_QUEUE_H */
