/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP/1.1 (RFC 9112) as far as a page that anybody may read needs it. libevent's own HTTP server
 * bounds neither the number of clients nor how long one that sends a byte now and then may stay;
 * exchange.c bounds both.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "exchange.h"
#include "http.h"
#include "util.h"

/* As the metrics format wants it: Prometheus text exposition format 0.0.4. */
#define TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_TEXT "text/plain; charset=utf-8"

struct http {
	struct http_pages pages;
	struct exchange *exchange;
	uint16_t port;
};

/* A request line, as far as it matters. */
struct request {
	char method[16];
	char path[128]; /* without what follows '?' */
};

struct response {
	const char *status;
	const char *type;
	const char *header; /* one more line, or "" */
	char *body;	    /* malloc'ed, or NULL */
	size_t length;
};

static bool is_whole(const char *text, size_t length)
{
	return memmem(text, length, "\n\r\n", 3) || memmem(text, length, "\n\n", 2);
}

/* Cuts an absolute target ("http://host:port/path", RFC 9112, 3.2.2) to its path. */
static const char *path_of(const char *target)
{
	const char *path;

	if (strncasecmp(target, "http://", strlen("http://")) != 0)
		return target;
	path = strchr(target + strlen("http://"), '/');
	return path ? path : "/";
}

static bool parse(const char *text, size_t length, struct request *ret_request)
{
	char target[512], version;
	int end = 0;

	if (strlen(text) != length || sscanf(text, "%15[A-Z] %511[!-~] HTTP/1.%c%n",
					     ret_request->method, target, &version, &end) != 3)
		return false;
	if ((version != '0' && version != '1') || (text[end] != '\r' && text[end] != '\n'))
		return false;
	snprintf(ret_request->path, sizeof(ret_request->path), "%.*s",
		 (int)strcspn(path_of(target), "?"), path_of(target));
	return true;
}

static struct response plain(const char *status, const char *text)
{
	char *copy = strdup(text);

	return (struct response){ status, TYPE_TEXT, "", copy, copy ? strlen(copy) : 0 };
}

static struct response page(const struct http *http, bool (*write)(FILE *out, void *context),
			    const char *type)
{
	struct response response = { "200 OK", type, "", NULL, 0 };
	FILE *out = open_memstream(&response.body, &response.length);
	bool good;

	if (!out)
		return plain("503 Service Unavailable", "out of memory\n");
	good = write(out, http->pages.context);
	if (fclose(out) == EOF) {
		free(response.body);
		return plain("503 Service Unavailable", "out of memory\n");
	}
	if (!good) {
		response.status = "503 Service Unavailable";
		response.type = TYPE_TEXT;
	}
	return response;
}

static struct response respond(const struct http *http, const struct request *request)
{
	struct response response;

	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		response = plain("405 Method Not Allowed", "only GET and HEAD\n");
		response.header = "Allow: GET, HEAD\r\n";
		return response;
	}
	if (strcmp(request->path, "/metrics") == 0)
		return page(http, http->pages.metrics, TYPE_METRICS);
	if (strcmp(request->path, "/healthz") == 0)
		return page(http, http->pages.healthz, TYPE_TEXT);
	return plain("404 Not Found", "there are /metrics and /healthz\n");
}

/* The response as it is sent; NULL where there is no memory. Releases its body. */
static char *format(struct response *response, bool with_body, size_t *ret_length)
{
	char date[64], *text = NULL;
	time_t now = time(NULL);
	struct tm utc;
	FILE *out = open_memstream(&text, ret_length);

	if (!out) {
		free(response->body);
		return NULL;
	}
	(void)strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc));
	fprintf(out,
		"HTTP/1.1 %s\r\nDate: %s\r\nConnection: close\r\n%sContent-Type: %s\r\n"
		"Content-Length: %zu\r\n\r\n",
		response->status, date, response->header, response->type, response->length);
	if (with_body)
		(void)fwrite(response->body, 1, response->length, out); /* fclose() tells */
	free(response->body);
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

static char *answer(const char *text, size_t length, size_t *ret_length, void *context)
{
	const struct http *http = context;
	struct request request = { .method = "" };
	struct response response;

	if (!text)
		response = plain("431 Request Header Fields Too Large", "too long\n");
	else if (!parse(text, length, &request))
		response = plain("400 Bad Request", "expected GET /metrics HTTP/1.1\n");
	else
		response = respond(http, &request);
	return format(&response, strcmp(request.method, "HEAD") != 0, ret_length);
}

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

/* A socket that listens at the first of @host's addresses, or negative errno. */
static int socket_listen(const char *host, uint16_t port, uint16_t *ret_port)
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

int http_listen(struct event_base *base, const char *host, uint16_t port,
		const struct http_pages *pages, struct http **ret_http)
{
	autofree struct http *http = calloc(1, sizeof(*http));
	const struct exchange_rules rules = {
		.request_max = HTTP_REQUEST_MAX,
		.clients_max = HTTP_CLIENTS_MAX,
		.patience_ms = pages->patience_ms ? pages->patience_ms : HTTP_PATIENCE_MS,
		.is_whole = is_whole,
		.answer = answer,
		.context = http,
	};
	autofd int fd = -1;
	int result;

	if (!http)
		return -ENOMEM;
	http->pages = *pages;
	fd = socket_listen(host, port, &http->port);
	if (fd < 0)
		return fd;
	result = exchange_listen(base, fd, &rules, &http->exchange);
	if (result < 0)
		return result;
	(void)take_fd(&fd); /* the exchange's now */
	*ret_http = http;
	http = NULL;
	return 0;
}

uint16_t http_port(const struct http *http)
{
	return http->port;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	exchange_free(http->exchange);
	free(http);
}
