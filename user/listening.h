/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sockets of this host (of its network namespace) listen on, as /proc/net tells. */
#ifndef STILE_LISTENING_H
#define STILE_LISTENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <stile/abi.h>

struct listening_socket {
	enum stile_protocol protocol;
	uint16_t port;
	bool everywhere;     /* it is bound to no address */
	uint8_t address[16]; /* IPv4 as ::ffff:0:0/96 */
};

struct listening {
	struct listening_socket *sockets;
	size_t n;
};

/* Those of /proc/net. 0 or negative errno. Released with listening_release(). */
int listening_read(struct listening *ret_listening);

/* Adds those of @table, which has the form of /proc/net/tcp6 or udp6 or of their IPv4 twins. */
int listening_add(struct listening *listening, enum stile_protocol protocol, FILE *table);

/* Whether a socket stands at @address (NULL: any) and a port from @first to @last. */
bool listening_has(const struct listening *listening, enum stile_protocol protocol,
		   const uint8_t *address, const uint16_t ports[2]);

void listening_release(struct listening *listening);

#endif /* STILE_LISTENING_H */
