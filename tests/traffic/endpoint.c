/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses and ranges of the tools' options. Sources may be addresses that the machine does not
 * carry (freebind): the caller sees to it that answers to them come back.
 */
#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

#define HOST_BITS_MAX 32 /* of a source prefix: more addresses than that nobody counts through */

static struct sockaddr_in *as_ipv4(struct endpoint *endpoint)
{
	return (struct sockaddr_in *)&endpoint->address;
}

static struct sockaddr_in6 *as_ipv6(struct endpoint *endpoint)
{
	return (struct sockaddr_in6 *)&endpoint->address;
}

static bool is_ipv4(const struct endpoint *endpoint)
{
	return endpoint->address.ss_family == AF_INET;
}

int endpoint_parse_address(const char *text, struct endpoint *ret_endpoint)
{
	struct endpoint endpoint = {};

	if (inet_pton(AF_INET, text, &as_ipv4(&endpoint)->sin_addr) == 1) {
		endpoint.address.ss_family = AF_INET;
		endpoint.length = sizeof(struct sockaddr_in);
	} else if (inet_pton(AF_INET6, text, &as_ipv6(&endpoint)->sin6_addr) == 1) {
		endpoint.address.ss_family = AF_INET6;
		endpoint.length = sizeof(struct sockaddr_in6);
	} else {
		return -EINVAL;
	}
	*ret_endpoint = endpoint;
	return 0;
}

static int parse_port(const char *text, uint16_t *ret_port)
{
	unsigned long port;
	char *end;

	errno = 0;
	port = strtoul(text, &end, 10);
	if (errno || end == text || *end || port == 0 || port > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

int endpoint_parse(const char *text, struct endpoint *ret_endpoint)
{
	char address[INET6_ADDRSTRLEN + 2];
	const char *colon = strrchr(text, ':');
	struct endpoint endpoint;
	uint16_t port;
	size_t length;

	if (!colon || parse_port(colon + 1, &port) < 0)
		return -EINVAL;
	length = (size_t)(colon - text);
	if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	if (endpoint_parse_address(address, &endpoint) < 0)
		return -EINVAL;
	if (is_ipv4(&endpoint))
		as_ipv4(&endpoint)->sin_port = htons(port);
	else
		as_ipv6(&endpoint)->sin6_port = htons(port);
	*ret_endpoint = endpoint;
	return 0;
}

/* The last 32 bits of the address: ranges are counted in them alone. */
static uint8_t *tail_bytes(struct endpoint *endpoint)
{
	if (is_ipv4(endpoint))
		return (uint8_t *)&as_ipv4(endpoint)->sin_addr;
	return as_ipv6(endpoint)->sin6_addr.s6_addr + 12;
}

static uint32_t tail_get(struct endpoint *endpoint)
{
	uint32_t tail;

	memcpy(&tail, tail_bytes(endpoint), sizeof(tail));
	return ntohl(tail);
}

static void tail_set(struct endpoint *endpoint, uint32_t tail)
{
	tail = htonl(tail);
	memcpy(tail_bytes(endpoint), &tail, sizeof(tail));
}

static int parse_range(char *text, char *dash, struct endpoint *first, uint64_t *ret_count)
{
	struct endpoint last;

	*dash = '\0';
	if (endpoint_parse_address(text, first) < 0 || endpoint_parse_address(dash + 1, &last) < 0)
		return -EINVAL;
	if (is_ipv4(first) != is_ipv4(&last) || tail_get(first) > tail_get(&last))
		return -EINVAL;
	if (!is_ipv4(first) &&
	    memcmp(&as_ipv6(first)->sin6_addr, &as_ipv6(&last)->sin6_addr, 12) != 0)
		return -EINVAL;
	*ret_count = (uint64_t)tail_get(&last) - tail_get(first) + 1;
	return 0;
}

static int parse_prefix(char *text, char *slash, struct endpoint *first, uint64_t *ret_count)
{
	unsigned int bits, host_bits;
	uint64_t count;
	char *end;

	*slash = '\0';
	if (endpoint_parse_address(text, first) < 0)
		return -EINVAL;
	bits = is_ipv4(first) ? 32 : 128;
	host_bits = (unsigned int)strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end || host_bits > bits)
		return -EINVAL;
	host_bits = bits - host_bits;
	if (host_bits >= HOST_BITS_MAX)
		return -EINVAL;
	count = 1ULL << host_bits;
	tail_set(first, tail_get(first) & ~(uint32_t)(count - 1));
	if (is_ipv4(first) && host_bits > 1) {
		tail_set(first, tail_get(first) + 1);
		count -= 2;
	}
	*ret_count = count;
	return 0;
}

static int parse_source(char *text, struct endpoint *first, uint64_t *ret_count)
{
	char *slash = strchr(text, '/');
	char *dash = strchr(text, '-');

	if (slash)
		return parse_prefix(text, slash, first, ret_count);
	if (dash)
		return parse_range(text, dash, first, ret_count);
	*ret_count = 1;
	return endpoint_parse_address(text, first);
}

int sources_parse(const char *text, struct sources *ret_sources)
{
	struct sources sources = {};
	char item[2 * INET6_ADDRSTRLEN];
	size_t length;

	for (; *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		if (length == 0 || length >= sizeof(item))
			return -EINVAL;
		if (sources.n_ranges == SOURCES_MAX)
			return -E2BIG;
		memcpy(item, text, length);
		item[length] = '\0';
		if (parse_source(item, &sources.ranges[sources.n_ranges].first,
				 &sources.ranges[sources.n_ranges].count) < 0)
			return -EINVAL;
		sources.total += sources.ranges[sources.n_ranges++].count;
	}
	*ret_sources = sources;
	return 0;
}

void sources_pick(const struct sources *sources, uint64_t index, struct endpoint *ret_endpoint)
{
	unsigned int i = 0;

	index %= sources->total;
	while (index >= sources->ranges[i].count)
		index -= sources->ranges[i++].count;
	*ret_endpoint = sources->ranges[i].first;
	tail_set(ret_endpoint, tail_get(ret_endpoint) + (uint32_t)index);
}

static int bind_source(int fd, const struct endpoint *source)
{
	const int on = 1;

	if (source->address.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on));
	else
		(void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
	/* The port is chosen at connect(): bind() would use one up for every target. */
	(void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, (const struct sockaddr *)&source->address, source->length);
}

int endpoint_socket(const struct endpoint *target, const struct endpoint *source, int type)
{
	int fd = socket(target->address.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	if (source && bind_source(fd, source) < 0) {
		error = errno;
		close(fd);
		return -error;
	}
	return fd;
}
