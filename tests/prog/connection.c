/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loopback only: both ends are this process, so that each step is done when its call returns. */
#include "connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util.h"

#define BOUND_MS 5000

union endpoint {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

static socklen_t loopback(bool ipv6, uint16_t port, union endpoint *ret_endpoint)
{
	*ret_endpoint = (union endpoint){};
	if (!ipv6) {
		ret_endpoint->ipv4 = (struct sockaddr_in){
			.sin_family = AF_INET,
			.sin_port = htons(port),
			.sin_addr = { htonl(INADDR_LOOPBACK) },
		};
		return sizeof(ret_endpoint->ipv4);
	}
	ret_endpoint->ipv6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = in6addr_loopback,
	};
	return sizeof(ret_endpoint->ipv6);
}

static int open_all(struct connection *connection)
{
	int family = connection->ipv6 ? AF_INET6 : AF_INET, one = 1;
	union endpoint endpoint;
	socklen_t size = loopback(connection->ipv6, connection->dport, &endpoint);

	connection->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connection->client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection->listener < 0 || connection->client < 0 ||
	    setsockopt(connection->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(connection->listener, &endpoint.any, size) < 0 ||
	    listen(connection->listener, 1) < 0 ||
	    connect(connection->client, &endpoint.any, size) < 0)
		return -errno;
	connection->server = accept4(connection->listener, NULL, NULL, SOCK_CLOEXEC);
	if (connection->server < 0 || getsockname(connection->client, &endpoint.any, &size) < 0)
		return -errno;
	connection->sport =
		ntohs(connection->ipv6 ? endpoint.ipv6.sin6_port : endpoint.ipv4.sin_port);
	return 0;
}

int connection_listen_by(uint16_t port, int protocol)
{
	const struct sockaddr_in6 anywhere = { .sin6_family = AF_INET6,
					       .sin6_port = htons(port),
					       .sin6_addr = in6addr_any };
	const int off = 0, one = 1;
	autofd int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, protocol);

	if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (const struct sockaddr *)&anywhere, sizeof(anywhere)) < 0 || listen(fd, 8) < 0)
		return -errno;
	return take_fd(&fd);
}

int connection_listen(uint16_t port)
{
	return connection_listen_by(port, IPPROTO_TCP);
}

int connection_open(struct connection *connection, bool ipv6, uint16_t port)
{
	*connection = (struct connection){
		.listener = -1, .client = -1, .server = -1, .ipv6 = ipv6, .dport = port
	};
	return open_all(connection);
}

int connection_crowd(struct connection *connection, uint16_t port)
{
	const struct sockaddr_in6 anywhere = { .sin6_family = AF_INET6,
					       .sin6_port = htons(port),
					       .sin6_addr = in6addr_any };
	union endpoint endpoint;
	socklen_t size = loopback(true, port, &endpoint);
	const int off = 0, one = 1;

	*connection = (struct connection){
		.listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0),
		.client = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0),
		.server = -1,
		.ipv6 = true,
		.dport = port,
	};
	if (setsockopt(connection->listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0 ||
	    setsockopt(connection->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(connection->listener, (const struct sockaddr *)&anywhere, sizeof(anywhere)) < 0 ||
	    listen(connection->listener, 0) < 0 ||
	    connect(connection->client, &endpoint.any, size) < 0)
		return -errno;
	return 0;
}

static void close_ends(struct connection *connection)
{
	fd_release(&connection->client);
	fd_release(&connection->server);
	connection->client = connection->server = -1;
}

void connection_reset(struct connection *connection)
{
	const struct linger at_once = { .l_onoff = 1 };

	(void)setsockopt(connection->server, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	fd_release(&connection->server);
	connection->server = -1;
	close_ends(connection);
}

void connection_linger(struct connection *connection)
{
	struct pollfd ended = { .fd = connection->client, .events = POLLIN };

	/* Who ends it first is the one who waits. */
	fd_release(&connection->server);
	connection->server = -1;
	(void)poll(&ended, 1, BOUND_MS);
	close_ends(connection);
}

void connection_close(struct connection *connection)
{
	connection_reset(connection);
	fd_release(&connection->listener);
	connection->listener = -1;
}

struct pkt_spec connection_syn(const struct connection *connection, uint32_t sequence)
{
	const char *address = connection->ipv6 ? "::1" : "127.0.0.1";

	return (struct pkt_spec){
		.from = address,
		.to = address,
		.sport = connection->sport,
		.dport = connection->dport,
		.sequence = sequence,
	};
}
