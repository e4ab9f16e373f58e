/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where an event that is asked about is going: which listeners stand there. */
#ifndef STILE_EXPLAIN_WHERE_H
#define STILE_EXPLAIN_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot.h"

struct explain_where {
	enum stile_protocol protocol;
	uint16_t port; /* 0: anywhere */
	bool to_one;   /* to @address, IPv4 as ::ffff:0:0/96; otherwise to any of the host */
	uint8_t address[16];
};

/* "53" and "tcp/53" are on TCP, "udp/53" is on UDP. False: it is none of these. */
bool explain_where_parse(const char *text, struct explain_where *where);

/*
 * Which listeners, by slot, stand there, as the kernel side looks them up: one that names the
 * address before one that does not. 0 or negative errno.
 */
int explain_where_find(const struct pins *pins, const struct snapshot *snapshot,
		       const struct explain_where *where, bool ret_at[STILE_LISTENERS_MAX]);

#endif /* STILE_EXPLAIN_WHERE_H */
