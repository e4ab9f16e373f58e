/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics server: GET /metrics and /healthz over libevent's HTTP. It renders nothing itself. */
#ifndef STILE_HTTP_H
#define STILE_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct event_base;
struct http;

struct http_pages {
	/* Writes the page; false: 503, with what was written as its text. */
	bool (*metrics)(FILE *out, void *context);
	bool (*healthz)(FILE *out, void *context);
	void *context;
};

int http_listen(struct event_base *base, const char *host, uint16_t port,
		const struct http_pages *pages, struct http **ret_http);
uint16_t http_port(const struct http *http); /* as bound, where 0 was asked for */
void http_free(struct http *http);

#endif /* STILE_HTTP_H */
