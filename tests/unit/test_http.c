/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics server over real sockets on loopback. Client and server share one event loop, which
 * ends when the server has closed the connection.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "check.h"
#include "http.h"
#include "util.h"

#define BOUND_S 20

struct client {
	struct event_base *base;
	struct event *readable;
	int fd;
	char answer[4096];
	size_t length;
	bool closed;
};

static bool metrics(FILE *out, void *context)
{
	(void)context;
	fputs("stile_up 1\n", out);
	return true;
}

/* Well or not, as the context says. */
static bool healthz(FILE *out, void *context)
{
	fputs(*(const bool *)context ? "ok\n" : "nothing is attached\n", out);
	return *(const bool *)context;
}

/* Level 7 where well, otherwise unavailable, of the listener web alone. */
static enum http_found level(const struct http_level *asked, FILE *out, unsigned int *ret_wait,
			     void *context)
{
	if (strcmp(asked->listener, "web") != 0) {
		fputs("which one?\n", out);
		return HTTP_UNKNOWN;
	}
	fputs(asked->json ? "{7}\n" : "7\n", out);
	*ret_wait = 12;
	return *(const bool *)context ? HTTP_GOOD : HTTP_UNAVAILABLE;
}

static void client_read(int fd, short what, void *context)
{
	struct client *client = context;
	ssize_t n;

	(void)what;
	n = recv(fd, client->answer + client->length, sizeof(client->answer) - 1 - client->length,
		 0);
	if (n > 0)
		client->length += (size_t)n;
	client->closed = n <= 0;
	if (client->closed)
		event_free(client->readable);
	if (client->closed)
		event_base_loopbreak(client->base);
}

static int connect_to(const struct http *http)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(http_port(http)),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return take_fd(&fd);
}

/* Sends @request and runs the loop until the server has closed. */
static void exchange(struct event_base *base, const struct http *http, const char *request,
		     struct client *ret_client)
{
	const struct timeval bound = { .tv_sec = BOUND_S };

	*ret_client = (struct client){ .base = base, .fd = connect_to(http) };
	if (!CHECK("the server takes the connection", ret_client->fd >= 0))
		return;
	(void)send(ret_client->fd, request, strlen(request), MSG_NOSIGNAL);
	ret_client->readable =
		event_new(base, ret_client->fd, EV_READ | EV_PERSIST, client_read, ret_client);
	(void)event_add(ret_client->readable, NULL);
	(void)event_base_loopexit(base, &bound);
	(void)event_base_dispatch(base);
	CHECK(request, ret_client->closed);
	close(ret_client->fd);
}

static const char *body_of(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	return end ? end + 4 : "no end of the headers";
}

static void test_answers(void)
{
	static char upload[60000] = "POST /metrics HTTP/1.1\r\nContent-Length: 59000\r\n\r\n";
	static const struct {
		const char *what, *request, *status, *header, *body;
		bool well;
	} rows[] = {
		{ "metrics are text of the format's version",
		  "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n",
		  "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n", "stile_up 1\n",
		  true },
		{ "what follows a question mark is ignored", "GET /metrics?a=b HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 200 OK\r\n", "Content-Length: 11\r\n", "stile_up 1\n", true },
		{ "HEAD has the headers and no body", "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
		  "HTTP/1.1 200 OK\r\n", "Content-Length: 11\r\n", "", true },
		{ "a client of HTTP/1.0 is answered", "GET /metrics HTTP/1.0\r\n\r\n",
		  "HTTP/1.1 200 OK\r\n", "Content-Length: 11\r\n", "stile_up 1\n", true },
		{ "one request a connection",
		  "GET /metrics HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK\r\n",
		  "Connection: close\r\n", "stile_up 1\n", true },
		{ "well", "GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n",
		  "Content-Type: text/plain; charset=utf-8\r\n", "ok\n", true },
		{ "not well: why", "GET /healthz HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 503 Service Unavailable\r\n",
		  "Content-Type: text/plain; charset=utf-8\r\n", "nothing is attached\n", false },
		{ "another page: what there is", "GET / HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 404 Not Found\r\n", "",
		  "there are /metrics, /healthz and /service-level/LISTENER\n", true },
		{ "a page is not the beginning of a path", "GET /metrics/ HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 404 Not Found\r\n", "",
		  "there are /metrics, /healthz and /service-level/LISTENER\n", true },
		{ "a service level", "GET /service-level/web HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 200 OK\r\n", "Content-Type: text/plain; charset=utf-8\r\n", "7\n",
		  true },
		{ "as JSON", "GET /service-level/web?json HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n",
		  "Content-Type: application/json\r\n", "{7}\n", true },
		{ "nobody keeps it", "GET /service-level/web HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 200 OK\r\n", "Cache-Control: no-store\r\n", "7\n", true },
		{ "unavailable: for how long", "GET /service-level/web HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 503 Service Unavailable\r\n", "\r\nRetry-After: 12\r\n", "7\n", false },
		{ "of nobody", "GET /service-level/we?json HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 404 Not Found\r\n", "Content-Type: text/plain; charset=utf-8\r\n",
		  "which one?\n", true },
		{ "of no name", "GET /service-level/ HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 404 Not Found\r\n", "", "which one?\n", true },
		{ "nothing can be posted", "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\na=b",
		  "HTTP/1.1 405 Method Not Allowed\r\n", "Allow: GET, HEAD\r\n",
		  "only GET and HEAD\n", true },
		{ "an upload that nobody reads does not destroy the answer", upload,
		  "HTTP/1.1 405 Method Not Allowed\r\n", "Allow: GET, HEAD\r\n",
		  "only GET and HEAD\n", true },
		{ "a proxy asks by the whole address", "GET http://a:1/metrics?a HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 200 OK\r\n", "Date: ", "stile_up 1\n", true },
		{ "nothing can be deleted", "DELETE /metrics HTTP/1.1\r\n\r\n",
		  "HTTP/1.1 405 Method Not Allowed\r\n", "Allow: GET, HEAD\r\n",
		  "only GET and HEAD\n", true },
	};
	struct event_base *base = event_base_new();
	bool well = true;
	const struct http_pages pages = {
		.metrics = metrics, .healthz = healthz, .level = level, .context = &well
	};
	struct http *http = NULL;

	memset(upload + strlen(upload), 'x', sizeof(upload) - strlen(upload) - 1);
	CHECK_EQ("the server listens", http_listen(base, "127.0.0.1", 0, &pages, &http), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows) && http; i++) {
		struct client client;

		well = rows[i].well;
		exchange(base, http, rows[i].request, &client);
		CHECK(rows[i].what, strstr(client.answer, rows[i].header) != NULL);
		CHECK_STR_EQ(rows[i].what, body_of(client.answer), rows[i].body);
		client.answer[strcspn(client.answer, "\n") + 1] = '\0';
		CHECK_STR_EQ(rows[i].what, client.answer, rows[i].status);
	}
	http_free(http);
	event_base_free(base);
}

