/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Agent-checks over real sockets on loopback, server and client in one event loop. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "agent.h"
#include "check.h"
#include "util.h"

#define BOUND_S 20

struct client {
	struct event_base *base;
	struct event *readable;
	int fd;
	char answer[256];
	size_t length;
	bool closed;
};

static int tell(void *context)
{
	return *(const int *)context;
}

static void client_read(int fd, short what, void *context)
{
	struct client *client = context;
	ssize_t n = recv(fd, client->answer + client->length,
			 sizeof(client->answer) - 1 - client->length, 0);

	(void)what;
	if (n > 0) {
		client->length += (size_t)n;
		return;
	}
	client->closed = true;
	(void)event_base_loopbreak(client->base);
}

static int connect_to(const struct agent *agent)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(agent_port(agent)),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return take_fd(&fd);
}

/* What is said to whoever connects, and perhaps says something, until the server has closed. */
static void ask(struct event_base *base, const struct agent *agent, const char *says,
		struct client *ret_client)
{
	const struct timeval bound = { .tv_sec = BOUND_S };

	*ret_client = (struct client){ .base = base, .fd = connect_to(agent) };
	if (!CHECK("the agent takes the connection", ret_client->fd >= 0))
		return;
	(void)send(ret_client->fd, says, strlen(says), MSG_NOSIGNAL);
	ret_client->readable =
		event_new(base, ret_client->fd, EV_READ | EV_PERSIST, client_read, ret_client);
	(void)event_add(ret_client->readable, NULL);
	(void)event_base_loopexit(base, &bound);
	(void)event_base_dispatch(base);
	CHECK("and closes it", ret_client->closed);
	event_free(ret_client->readable);
	close(ret_client->fd);
}

static void test_answers(void)
{
	static const struct {
		const char *what, *says;
		int level;
		const char *want;
	} rows[] = {
		{ "all", "", 255, "up 100%\n" },
		{ "some", "", 127, "up 50%\n" },
		{ "hardly anything", "", 1, "up 1%\n" },
		{ "nothing", "", 0, "down#nobody listens\n" },
		{ "nobody knows: nothing is said", "", -1, "" },
		{ "what it sends is no matter", "web please\n", 255, "up 100%\n" },
	};
	struct event_base *base = event_base_new();
	int level = -1;
	const struct agent_rules rules = { .level = tell, .context = &level };
	struct agent *agent = NULL;

	CHECK_EQ("it listens", agent_listen(base, "127.0.0.1", 0, &rules, &agent), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows) && agent; i++) {
		struct client client;

		level = rows[i].level;
		ask(base, agent, rows[i].says, &client);
		CHECK_STR_EQ(rows[i].what, client.answer, rows[i].want);
	}
	agent_free(agent);
	event_base_free(base);
}

static void test_taken(void)
{
	struct event_base *base = event_base_new();
	const struct agent_rules rules = { .level = tell };
	struct agent *agent = NULL, *other = NULL;

	CHECK_EQ("it listens", agent_listen(base, "127.0.0.1", 0, &rules, &agent), 0);
	CHECK_EQ("once", agent_listen(base, "127.0.0.1", agent_port(agent), &rules, &other),
		 -EADDRINUSE);
	agent_free(agent);
	agent_free(other);
	event_base_free(base);
}

CHECK_SUITE(agent, { "a line for whoever connects", test_answers }, { "a port taken", test_taken });
