/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SYN cookies of this network namespace: of a handshake that one was sent for, the kernel has no
 * socket, and the client may complete it all the same, until the cookie is too old.
 */
#ifndef STILE_SYNCOOKIES_H
#define STILE_SYNCOOKIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SYNCOOKIES_LIFE 120000000000ULL /* ns: MAX_SYNCOOKIE_AGE in the kernel's net/tcp.h */

struct syncookies {
	uint64_t sent; /* as it was read last */
	bool known;    /* it was */
	uint64_t last; /* ns of CLOCK_MONOTONIC: a SYN after it has got no cookie so far */
};

/* TcpExt SyncookiesSent of @file, which is as /proc/net/netstat. False: it is not there. */
bool syncookies_parse(FILE *file, uint64_t *ret_sent);

/* Notes that @sent was read at @now; NULL: it could not be. */
void syncookies_note(struct syncookies *cookies, const uint64_t *sent, uint64_t now);

/* Reads and notes it. */
void syncookies_look(struct syncookies *cookies);

/* Whether the kernel may send some (net.ipv4.tcp_syncookies), or it cannot be told. */
bool syncookies_enabled(void);

#endif /* STILE_SYNCOOKIES_H */