static void test_refusals(void)
{
	static char headers[16384] = "GET /metrics HTTP/1.1\r\nX: ";
	static const char *const rows[] = {
		"this is not HTTP\r\n\r\n",
		"GET\r\n\r\n",
		"GET /metrics HTTP/9.9.9\r\n\r\n",
		"GET /metrics\r\n\r\n",
		"GET  HTTP/1.1\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\n",
		"\r\n\r\n",
		headers,
	};
	struct event_base *base = event_base_new();
	bool well = true;
	const struct http_pages pages = { .metrics = metrics,
					  .healthz = healthz,
					  .context = &well };
	struct http *http = NULL;

	memset(headers + strlen(headers), 'x', sizeof(headers) - strlen(headers) - 1);
	CHECK_EQ("the server listens", http_listen(base, "127.0.0.1", 0, &pages, &http), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows) && http; i++) {
		struct client client;

		exchange(base, http, rows[i], &client);
		CHECK(rows[i], strncmp(client.answer, "HTTP/1.1 4", 10) == 0);
	}
	http_free(http);
	event_base_free(base);
}

/* Clients that send half a request, more of them than there is room for, and have time. */
static void test_slow_clients(void)
{
	struct event_base *base = event_base_new();
	bool well = true;
	const struct http_pages pages = {
		.metrics = metrics,
		.healthz = healthz,
		.context = &well,
		.patience_ms = 2000 * BOUND_S,
	};
	int slow[HTTP_CLIENTS_MAX + 8];
	struct http *http = NULL;
	struct client client;

	if (!CHECK_EQ("the server listens", http_listen(base, "127.0.0.1", 0, &pages, &http), 0))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = connect_to(http);
		(void)send(slow[i], "GET /met", 8, MSG_NOSIGNAL);
	}
	exchange(base, http, "GET /metrics HTTP/1.1\r\n\r\n", &client);
	CHECK_STR_EQ("who comes after slow clients does not wait for them", body_of(client.answer),
		     "stile_up 1\n");
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		close(slow[i]);
	exchange(base, http, "GET /metrics HTTP/1.1\r\n\r\n", &client);
	CHECK_STR_EQ("and so is the next", body_of(client.answer), "stile_up 1\n");
	http_free(http);
	event_base_free(base);
}

static void test_many(void)
{
	struct event_base *base = event_base_new();
	bool well = true;
	const struct http_pages pages = { .metrics = metrics,
					  .healthz = healthz,
					  .context = &well };
	struct http *http = NULL;
	int first, last;

	if (!CHECK_EQ("the server listens", http_listen(base, "127.0.0.1", 0, &pages, &http), 0))
		return;
	first = dup(0);
	close(first);
	for (unsigned int i = 0; i < 4 * HTTP_CLIENTS_MAX; i++) {
		struct client client;

		exchange(base, http, "GET /metrics HTTP/1.1\r\n\r\n", &client);
	}
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	last = dup(0);
	close(last);
	CHECK_EQ("no descriptor is left behind", last, first);
	http_free(http);
	event_base_free(base);
}

static void test_listen(void)
{
	struct event_base *base = event_base_new();
	const struct http_pages pages = { .metrics = metrics, .healthz = healthz };
	struct http *http = NULL, *other = NULL;

	CHECK_EQ("an address of another machine", http_listen(base, "192.0.2.1", 0, &pages, &http),
		 -EADDRNOTAVAIL);
	CHECK_EQ("what is no address", http_listen(base, "not an address", 0, &pages, &http),
		 -EADDRNOTAVAIL);
	CHECK("nothing was written", http == NULL);
	if (CHECK_EQ("a free port", http_listen(base, "127.0.0.1", 0, &pages, &http), 0))
		CHECK_EQ("the same port again",
			 http_listen(base, "127.0.0.1", http_port(http), &pages, &other),
			 -EADDRINUSE);
	http_free(http);
	http_free(other);
	event_base_free(base);
}

CHECK_SUITE(http, { "pages", test_answers }, { "requests that are none", test_refusals },
	    { "slow clients", test_slow_clients }, { "many clients", test_many },
	    { "listening", test_listen });
