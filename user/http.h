/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics server: GET and HEAD of /metrics, /healthz and /service-level/LISTENER, one request a
 * connection. It renders nothing itself. It needs so little of HTTP that it reads the request line
 * and no header.
 */
#ifndef STILE_HTTP_H
#define STILE_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HTTP_REQUEST_MAX 8192 /* bytes of a request line and headers */
#define HTTP_CLIENTS_MAX 32
#define HTTP_PATIENCE_MS 10000

struct event_base;
struct http;

/* What is asked of a service level. */
struct http_level {
	const char *listener;
	bool json; /* "?json" */
};

enum http_found { HTTP_GOOD, HTTP_UNAVAILABLE, HTTP_UNKNOWN }; /* 200, 503, 404 */

struct http_pages {
	/* Writes the page; false: 503, with what was written as its text. */
	bool (*metrics)(FILE *out, void *context);
	bool (*healthz)(FILE *out, void *context);
	/* Writes the page; *ret_wait, seconds, is for whoever finds it unavailable. */
	enum http_found (*level)(const struct http_level *asked, FILE *out, unsigned int *ret_wait,
				 void *context);
	void *context;
	unsigned int patience_ms; /* see exchange.h; 0: HTTP_PATIENCE_MS */
};

/* 0 or negative errno: -EADDRNOTAVAIL where @host is no address of this machine. */
int http_listen(struct event_base *base, const char *host, uint16_t port,
		const struct http_pages *pages, struct http **ret_http);
uint16_t http_port(const struct http *http); /* as bound, where 0 was asked for */

/* Closes every connection, too. Before @base is freed. */
void http_free(struct http *http);

#endif /* STILE_HTTP_H */
