/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SYNs from addresses that are not the sender's, out of a raw socket; IPv4. */
#ifndef STILE_TRAFFIC_FORGED_H
#define STILE_TRAFFIC_FORGED_H

#include <stdint.h>

#define FORGED_GROUP 32 /* sources that send at a time */

struct forged {
	uint32_t to; /* in network order */
	uint16_t port;
	uint32_t first; /* of the sources, in host order */
};

/* A socket for them, or -1. */
int forged_socket(void);

/* The @number-th SYN of each source of a group, which begins at @source. How many were sent. */
unsigned int forged_send(int fd, const struct forged *forged, uint32_t source, uint32_t number);

#endif /* STILE_TRAFFIC_FORGED_H */
