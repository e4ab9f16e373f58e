/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP sockets of this network namespace as the kernel's sock_diag tells of them: listening ones
 * with their accept queues, handshakes in flight, and connections. It knows nothing of listeners
 * of a configuration, and needs no privilege but to destroy.
 */
#ifndef STILE_SOCKDIAG_H
#define STILE_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "prefix.h"

struct sockdiag;

/* States, as the kernel numbers them (include/net/tcp_states.h). */
enum sockdiag_state {
	SOCKDIAG_ESTABLISHED = 1,
	SOCKDIAG_SYN_RECV = 3, /* a handshake in flight: the SYN-ACK is sent, and not answered */
	SOCKDIAG_CLOSE_WAIT = 8,
	SOCKDIAG_LISTEN = 10,
};

/* Addresses are in network byte order, IPv4 as ::ffff:0:0/96, dual-stack sockets' as well. */
struct sockdiag_socket {
	uint8_t local[16], remote[16];
	uint16_t local_port, remote_port;
	uint8_t state;	     /* enum sockdiag_state, or another number of the kernel's */
	bool ipv6, v6_only;  /* v6_only: listening ones only, it takes no IPv4 */
	uint32_t ifindex;    /* bound to this interface; 0: to none */
	uint32_t cookie[2];  /* no other socket of this boot has it */
	uint32_t inode, uid; /* inode 0: no process holds it: in flight, or not accepted yet */
	/*
	 * LISTEN: connections that wait to be accepted, and the backlog: the queue takes one more.
	 * Others: bytes that the process has not read, and that its peer has not acknowledged.
	 */
	uint32_t queued, room;
	/* Where they were asked for, and a connection: ms since data went either way. */
	bool has_times;
	uint32_t sent_ago, received_ago;
};

/* What is asked for: sockets that are all of this. */
struct sockdiag_query {
	uint32_t states;	     /* a bit for each: 1 << SOCKDIAG_LISTEN */
	uint16_t first, last;	     /* local ports; 0 and 0: any */
	const struct prefix *client; /* of the remote address; NULL: any */
	bool with_times;
};

/* 0 or negative errno. Without waiting beyond what a dump takes. Closed with sockdiag_close(). */
int sockdiag_open(struct sockdiag **ret_diag);
void sockdiag_close(struct sockdiag *diag);

/*
 * Calls @each with every socket of @query, IPv4's first. One that appears or ends meanwhile may be
 * told of or not. 0 or negative errno.
 */
int sockdiag_each(struct sockdiag *diag, const struct sockdiag_query *query,
		  void (*each)(const struct sockdiag_socket *socket, void *context), void *context);

/*
 * The socket of exactly the addresses and ports of @tuple, a handshake in flight included, and no
 * listening one. Of @tuple's other fields only ifindex is read (0, but where the socket is bound to
 * an interface). 0; -ENOENT where there is none; or -errno.
 */
int sockdiag_find(struct sockdiag *diag, const struct sockdiag_socket *tuple,
		  struct sockdiag_socket *ret_socket);

/*
 * Closes @socket, as it was told of, under its process, and resets the peer. Takes CAP_NET_ADMIN.
 * 0; -ENOENT where it is gone; -EOPNOTSUPP where the kernel is built without it; or -errno.
 */
int sockdiag_destroy(struct sockdiag *diag, const struct sockdiag_socket *socket);

#endif /* STILE_SOCKDIAG_H */
