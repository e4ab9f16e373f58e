/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A connection's end has an order: the answer is sent, then our side is shut, then what the client
 * still sends is thrown away until it closes too. Closing at once, with bytes unread, would be a
 * reset, which destroys the answer on its way.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "exchange.h"
#include "util.h"

#define RESUME_MS 500 /* until accept() is tried again where it failed (no descriptor left, say) */

enum state { ASKING, ANSWERING, CLOSING };

struct client {
	struct client *next, **link;
	struct exchange *exchange;
	struct bufferevent *stream;
	struct event *late;
	enum state state;
	bool ended; /* it will send no more */
};

struct exchange {
	struct exchange_rules rules;
	struct event_base *base;
	int fd; /* listens */
	struct event *acceptable, *resume;
	struct client *clients;
	unsigned int n_clients;
};

static void client_free(struct client *client)
{
	struct exchange *exchange = client->exchange;

	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	if (client->late)
		event_free(client->late);
	bufferevent_free(client->stream);
	free(client);
	exchange->n_clients--;
}

static struct timeval milliseconds(unsigned int ms)
{
	return (struct timeval){ ms / 1000, (ms % 1000) * 1000 };
}

/* Starts its time anew: from now, not from when the loop woke up, for an answer may take long. */
static bool client_be_patient(struct client *client)
{
	const struct timeval patience = milliseconds(client->exchange->rules.patience_ms);

	(void)event_base_update_cache_time(client->exchange->base); /* fails only without a clock */
	return evtimer_add(client->late, &patience) == 0;
}

/* @request: NULL where it is too long. */
static void client_answer(struct client *client, const char *request, size_t length)
{
	const struct exchange_rules *rules = &client->exchange->rules;
	size_t answer_length = 0;
	char *answer;
	bool sent;

	client->state = ANSWERING;
	answer = rules->answer(request, length, &answer_length, rules->context);
	sent = answer && client_be_patient(client) &&
	       bufferevent_write(client->stream, answer, answer_length) == 0;
	free(answer);
	if (!sent)
		client_free(client);
}

/*
 * It has hung up, and not only ended what it says: what it asked for may be out of date. That is
 * known of the other end of a Unix socket; of a TCP connection only where it was reset.
 */
static bool client_is_gone(const struct client *client)
{
	struct pollfd poll_fd = { .fd = bufferevent_getfd(client->stream) };

	return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLHUP | POLLERR);
}

/* What follows a whole request is no matter. */
static void client_ask(struct client *client, struct evbuffer *input)
{
	const struct exchange_rules *rules = &client->exchange->rules;
	size_t available = evbuffer_get_length(input);
	size_t length = available < rules->request_max ? available : rules->request_max;
	char *request = malloc(length + 1);
	bool whole;

	if (!request || client_is_gone(client)) {
		free(request);
		client_free(client);
		return;
	}
	(void)evbuffer_copyout(input, request, length); /* so much is there */
	request[length] = '\0';
	whole = rules->is_whole(request, length);
	if (whole || available > rules->request_max) {
		(void)evbuffer_drain(input, available); /* the same; so that reading goes on */
		client_answer(client, whole ? request : NULL, whole ? length : 0);
	}
	free(request);
}

static void client_read(struct bufferevent *stream, void *context)
{
	struct client *client = context;
	struct evbuffer *input = bufferevent_get_input(stream);

	if (client->state == ASKING)
		client_ask(client, input);
	else
		(void)evbuffer_drain(input, evbuffer_get_length(input)); /* so much is there */
}

/* The answer is with the kernel. */
static void client_written(struct bufferevent *stream, void *context)
{
	struct client *client = context;

	if (client->state != ANSWERING)
		return;
	client->state = CLOSING;
	if (client->ended || shutdown(bufferevent_getfd(stream), SHUT_WR) < 0)
		client_free(client);
}

