/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections that the test itself holds, and what ss(8) lists of the server's ends. */
#ifndef STILE_LIVE_SOCKETS_H
#define STILE_LIVE_SOCKETS_H

#include <stdint.h>

#include "live.h"

#define SOCKETS_MAX 1024

struct sockets {
	int fds[SOCKETS_MAX];
	unsigned int n;
};

/* Opens @n more from the client's side, to "ADDRESS:PORT". */
void sockets_open(const struct live *live, struct sockets *sockets, const char *from,
		  const char *to, unsigned int n);

/*
 * Begins @n at once, waits until each is established, refused, or silent for @quiet_ms after the
 * others, and keeps those that are established. The number of them.
 */
struct burst {
	const char *from, *to;
	unsigned int n;
	int quiet_ms;
	unsigned int n_closed; /* of those that are established first, once the others are silent */
	int quiet_then_ms;     /* after that; 0: nothing is waited for any more */
};
unsigned int sockets_burst(const struct live *live, struct sockets *sockets,
			   const struct burst *burst);

/* Ends the @n that were opened first, or all: with a FIN, or with a RST. */
void sockets_close(struct sockets *sockets, unsigned int n);
void sockets_reset(struct sockets *sockets, unsigned int n);

static inline void sockets_release(struct sockets *sockets)
{
	sockets_close(sockets, sockets->n);
}

#define autosockets __attribute__((cleanup(sockets_release)))

/* How many sockets of @port are open on the server's side, as ss(8) lists them. */
long long live_ss(const struct live *live, uint16_t port);

/* What status says of the listener's connections: "open" and others; -1: they are not counted. */
long long live_connections(const struct live *live, const char *listener, const char *what);

struct service {
	const char *listener;
	uint16_t port; /* the only one */
};

/* Waits until ss(8) and status both say @want, and checks that they do. */
void live_check_open(const struct live *live, const struct service *service, const char *what,
		     long long want);

#endif /* STILE_LIVE_SOCKETS_H */
