/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A TCP connection of this host with itself, for the program to find its socket. */
#ifndef STILE_PROG_CONNECTION_H
#define STILE_PROG_CONNECTION_H

#include <stdbool.h>

#include "pkt.h"

struct connection {
	int listener, client, server; /* fds; -1: not there, or closed */
	bool ipv6;
	uint16_t sport, dport;
};
#define autoconnection __attribute__((cleanup(connection_close)))

/* A socket that listens at @port for both families. Its fd, or -errno. */
int connection_listen(uint16_t port);

/* The same, of another protocol than IPPROTO_TCP. */
int connection_listen_by(uint16_t port, int protocol);

/* 0 or -errno. */
int connection_open(struct connection *connection, bool ipv6, uint16_t port);

/*
 * A service at @port for both families whose accept queue is full: it has one place, in which one
 * waits. 0 or -errno; its client and its listening socket are closed by connection_close().
 */
int connection_crowd(struct connection *connection, uint16_t port);

/* Ends it without a trace: no TIME_WAIT is left. */
void connection_reset(struct connection *connection);

/* Ends it so that the server's side is in TIME_WAIT. */
void connection_linger(struct connection *connection);

/* Ends it, and the listening socket too. */
void connection_close(struct connection *connection);

/* A SYN that asks for just this connection. */
struct pkt_spec connection_syn(const struct connection *connection, uint32_t sequence);

#endif /* STILE_PROG_CONNECTION_H */
