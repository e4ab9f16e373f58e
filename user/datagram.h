/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What clients on UDP are told in their own language, as data for bpf/datagram.h: one table of
 * rules and pieces for each language. A language is added here and in no other place of the kernel
 * side. It knows no listeners.
 */
#ifndef STILE_USER_DATAGRAM_H
#define STILE_USER_DATAGRAM_H

#include <stdbool.h>

#include <stile/abi.h>

struct raw;

struct datagram_wish {
	bool dns_refused;      /* REFUSED instead of a truncated answer */
	const struct raw *raw; /* of STILE_LANGUAGE_RAW */
};

/* Whether @language is spoken over UDP. */
bool datagram_speaks(enum stile_language language);

/* 0, or -ENOENT where @language is not spoken over UDP; *ret_datagram is written on success. */
int datagram_build(enum stile_language language, const struct datagram_wish *wish,
		   struct stile_datagram *ret_datagram);

#endif /* STILE_USER_DATAGRAM_H */
