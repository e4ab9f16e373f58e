/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An exchange whose answer takes longer than its patience, over a Unix socket in one event loop. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "check.h"
#include "exchange.h"
#include "util.h"

#define BOUND_S 20
#define PATIENCE_MS 500
#define ANSWER_SIZE 1000000 /* more than a socket takes at once */

struct client {
	struct event_base *base;
	int fd;
	size_t length;
};

static bool is_whole(const char *request, size_t length)
{
	return memchr(request, '\n', length) != NULL;
}

/* Works for longer than the exchange is patient with its client. */
static char *answer(const char *request, size_t length, size_t *ret_length, void *context)
{
	(void)request;
	(void)length;
	(void)context;
	(void)poll(NULL, 0, PATIENCE_MS + 100);
	*ret_length = ANSWER_SIZE;
	return calloc(1, ANSWER_SIZE);
}

static void client_read(int fd, short what, void *context)
{
	static char block[4096];
	struct client *client = context;
	ssize_t n = recv(fd, block, sizeof(block), 0);

	(void)what;
	if (n > 0)
		client->length += (size_t)n;
	else
		(void)event_base_loopbreak(client->base);
}

/* Listens at an address that the kernel chooses; @ret_client is connected to it. */
static int listen_and_connect(int *ret_client)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);
	autofd int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	autofd int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (const struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) < 0 ||
	    connect(client, (const struct sockaddr *)&address, size) < 0)
		return -1;
	*ret_client = take_fd(&client);
	return take_fd(&listener);
}

static void test_slow_answer(void)
{
	const struct exchange_rules rules = {
		.request_max = 10,
		.clients_max = 1,
		.patience_ms = PATIENCE_MS,
		.is_whole = is_whole,
		.answer = answer,
	};
	const struct timeval bound = { .tv_sec = BOUND_S };
	struct client client = { .base = event_base_new(), .fd = -1 };
	int listener = listen_and_connect(&client.fd);
	struct exchange *exchange = NULL;
	struct event *readable;

	if (!CHECK("a connection", listener >= 0) ||
	    !CHECK_EQ("it listens", exchange_listen(client.base, listener, &rules, &exchange), 0))
		return;
	readable = event_new(client.base, client.fd, EV_READ | EV_PERSIST, client_read, &client);
	(void)event_add(readable, NULL);
	(void)event_base_loopexit(client.base, &bound);
	CHECK_EQ("asks", send(client.fd, "?\n", 2, MSG_NOSIGNAL), 2);
	(void)event_base_dispatch(client.base);
	CHECK_EQ("the answer has all its time to be taken", client.length, ANSWER_SIZE);
	event_free(readable);
	exchange_free(exchange);
	close(client.fd);
	event_base_free(client.base);
}

CHECK_SUITE(exchange, { "slow answer", test_slow_answer });
