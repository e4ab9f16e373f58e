/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests that are refused, and their answers byte for byte. */
#ifndef STILE_DATAGRAM_ROWS_H
#define STILE_DATAGRAM_ROWS_H

#include <stddef.h>

struct datagram_message {
	const char *bytes;
	size_t size;
};
#define MESSAGE(text)                                                                              \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

/* One client's datagram is let in, and in ten seconds another one is. */
#define LIMITER                                                                                    \
	"rate_limiters: {a: {algorithm: token_bucket, limit: 6, window: 1m, burst: 1, "            \
	"unit: datagrams}}\n"
#define LISTENER(keys)                                                                             \
	"listeners: {u: {protocol: udp, ports: [53], rate_limiter_name: a, " keys "}}\n"

struct datagram_row {
	const char *what;
	struct datagram_message request, answer; /* answer.bytes NULL: none */
};

/* Each row by each family, with tags, options and headers before it; checksums included. */
void datagram_check_rows(const char *config, const struct datagram_row *rows, size_t n);

#endif /* STILE_DATAGRAM_ROWS_H */
