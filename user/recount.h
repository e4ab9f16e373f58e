/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was counted held against a list of the sockets. Pure. Connections come and go while they are
 * listed, so a difference is a mistake only as far as those cannot explain it.
 */
#ifndef STILE_RECOUNT_H
#define STILE_RECOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

/* Counters of one listener before and after its sockets were listed. */
struct recount_window {
	struct stile_connections before, after;
	int64_t lost; /* of struct stile_recount */
};

/* How many too many are counted, at least; negative: too few; 0: nothing is wrong for sure. */
int64_t recount_excess(const struct recount_window *window, uint64_t found);

/* Whether no connection came or went, at any listener, while sockets were listed. */
bool recount_is_quiet(const struct recount_window windows[STILE_LISTENERS_MAX]);

/* A client at a listener, and how many connections it was found with. */
struct recount_client {
	struct stile_holder_key key;
	uint64_t found;
};

/*
 * The clients of those of @n notes that stile_holders of serial @holders counts, in the order of
 * their keys. *ret_clients is freed by the caller. 0 or -ENOMEM.
 */
int recount_clients(const struct stile_socket *notes, size_t n, uint32_t holders,
		    struct recount_client **ret_clients, size_t *ret_n);

/* How many connections @key was found with. */
uint64_t recount_found(const struct recount_client *clients, size_t n,
		       const struct stile_holder_key *key);

#endif /* STILE_RECOUNT_H */
