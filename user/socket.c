/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Listening sockets of the daemon's servers. */
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "socket.h"
#include "util.h"

static void addresses_release(struct addrinfo **addresses)
{
	if (*addresses)
		freeaddrinfo(*addresses);
}

/* The port that @fd was given. */
static int port_of(int fd, uint16_t *ret_port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
	} bound = {};
	socklen_t length = sizeof(bound);

	if (getsockname(fd, &bound.any, &length) < 0)
		return -errno;
	*ret_port =
		ntohs(bound.any.sa_family == AF_INET6 ? bound.ipv6.sin6_port : bound.ipv4.sin_port);
	return 0;
}

int socket_listen(const char *host, uint16_t port, uint16_t *ret_port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found __attribute__((cleanup(addresses_release))) = NULL;
	autofd int fd = -1;
	char service[8];
	int on = 1, result;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &found) != 0)
		return -EADDRNOTAVAIL;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	result = port_of(fd, ret_port);
	return result < 0 ? result : take_fd(&fd);
}
