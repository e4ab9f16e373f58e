/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open TCP connections: what they are counted in; a part of abi.h. */
#ifndef STILE_CONNECTION_H
#define STILE_CONNECTION_H

#include <linux/types.h>

#define STILE_HOLDER_IPV6_PREFIX 64 /* leading bits that make one client of stile_holders */

/*
 * stile_connections (per-CPU array, by listener slot). Open are opened + seeded - closed, less what
 * stile_recounts says. They change under the socket's lock, in connection.h.
 */
struct stile_connections {
	__u64 opened;	/* handshakes that the service's side has finished */
	__u64 seeded;	/* found open, by stile_seed */
	__u64 closed;	/* of both, that are not open any more, or another listener's now */
	__u64 overflow; /* that stile_holders had no room for */
};
_Static_assert(sizeof(struct stile_connections) == 32, "struct stile_connections");

/* stile_recounts (array, by listener slot): what the daemon put right. */
struct stile_recount {
	__s64 lost;  /* connections that closed unseen, less those that opened unseen */
	__u64 times; /* that something had to be put right */
};
_Static_assert(sizeof(struct stile_recount) == 16, "struct stile_recount");

/* stile_holders (hash): how many connections of a listener are a client's. */
struct stile_holder_key {
	__u8 address[16]; /* masked: a whole IPv4 address, or STILE_HOLDER_IPV6_PREFIX bits */
	__u32 listener;	  /* serial */
	__u32 reserved;
};
_Static_assert(sizeof(struct stile_holder_key) == 24, "struct stile_holder_key");

struct stile_holder {
	__u64 state; /* see bpf/holder.h */
};
_Static_assert(sizeof(struct stile_holder) == 8, "struct stile_holder");

/* What stile_correct is run with. */
struct stile_correction {
	struct stile_holder_key key;
	__u64 before, after; /* states */
};
_Static_assert(sizeof(struct stile_correction) == 40, "struct stile_correction");

/*
 * stile_sockets (storage of sockets): a connection, and what it is counted in. Read and changed
 * under the socket's lock alone.
 */
struct stile_socket {
	__u8 address[16]; /* the client's */
	__u64 opened;	  /* ns of CLOCK_MONOTONIC; of a seeded one: when it was found */
	__u32 serial;	  /* of the listener that it is counted at; 0: at none */
	__u32 holders;	  /* serial of stile_holders, where it is counted there; or 0 */
	__u16 listener;	  /* slot */
	__u8 seeded;	  /* 1: it was open before it could be counted */
	__u8 watched;	  /* 1: its end will be told */
	__u32 pass;	  /* of stile_seed, that wrote it last */
	__u32 generation; /* of the policy in which it got its places; 0: it has none */
	__u8 places[5];	  /* slots of limiters that it has a place of; 0: none */
	__u8 awaits;	  /* 1: the service has yet to send its first byte */
	__u8 reserved[6];
};
_Static_assert(sizeof(struct stile_socket) == 56, "struct stile_socket");

#endif /* STILE_CONNECTION_H */