static void client_event(struct bufferevent *stream, short what, void *context)
{
	struct client *client = context;

	(void)stream; /* the client's */
	client->ended = true;
	if (client->state != ANSWERING || what & BEV_EVENT_ERROR)
		client_free(client);
}

static void client_late(int fd, short what, void *context)
{
	(void)fd;   /* a timer has none */
	(void)what; /* only time can be up */
	client_free(context);
}

/* Takes @fd. */
static struct client *client_new(struct exchange *exchange, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (client)
		client->stream = bufferevent_socket_new(exchange->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!client || !client->stream) {
		(void)evutil_closesocket(fd); /* the client sees a closed connection */
		free(client);
		return NULL;
	}
	client->exchange = exchange;
	client->link = &exchange->clients;
	client->next = exchange->clients;
	if (client->next)
		client->next->link = &client->next;
	exchange->clients = client;
	exchange->n_clients++;
	return client;
}

/*
 * Who has to go where there is no room: one that has its answer, or else is still asking, or else
 * takes its answer; and of those who has been there longest. Whoever asks at once is answered
 * before its turn comes, however many do nothing but connect.
 */
static struct client *client_least(const struct exchange *exchange)
{
	static const int rank[] = { [CLOSING] = 0, [ASKING] = 1, [ANSWERING] = 2 };
	struct client *least = exchange->clients;

	for (struct client *client = least; client; client = client->next) { /* the newest first */
		if (rank[client->state] <= rank[least->state])
			least = client;
	}
	return least;
}

/* Takes @fd. */
static void client_begin(struct exchange *exchange, int fd)
{
	struct client *client;

	if (exchange->n_clients >= exchange->rules.clients_max)
		client_free(client_least(exchange));
	client = client_new(exchange, fd);
	if (!client)
		return;
	client->late = evtimer_new(exchange->base, client_late, client);
	bufferevent_setcb(client->stream, client_read, client_written, client_event, client);
	bufferevent_setwatermark(client->stream, EV_READ, 0, exchange->rules.request_max + 1);
	if (!client->late || !client_be_patient(client) ||
	    bufferevent_enable(client->stream, EV_READ | EV_WRITE) < 0)
		client_free(client);
	else if (!exchange->rules.is_whole)
		client_answer(client, "", 0);
}

/*
 * One at a time, so that what has arrived from it is read before the next one comes. Where there
 * is no descriptor left the socket stays readable, and trying again at once would do nothing else.
 */
static void accept_one(int listener, short what, void *context)
{
	const struct timeval later = milliseconds(RESUME_MS);
	struct exchange *exchange = context;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what; /* somebody wants to connect */
	if (fd >= 0)
		client_begin(exchange, fd);
	else if ((errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) &&
		 evtimer_add(exchange->resume, &later) == 0)
		(void)event_del(exchange->acceptable); /* it was added */
}

static void accept_resume(int fd, short what, void *context)
{
	const struct exchange *exchange = context;

	(void)fd;				     /* a timer has none */
	(void)what;				     /* only time can be up */
	(void)event_add(exchange->acceptable, NULL); /* it was added before */
}

int exchange_listen(struct event_base *base, int fd, const struct exchange_rules *rules,
		    struct exchange **ret_exchange)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return -ENOMEM;
	exchange->rules = *rules;
	exchange->base = base;
	exchange->fd = -1; /* not ours before all is well */
	exchange->resume = evtimer_new(base, accept_resume, exchange);
	exchange->acceptable = event_new(base, fd, EV_READ | EV_PERSIST, accept_one, exchange);
	if (!exchange->resume || !exchange->acceptable ||
	    event_add(exchange->acceptable, NULL) < 0) {
		exchange_free(exchange);
		return -ENOMEM;
	}
	exchange->fd = fd;
	*ret_exchange = exchange;
	return 0;
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	while (exchange->clients)
		client_free(exchange->clients);
	if (exchange->acceptable)
		event_free(exchange->acceptable);
	if (exchange->resume)
		event_free(exchange->resume);
	fd_release(&exchange->fd);
	free(exchange);
}
