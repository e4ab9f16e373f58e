/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses with a port, and ranges of source addresses, as the tools' options write them. */
#ifndef STILE_TRAFFIC_ENDPOINT_H
#define STILE_TRAFFIC_ENDPOINT_H

#include <stdint.h>
#include <sys/socket.h>

#define SOURCES_MAX 64

struct endpoint {
	struct sockaddr_storage address;
	socklen_t length;
};

/* "192.0.2.1:80", "[2001:db8::1]:80". 0 or -EINVAL. */
int endpoint_parse(const char *text, struct endpoint *ret_endpoint);

/* An address alone; the port is 0. 0 or -EINVAL. */
int endpoint_parse_address(const char *text, struct endpoint *ret_endpoint);

/* Ranges of addresses, counted through as if they were one list. */
struct sources {
	struct {
		struct endpoint first;
		uint64_t count;
	} ranges[SOURCES_MAX];
	unsigned int n_ranges;
	uint64_t total; /* 0: leave the choice to the kernel */
};

/*
 * "A", "A-B" and "A/LENGTH", separated by commas; the network and the broadcast address of an
 * IPv4 prefix are left out. 0, or -EINVAL, or -E2BIG where there are more than SOURCES_MAX.
 */
int sources_parse(const char *text, struct sources *ret_sources);

/* Address number @index, modulo their number; total must not be 0. */
void sources_pick(const struct sources *sources, uint64_t index, struct endpoint *ret_endpoint);

/* A socket of @type, non-blocking, bound to @source where that is not NULL. fd or -errno. */
int endpoint_socket(const struct endpoint *target, const struct endpoint *source, int type);

#endif /* STILE_TRAFFIC_ENDPOINT_H */
