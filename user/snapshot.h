/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel holds now, read from the pinned maps alone: it works without a daemon. Reads
 * only; rendering is left to metrics.h and the commands.
 */
#ifndef STILE_SNAPSHOT_H
#define STILE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pins.h"
#include "prefix.h"
#include "snapshot_connections.h"
#include "snapshot_proofs.h"
#include "snapshot_queue.h"
#include "snapshot_where.h"

struct snapshot_interface {
	bool attached;
	enum stile_mode mode; /* as attached: native or generic */
	uint32_t program;     /* id */
	struct stile_packets packets;
};

struct snapshot_limiter {
	uint64_t keys; /* buckets that differ from a new one */
	struct stile_table_stats stats;
	uint64_t held; /* places of a concurrency limiter that all share; snapshot_take_load() */
};

/* Sessions on udp, where limiters count them. */
struct snapshot_sessions {
	uint64_t open, held;
	struct stile_table_stats stats;
};

struct snapshot_listed {
	struct prefix prefix;
	struct stile_listed entry;
};

struct snapshot {
	struct stile_policy policy;
	uint64_t now; /* ns of CLOCK_MONOTONIC, when it was taken */
	struct snapshot_interface interfaces[STILE_INTERFACES_MAX]; /* by slot, like the rest */
	struct snapshot_limiter limiters[STILE_LIMITERS_MAX];
	struct stile_decisions decisions[STILE_ATTACHMENTS_MAX];
	struct stile_replies replies;
	struct snapshot_sessions sessions;
	struct stile_level levels[STILE_LISTENERS_MAX];
	struct snapshot_cgroup cgroup; /* whose connections are counted */
	struct snapshot_connections connections[STILE_LISTENERS_MAX];
	bool has_queues; /* false: there is no listener on tcp, or the kernel does not tell */
	struct snapshot_queue queues[STILE_LISTENERS_MAX];
	struct snapshot_proofs proofs[STILE_LISTENERS_MAX];
	uint64_t silence; /* ns since the daemon was heard of */
	struct snapshot_listed *trusted, *blocked;
	size_t n_trusted, n_blocked;
};

/* 0; -ENOENT where nothing is pinned; -EPROTO where another version's maps are; or -errno. */
int snapshot_take(const struct pins *pins, struct snapshot **ret_snapshot);
void snapshot_free(struct snapshot *snapshot);

/*
 * The same with what a service level is made of alone, which is cheap enough for once a second:
 * all else is zero.
 */
int snapshot_take_load(const struct pins *pins, struct snapshot **ret_snapshot);

/* Whether the daemon has been silent for so long that the watchdog bites. */
bool snapshot_is_unattended(const struct snapshot *snapshot);

/* The service level of the listener in @slot; -1: nobody knows it now. */
int snapshot_level(const struct snapshot *snapshot, uint32_t slot);

/* One client of one limiter. */
struct snapshot_client {
	uint32_t limiter;  /* slot; 0: no limiter's, it only holds connections */
	struct prefix key; /* bits 0: the one bucket of a limiter without keys */
	uint64_t state;	   /* see bpf/bucket.h */
	uint64_t used;	   /* of the limit, or of the burst: what still weighs, rounded up */
	uint64_t admitted, refused; /* as bpf/meta.h counts: exact while small */
	uint64_t idle;		    /* ns since it was last seen, as far as the entry can tell */
	uint64_t wait;		    /* ns until its next event would be admitted; 0: now */
	bool never; /* it would never be: a limiter that is named too often for it */
	bool admitted_exact, refused_exact, live; /* live: its bucket differs from a new one */
	uint64_t open; /* connections that it holds where the limiter judges; by snapshot_holders */
	bool open_unknown; /* none is known of, and some were not counted for want of room */
	uint32_t in_flight, waiting; /* of a limiter of concurrency; see bpf/places.h */
};

/* The clients of @limiter, or of all where 0, in no order. *ret_clients is freed by the caller. */
int snapshot_clients(const struct pins *pins, const struct snapshot *snapshot, uint32_t limiter,
		     struct snapshot_client **ret_clients, size_t *ret_n_clients);

/* Clients of @limiter that it refused, of those that it has seen in the last @within ns. */
int snapshot_count_refused(const struct pins *pins, const struct snapshot *snapshot,
			   uint32_t limiter, uint64_t within, uint64_t *ret_n_clients);

/* What one limiter says. */
struct snapshot_judgement {
	uint32_t attachment; /* slot */
	uint32_t limiter;    /* slot */
	uint32_t ahead;	     /* how often the same limiter is named before, for the same event */
	enum stile_decision decision;
	struct snapshot_client client; /* its bucket; a new one where it has none */
	bool known;		       /* the table holds a bucket for it */
};

/* A connection or a datagram of @address. */
struct snapshot_event {
	uint8_t address[16];
	uint32_t listener;  /* slot, where it is going */
	uint32_t interface; /* slot, where it arrives */
};

/* What would become of an event now. */
struct snapshot_verdict {
	enum stile_verdict verdict;
	enum stile_reason reason;
	enum stile_reply reply; /* where the verdict is REPLY */
	bool listed;		/* the trusted or the blocked list decides, by the entry @prefix */
	bool own_policy;	/* the listener has an entry @prefix of its own for it */
	struct prefix prefix;
	uint64_t expires; /* the listed entry's end, ns from now; 0: it has none */
	unsigned int n_judges;
	struct snapshot_judgement judges[STILE_JUDGES_MAX + 1]; /* the interface's is the first */
	int refused_by;						/* which of the judges; -1: none */
	struct snapshot_queue_look queue;
	bool says_wait; /* an answer in the client's language has a place for the wait */
	/* ns until it would be admitted; 0: now, never, or when there is room: nobody can tell */
	uint64_t wait;
};

int snapshot_explain(const struct pins *pins, const struct snapshot *snapshot,
		     const struct snapshot_event *event, struct snapshot_verdict *ret_verdict);

#endif /* STILE_SNAPSHOT_H */
