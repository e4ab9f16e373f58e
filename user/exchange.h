/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server of one question a connection: it collects bytes until they are a whole request, sends
 * the answer, and closes. What a request is, it does not know. Size, time and number of clients
 * are bounded, so that slow or many clients cost the daemon no more than that; where there is no
 * room the slowest has to go, so that nobody waits for another one.
 */
#ifndef STILE_EXCHANGE_H
#define STILE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct exchange;

struct exchange_rules {
	size_t request_max;	  /* bytes */
	unsigned int clients_max; /* at a time */
	unsigned int patience_ms; /* for the request, and again for the answer to be taken */
	/* NULL: there is nothing to ask, and whoever connects is answered (request_max 1). */
	bool (*is_whole)(const char *request, size_t length);
	/*
	 * Answers @request, which ends with a NUL that is not counted; NULL: it was longer than
	 * request_max. The answer is malloc'ed; NULL: there is none, and the connection is closed.
	 */
	char *(*answer)(const char *request, size_t length, size_t *ret_length, void *context);
	void *context;
};

/* Takes @fd, a listening socket that does not block, on success. 0 or -ENOMEM. */
int exchange_listen(struct event_base *base, int fd, const struct exchange_rules *rules,
		    struct exchange **ret_exchange);

/* Closes every connection and the socket. Before the event base is freed. */
void exchange_free(struct exchange *exchange);

#endif /* STILE_EXCHANGE_H */
