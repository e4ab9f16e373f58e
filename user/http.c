/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP/1.1 (RFC 9112) as far as a page that anybody may read needs it. libevent's own HTTP server
 * bounds neither the number of clients nor how long one that sends a byte now and then may stay;
 * exchange.c bounds both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "exchange.h"
#include "http.h"
#include "socket.h"
#include "util.h"

/* As the metrics format wants it: Prometheus text exposition format 0.0.4. */
#define TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_JSON "application/json"

#define LEVEL_PATH "/service-level/"

struct http {
	struct http_pages pages;
	struct exchange *exchange;
	uint16_t port;
};

/* A request line, as far as it matters. */
struct request {
	char method[16];
	char path[128]; /* without what follows '?' */
	bool json;	/* that is what follows */
};

struct response {
	const char *status;
	const char *type;
	char header[64]; /* more lines, or "" */
	char *body;	 /* malloc'ed, or NULL */
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
	const char *path;
	int end = 0;

	if (strlen(text) != length || sscanf(text, "%15[A-Z] %511[!-~] HTTP/1.%c%n",
					     ret_request->method, target, &version, &end) != 3)
		return false;
	if ((version != '0' && version != '1') || (text[end] != '\r' && text[end] != '\n'))
		return false;
	path = path_of(target);
	snprintf(ret_request->path, sizeof(ret_request->path), "%.*s", (int)strcspn(path, "?"),
		 path);
	ret_request->json = strcmp(path + strcspn(path, "?"), "?json") == 0;
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

/*
 * Retry-After is of RFC 9110, 10.2.3. What is true for a second is not to be stored (RFC 9111,
 * 5.2.2.5).
 */
static struct response level_page(const struct http *http, const struct request *request)
{
	static const char *const status[] = {
		[HTTP_GOOD] = "200 OK",
		[HTTP_UNAVAILABLE] = "503 Service Unavailable",
		[HTTP_UNKNOWN] = "404 Not Found",
	};
	const struct http_level asked = { request->path + strlen(LEVEL_PATH), request->json };
	struct response response = { .type = asked.json ? TYPE_JSON : TYPE_TEXT };
	FILE *out = open_memstream(&response.body, &response.length);
	enum http_found found;
	unsigned int wait = 1;

	if (!out)
		return plain("503 Service Unavailable", "out of memory\n");
	found = http->pages.level(&asked, out, &wait, http->pages.context);
	if (fclose(out) == EOF) {
		free(response.body);
		return plain("503 Service Unavailable", "out of memory\n");
	}
	response.status = status[found];
	if (found == HTTP_UNKNOWN)
		response.type = TYPE_TEXT;
	if (found == HTTP_UNAVAILABLE)
		snprintf(response.header, sizeof(response.header),
			 "Cache-Control: no-store\r\nRetry-After: %u\r\n", wait);
	else
		snprintf(response.header, sizeof(response.header), "Cache-Control: no-store\r\n");
	return response;
}

static struct response respond(const struct http *http, const struct request *request)
{
	struct response response;

	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		response = plain("405 Method Not Allowed", "only GET and HEAD\n");
		snprintf(response.header, sizeof(response.header), "Allow: GET, HEAD\r\n");
		return response;
	}
	if (strcmp(request->path, "/metrics") == 0)
		return page(http, http->pages.metrics, TYPE_METRICS);
	if (strcmp(request->path, "/healthz") == 0)
		return page(http, http->pages.healthz, TYPE_TEXT);
	if (strncmp(request->path, LEVEL_PATH, strlen(LEVEL_PATH)) == 0)
		return level_page(http, request);
	return plain("404 Not Found", "there are /metrics, /healthz and " LEVEL_PATH "LISTENER\n");
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
