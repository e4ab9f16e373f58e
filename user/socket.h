/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Listening sockets of the daemon's servers. */
#ifndef STILE_SOCKET_H
#define STILE_SOCKET_H

#include <stdint.h>

/*
 * A TCP socket that listens at the first of @host's addresses and does not block: an fd, or
 * negative errno: -EADDRNOTAVAIL where @host is no address of this machine. *ret_port is the port
 * that was bound.
 */
int socket_listen(const char *host, uint16_t port, uint16_t *ret_port);

#endif /* STILE_SOCKET_H */
