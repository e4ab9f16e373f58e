/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets are asked of ss(8), which does not know Stile, and not of the kernel directly. */
#include "sockets.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "traffic/endpoint.h"
#include "util.h"

/* A connection that is established; or -1. */
static int open_one(const struct endpoint *from, const struct endpoint *to)
{
	autofd int fd = endpoint_socket(to, from, SOCK_STREAM);
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int error = -1;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return -1;
	(void)connect(fd, (const struct sockaddr *)&to->address, to->length); /* see below */
	if (poll(&poll_fd, 1, LIVE_BOUND_MS) != 1 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
		return -1;
	return take_fd(&fd);
}

void sockets_open(const struct live *live, struct sockets *sockets, const char *from,
		  const char *to, unsigned int n)
{
	struct endpoint source, target;
	unsigned int opened = 0;

	(void)endpoint_parse_address(from, &source);
	(void)endpoint_parse(to, &target);
	live_enter(live, LIVE_CLIENT);
	while (opened < n && sockets->n < SOCKETS_MAX) {
		int fd = open_one(&source, &target);

		if (fd < 0)
			break;
		sockets->fds[sockets->n++] = fd;
		opened++;
	}
	live_leave(live);
	CHECK_EQ("connections are established", opened, n);
}

/* Of those begun, which have come to an end: the established are kept, the others closed. */
static unsigned int reap(struct sockets *sockets, struct pollfd *polled, unsigned int *n)
{
	unsigned int established = 0, left = 0;

	for (unsigned int i = 0; i < *n; i++) {
		int error = -1;
		socklen_t size = sizeof(error);

		if (!polled[i].revents) {
			polled[left++] = polled[i];
			continue;
		}
		(void)getsockopt(polled[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error) {
			(void)close(polled[i].fd);
			continue;
		}
		sockets->fds[sockets->n++] = polled[i].fd;
		established++;
	}
	*n = left;
	return established;
}

static unsigned int begin_burst(struct pollfd *polled, const struct burst *burst)
{
	struct endpoint source, target;
	unsigned int n = 0;

	(void)endpoint_parse_address(burst->from, &source);
	(void)endpoint_parse(burst->to, &target);
	while (n < burst->n) {
		int fd = endpoint_socket(&target, &source, SOCK_STREAM | SOCK_NONBLOCK);

		if (fd < 0)
			break;
		(void)connect(fd, (const struct sockaddr *)&target.address, target.length);
		polled[n++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	}
	return n;
}

unsigned int sockets_burst(const struct live *live, struct sockets *sockets,
			   const struct burst *burst)
{
	struct pollfd polled[SOCKETS_MAX];
	unsigned int n, established = 0;

	live_enter(live, LIVE_CLIENT);
	n = begin_burst(polled, burst);
	live_leave(live);
	CHECK_EQ("connections are begun", n, burst->n);
	while (n && poll(polled, n, burst->quiet_ms) > 0)
		established += reap(sockets, polled, &n);
	sockets_close(sockets, burst->n_closed);
	while (n && burst->quiet_then_ms && poll(polled, n, burst->quiet_then_ms) > 0)
		established += reap(sockets, polled, &n);
	for (unsigned int i = 0; i < n; i++)
		(void)close(polled[i].fd);
	return established;
}

static void end(struct sockets *sockets, unsigned int n, bool reset)
{
	const struct linger now = { .l_onoff = 1 };

	for (unsigned int i = 0; i < n && i < sockets->n; i++) {
		if (reset)
			(void)setsockopt(sockets->fds[i], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		(void)close(sockets->fds[i]);
	}
	n = n < sockets->n ? n : sockets->n;
	sockets->n -= n;
	memmove(sockets->fds, sockets->fds + n, sockets->n * sizeof(sockets->fds[0]));
}

void sockets_close(struct sockets *sockets, unsigned int n)
{
	end(sockets, n, false);
}

void sockets_reset(struct sockets *sockets, unsigned int n)
{
	end(sockets, n, true);
}

/*
 * What the service's side has no socket for any more, and what it has none for yet, is left out; so
 * is FIN-WAIT-2, for nobody here closes one half only, and what is left of the others is no socket.
 */
long long live_ss(const struct live *live, uint16_t port)
{
	autooutput struct output output = process_shell(
		live->netns[LIVE_SERVER],
		"ss -HOtn state connected exclude time-wait exclude fin-wait-2 exclude syn-recv "
		"exclude syn-sent "
		"'sport = :%u' | wc -l",
		port);

	return output.code == 0 ? strtoll(output.text, NULL, 10) : -1;
}

long long live_connections(const struct live *live, const char *listener, const char *what)
{
	json_t *status = live_json(live, "status"), *row;
	long long n = -1;
	size_t i;

	json_array_foreach(json_object_get(status, "listeners"), i, row)
	{
		const json_t *counts = json_object_get(row, "connections");
		const char *name = json_string_value(json_object_get(row, "listener"));

		if (json_is_object(counts) && name && strcmp(name, listener) == 0)
			n = json_integer_value(json_object_get(counts, what));
	}
	json_decref(status);
	return n;
}

struct wish {
	const struct live *live;
	const struct service *service;
	long long want, ss, open;
};

static bool is_so(void *context)
{
	struct wish *wish = context;

	wish->ss = live_ss(wish->live, wish->service->port);
	wish->open = live_connections(wish->live, wish->service->listener, "open");
	return wish->ss == wish->want && wish->open == wish->want;
}

void live_check_open(const struct live *live, const struct service *service, const char *what,
		     long long want)
{
	struct wish wish = { live, service, want, -1, -1 };

	(void)live_wait(is_so, &wish);
	CHECK_EQ(what, wish.ss, want);
	CHECK_EQ(what, wish.open, want);
}
