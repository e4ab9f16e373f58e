/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel tells of real sockets on loopback: one dual-stack listener, and its clients. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "check.h"
#include "sockdiag.h"
#include "util.h"

#define BACKLOG 7

struct service {
	struct sockdiag *diag;
	int fd;
	uint16_t port;
};

struct told {
	unsigned int n;
	struct sockdiag_socket last;
};

static void note(const struct sockdiag_socket *socket, void *context)
{
	struct told *told = context;

	told->n++;
	told->last = *socket;
}

static bool service_open(struct service *service)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_any };
	socklen_t size = sizeof(address);
	const int off = 0;

	*service = (struct service){ .fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	if (!CHECK("a service listens",
		   setsockopt(service->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0 &&
			   bind(service->fd, (struct sockaddr *)&address, size) == 0 &&
			   listen(service->fd, BACKLOG) == 0 &&
			   getsockname(service->fd, (struct sockaddr *)&address, &size) == 0))
		return false;
	service->port = ntohs(address.sin6_port);
	return CHECK_EQ("sock_diag is there", sockdiag_open(&service->diag), 0);
}

static void service_close(struct service *service)
{
	sockdiag_close(service->diag);
	fd_release(&service->fd);
}

/* A connection from @from, whose tuple as the service sees it is *ret_tuple. */
static int connect_from(const struct service *service, const char *from,
			struct sockdiag_socket *ret_tuple)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	socklen_t size = sizeof(address);
	autofd int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (inet_pton(AF_INET6, from, &address.sin6_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&address, size) < 0)
		return -1;
	memset(ret_tuple, 0, sizeof(*ret_tuple));
	(void)inet_pton(AF_INET6, strchr(from, '.') ? "::ffff:127.0.0.1" : "::1",
			&address.sin6_addr); /* of our own writing */
	memcpy(ret_tuple->local, &address.sin6_addr, 16);
	address.sin6_port = htons(service->port);
	if (connect(fd, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -1;
	memcpy(ret_tuple->remote, &address.sin6_addr, 16);
	ret_tuple->remote_port = ntohs(address.sin6_port);
	ret_tuple->local_port = service->port;
	return take_fd(&fd);
}

static unsigned int ask(const struct service *service, uint32_t states, const char *client,
			struct sockdiag_socket *ret_last)
{
	struct prefix prefix;
	struct sockdiag_query query = {
		.states = states,
		.first = service->port,
		.last = service->port,
		.with_times = true,
	};
	struct told told = { 0 };

	if (client && CHECK_EQ("a prefix", prefix_parse(client, &prefix), 0))
		query.client = &prefix;
	CHECK_EQ("the kernel tells", sockdiag_each(service->diag, &query, note, &told), 0);
	if (ret_last)
		*ret_last = told.last;
	return told.n;
}

static void test_listening(void)
{
	static const uint8_t anywhere[16] = { 0 };
	struct sockdiag_socket socket, tuple;
	struct service service;
	struct stat status;
	autofd int client = -1;

	if (!service_open(&service))
		return;
	CHECK_EQ("the service listens once", ask(&service, 1 << SOCKDIAG_LISTEN, NULL, &socket), 1);
	CHECK_EQ("its backlog", socket.room, BACKLOG);
	CHECK_EQ("nobody waits", socket.queued, 0);
	CHECK_EQ("by its inode", fstat(service.fd, &status) == 0 ? status.st_ino : 0, socket.inode);
	CHECK("for both families", socket.ipv6 && !socket.v6_only);
	CHECK_MEM_EQ("at every address", socket.local, anywhere, 16);
	client = connect_from(&service, "::ffff:127.0.0.1", &tuple);
	CHECK("a client connects", client >= 0);
	(void)ask(&service, 1 << SOCKDIAG_LISTEN, NULL, &socket); /* counted above */
	CHECK_EQ("it waits to be accepted", socket.queued, 1);
	service_close(&service);
}

static void test_connections(void)
{
	struct sockdiag_socket first = {}, second = {}, socket = {};
	struct service service;
	autofd int one = -1, two = -1;

	if (!service_open(&service))
		return;
	one = connect_from(&service, "::ffff:127.0.0.2", &first);
	two = connect_from(&service, "::1", &second);
	CHECK("clients of both families connect", one >= 0 && two >= 0);
	CHECK_EQ("both", ask(&service, 1 << SOCKDIAG_ESTABLISHED, NULL, NULL), 2);
	CHECK_EQ("one of IPv6", ask(&service, 1 << SOCKDIAG_ESTABLISHED, "::1", NULL), 1);
	CHECK_EQ("one of a prefix of IPv4, at a dual-stack socket",
		 ask(&service, 1 << SOCKDIAG_ESTABLISHED, "127.0.0.0/30", &socket), 1);
	CHECK_MEM_EQ("IPv4-mapped", socket.remote, first.remote, 16);
	CHECK_MEM_EQ("on both ends", socket.local, first.local, 16);
	CHECK_EQ("its port", socket.remote_port, first.remote_port);
	CHECK("with the time since data", socket.has_times);
	CHECK_EQ("none of another", ask(&service, 1 << SOCKDIAG_ESTABLISHED, "127.0.0.1", NULL), 0);
	CHECK_EQ("none in another state", ask(&service, 1 << SOCKDIAG_SYN_RECV, NULL, NULL), 0);
	service_close(&service);
}

static void test_find(void)
{
	struct sockdiag_socket tuple = {}, socket = {};
	struct service service;

	if (!service_open(&service))
		return;
	for (int i = 0; i < 2; i++) {
		autofd int client = connect_from(&service, i ? "::1" : "::ffff:127.0.0.2", &tuple);
		CHECK("a client connects", client >= 0);
		CHECK_EQ("it is found", sockdiag_find(service.diag, &tuple, &socket), 0);
		CHECK_EQ("as it is", socket.state, SOCKDIAG_ESTABLISHED);
		CHECK_EQ("by its port", socket.remote_port, tuple.remote_port);
		tuple.remote_port--;
		CHECK_EQ("another is not: only who listens is there",
			 sockdiag_find(service.diag, &tuple, &socket), -ENOENT);
		tuple.local_port--;
		CHECK_EQ("nobody is there", sockdiag_find(service.diag, &tuple, &socket), -ENOENT);
	}
	service_close(&service);
}

static void test_destroy(void)
{
	struct sockdiag_socket tuple, socket;
	struct service service;
	int client;
	char byte;

	if (!check_privileged()) {
		CHECK_SKIP("closing a socket under its process takes CAP_NET_ADMIN");
		return;
	}
	if (!service_open(&service))
		return;
	for (int i = 0; i < 2; i++) {
		client = connect_from(&service, i ? "::1" : "::ffff:127.0.0.2", &tuple);
		CHECK("a client connects", client >= 0);
		CHECK_EQ("it is found", sockdiag_find(service.diag, &tuple, &socket), 0);
		CHECK_EQ("it is closed", sockdiag_destroy(service.diag, &socket), 0);
		CHECK_EQ("the client is told", recv(client, &byte, 1, 0) < 0 ? errno : 0,
			 ECONNRESET);
		CHECK_EQ("once", sockdiag_destroy(service.diag, &socket), -ENOENT);
		close(client);
	}
	service_close(&service);
}

CHECK_SUITE(sockdiag, { "a listening socket and its accept queue", test_listening },
	    { "connections, by client and state", test_connections },
	    { "one connection, by its addresses and ports", test_find },
	    { "one connection is closed from outside", test_destroy });
