/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side and the user side share: map keys and values, and their limits.
 * Data only; every size is asserted. Addresses are 16 bytes in network byte order, IPv4 as
 * IPv4-mapped IPv6 (RFC 4291, 2.5.5.2). Everything else is in the host's byte order.
 */
#ifndef STILE_ABI_H
#define STILE_ABI_H

#include <linux/types.h>

#include "answer.h"
#include "connection.h"
#include "datagram.h"
#include "language.h"
#include "proof.h"
#include "reason.h"

#define STILE_ABI_VERSION 1

#define STILE_NAME_SIZE 32 /* bytes of a name, its NUL included */
#define STILE_INTERFACES_MAX 16
#define STILE_LIMITERS_MAX 64	   /* slot 0 is never used: 0 means none */
#define STILE_LISTENERS_MAX 256	   /* slot 0 is never used: 0 means unprotected */
#define STILE_ATTACHMENTS_MAX 1024 /* slot 0 is never used: 0 ends a list */
#define STILE_JUDGES_MAX 4	   /* limiters that one listener, source or interface names */
#define STILE_SET_WAYS 6	   /* buckets of a set with 8-byte keys */
#define STILE_SET_WAYS_WIDE 4	   /* buckets of a set with 16-byte keys */
#define STILE_ATTEMPTS_BITS 14
#define STILE_ATTEMPTS (1 << STILE_ATTEMPTS_BITS) /* admitted SYNs that are remembered */
#define STILE_FLOW_WAYS 8			  /* sessions of a set */
#define STILE_FLOW_KEYS 10  /* words of the secret that finds a session's set */
#define STILE_FLOW_SHIFT 24 /* times of sessions are in units of 2^24 ns, some 17 ms */
#define STILE_ASKING_BITS 11
#define STILE_ASKING (1 << STILE_ASKING_BITS) /* sets of clients whose SYNs are counted */
#define STILE_ASKING_WAYS 8
#define STILE_PORTS_PER_PAGE 256
#define STILE_WINDOW_NS_MIN 1000000000ULL	  /* 1s */
#define STILE_WINDOW_NS_MAX 3600000000000ULL	  /* 1h */
#define STILE_WINDOW_LIMIT_MAX ((1ULL << 20) - 1) /* highest limit of the two window algorithms */
#define STILE_TOKEN_RATE_MAX 10000000ULL	  /* tokens per second */
#define STILE_TOKEN_SHIFT 6			  /* token times are in ns >> -6, that is 1/64 ns */

#define STILE_DATAGRAMS_MAX 64 /* different answers on udp; slot 0 is never used */

#define STILE_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

enum stile_protocol { STILE_PROTOCOL_TCP, STILE_PROTOCOL_UDP, _STILE_PROTOCOL_MAX };

enum stile_algorithm {
	STILE_ALGORITHM_SLIDING_WINDOW,
	STILE_ALGORITHM_TOKEN_BUCKET,
	STILE_ALGORITHM_FIXED_WINDOW,
	STILE_ALGORITHM_CONCURRENCY,
	_STILE_ALGORITHM_MAX,
};

enum stile_action {
	STILE_ACTION_REJECT,
	STILE_ACTION_RESET,
	STILE_ACTION_CLOSE,
	STILE_ACTION_DROP,
	STILE_ACTION_COUNT,
	_STILE_ACTION_MAX,
};

enum stile_unit {
	STILE_UNIT_CONNECTIONS,
	STILE_UNIT_DATAGRAMS,
	STILE_UNIT_SESSIONS,
	STILE_UNIT_ESTABLISHMENTS, /* connections that the service has not answered yet */
	_STILE_UNIT_MAX,
};
#define STILE_UNIT_UNSET _STILE_UNIT_MAX /* connections on tcp, and sessions on udp */

/* What finds a client's place in a table: see bpf/key.h. */
enum stile_hash { STILE_HASH_XORSHIFT, STILE_HASH_SIPHASH, _STILE_HASH_MAX };

enum stile_full { STILE_FULL_EVICT, STILE_FULL_ALLOW, STILE_FULL_REJECT, _STILE_FULL_MAX };

/* Which clock a limiter reads: the tick counter costs nothing, the precise one 43 ns. */
enum stile_clock { STILE_CLOCK_TICK, STILE_CLOCK_PRECISE, _STILE_CLOCK_MAX };

/* What becomes of packets once the daemon has been silent for too long. */
enum stile_watchdog {
	STILE_WATCHDOG_KEEP,  /* what would become of them otherwise */
	STILE_WATCHDOG_COUNT, /* what is over a limit is counted, and let through */
	STILE_WATCHDOG_PASS,  /* they pass */
	_STILE_WATCHDOG_MAX,
};

enum stile_mode { STILE_MODE_AUTO, STILE_MODE_NATIVE, STILE_MODE_GENERIC, _STILE_MODE_MAX };

/* A limiter as the program reads it. All times are CLOCK_MONOTONIC. */
struct stile_limiter {
	char name[STILE_NAME_SIZE]; /* empty: the slot is free */
	__u64 limit;		    /* events per window; concurrency: places */
	__u64 window;		    /* ns; concurrency: of a slice, see bpf/places.h */
	__u64 burst;		    /* tokens; token_bucket only */
	__u64 token;		    /* token_bucket: time of one token, 1/64 ns, rounded up */
	__u64 depth;		    /* token_bucket: burst * token */
	__u64 seed[2];		    /* of the table's hash; seed[1] is odd */
	__u32 sets;		    /* in the table; 0: the slot is free */
	__u32 max_keys;		    /* clients the table is built for */
	__u8 algorithm;		    /* enum stile_algorithm */
	__u8 action;		    /* enum stile_action */
	__u8 unit;		    /* enum stile_unit, or STILE_UNIT_UNSET */
	__u8 full;		    /* enum stile_full */
	__u8 clock;		    /* enum stile_clock */
	__u8 keyed;		    /* 1: by client_ip; 0: one bucket for every event */
	__u8 wide;		    /* 1: 16-byte keys, for IPv6 prefixes longer than 64 */
	__u8 ipv4_prefix;	    /* 0 to 32 leading bits */
	__u8 ipv6_prefix;	    /* 0 to 128 leading bits */
	__u8 seen_shift; /* last-seen times are in units of 2^seen_shift ns, see bpf/meta.h */
	__u8 hash;	 /* enum stile_hash */
	__u8 reserved;
	__u16 queue; /* concurrency: SYNs that may wait beyond the limit */
	__u8 reserved_too[2];
	__u64 since; /* the generation that made its table */
};
STILE_SIZE(struct stile_limiter, 120);

/* One limiter in one listener: what decisions are counted by. */
struct stile_attachment {
	__u16 limiter;	  /* slot; 0: free */
	__u16 listener;	  /* slot */
	__u16 answer;	  /* slot in stile_answers, on udp in stile_datagrams; 0: nothing is said */
	__u8 new_sources; /* 1: it judges only clients that the listener's others do not know */
	__u8 reserved;
};
STILE_SIZE(struct stile_attachment, 8);

struct stile_listener {
	char name[STILE_NAME_SIZE]; /* empty: the slot is free */
	__u8 protocol;		    /* enum stile_protocol */
	__u8 has_sources;	    /* 1: stile_sources has entries for it */
	__u16 answer;		    /* as an attachment's, for what no limiter refuses */
	__u32 session_idle;	    /* how long a session may be silent, see STILE_FLOW_SHIFT */
	__u32 accept_limit;	    /* connections in the accept queue; 0: none */
	__u32 backlog;		    /* that the service's sockets are to have; 0: their own */
	__u8 accept_percent;	    /* accept_limit is this much of the queue's size; 0: a number */
	__u8 backlog_exactly;	    /* 1: a longer one is made shorter */
	__u8 places;   /* enum stile_places: what its limiters of concurrency ask for */
	__u8 language; /* enum stile_language */
	__u32 serial;  /* whose the slot is: new with every owner; 0: free */
	__u8 proves;   /* enum stile_prove */
	__u8 reserved[7];
	/* Attachment slots, in the order of judgement; the program reads them as one word. */
	__u16 judges[STILE_JUDGES_MAX] __attribute__((aligned(8)));
	/* The interface's limiter when the packet comes in there; attachment slots. */
	__u16 edges[STILE_INTERFACES_MAX];
};
STILE_SIZE(struct stile_listener, 104);

struct stile_interface {
	char name[16]; /* empty: the slot is free */
	__u32 ifindex; /* 0: not there now */
	__u8 mode;     /* enum stile_mode, as configured */
	__u8 reserved[3];
};
STILE_SIZE(struct stile_interface, 24);

/* How many answers may be sent, see bpf/budget.h. */
struct stile_budget {
	__u64 token; /* time of one answer, 1/64 ns, rounded up */
	__u64 depth; /* a second's worth of them */
	__u32 limit; /* answers per second */
	__u32 batch; /* that a CPU draws at once */
};
STILE_SIZE(struct stile_budget, 24);

/* The whole policy, compiled into the program as read-only data and pinned with it. */
struct stile_policy {
	__u32 version;	  /* STILE_ABI_VERSION */
	__u32 size;	  /* sizeof(struct stile_policy) */
	__u64 generation; /* counts loads since protection began, from 1 */
	__u64 since;	  /* when protection began, ns of CLOCK_BOOTTIME */
	__u64 tick;	  /* ns per tick of the kernel's jiffies */
	__u64 tick_base;  /* CLOCK_MONOTONIC is jiffies * tick + tick_base, modulo 2^64, or later */
	__u64 seed[2];	  /* of the hash that finds repeated SYNs; seed[1] is odd */
	__u8 enabled;
	__u8 has_addresses;   /* 1: stile_hosts has entries */
	__u8 watchdog;	      /* enum stile_watchdog */
	__u8 converses;	      /* 1: an answer is given over TCP; see bpf/busy.h */
	__u8 accept_limits;   /* 1: a listener has an accept_limit */
	__u8 has_datagrams;   /* 1: one is given over UDP; see bpf/datagram.h */
	__u8 reset_text;      /* 1: resets say how long to wait */
	__u8 proves;	      /* 1: sources are proven, or were since protection began */
	__u64 cookie_key[2];  /* of the hash that makes cookies, see bpf/cookie.h */
	__u64 watchdog_after; /* ns since the last heartbeat that are too long */
	__u64 flow_keys[STILE_FLOW_KEYS]; /* of the hash that finds sessions */
	__u32 flow_sets;		  /* of stile_flows; 0: no limiter counts sessions */
	__u32 max_sessions;
	__u64 netns;	   /* cookie of the network namespace whose sockets count; 0: any */
	__u64 cgroup;	   /* id of the one whose sockets count, and those beneath it; 0: any */
	__u32 serials;	   /* last number that was given to something new */
	__u32 holders;	   /* serial of stile_holders */
	__u32 max_clients; /* entries of stile_holders */
	__u8 connections;  /* 1: open connections are counted */
	__u8 new_sources;  /* 1: an attachment judges only clients that are not known */
	__u8 replays;	   /* 1: time is stile_replay.now, and what is decided is written there */
	__u8 reserved_too;
	/* Where in the kernel's socket an accept queue's length, backlog and handshakes are. */
	__u32 queue_length, queue_backlog, queue_young;
	__u32 handshake_sets; /* of stile_handshakes; 0: no limiter counts places */
	struct stile_offer offer;
	struct stile_budget cookies; /* cookies_per_second; limit 0: no bound */
	struct stile_budget budget;
	struct stile_interface interfaces[STILE_INTERFACES_MAX];
	struct stile_limiter limiters[STILE_LIMITERS_MAX];
	struct stile_listener listeners[STILE_LISTENERS_MAX];
	struct stile_attachment attachments[STILE_ATTACHMENTS_MAX];
};
STILE_SIZE(struct stile_policy,
	   72 + 16 + 88 + 32 + 8 + 8 + 8 + 2 * 24 + 16 * 24 + 64 * 120 + 256 * 104 + 1024 * 8);

/*
 * A set of buckets: one limiter's table is an array of these, and one set is two cache lines.
 * A key of zeros is an empty way. Keys of a set change only under its lock; states change by
 * compare-and-swap, without it. The narrow key of an IPv6 client is the first half of its masked
 * address, and of an IPv4 client 0,1,0,0 and the masked address; see bpf/key.h.
 */
struct stile_set {
	__u8 key[STILE_SET_WAYS][8];
	__u64 state[STILE_SET_WAYS]; /* see bpf/bucket.h */
	__u32 meta[STILE_SET_WAYS];  /* see bpf/meta.h */
	__u32 lock;		     /* 1 while a way changes hands */
	__u32 reserved;
};
STILE_SIZE(struct stile_set, 128);

/* The same for 16-byte keys: masked addresses, IPv4-mapped. */
struct stile_set_wide {
	__u8 key[STILE_SET_WAYS_WIDE][16];
	__u64 state[STILE_SET_WAYS_WIDE];
	__u32 meta[STILE_SET_WAYS_WIDE];
	__u32 reserved[2];
	__u32 lock;
	__u32 reserved_too;
};
STILE_SIZE(struct stile_set_wide, 128);

/* stile_attempts (array of one): by keyed hashes of admitted SYNs, see bpf/attempt.h. */
struct stile_attempts {
	__u16 tag[STILE_ATTEMPTS]; /* more of the hash; 0: unused */
};
STILE_SIZE(struct stile_attempts, 32768);

/* stile_flows (array): sessions, a word each, see bpf/flow.h. A set is one cache line. */
struct stile_flow_set {
	__u64 flow[STILE_FLOW_WAYS];
};
STILE_SIZE(struct stile_flow_set, 64);

/*
 * stile_asking (array): how often clients ask for connections while an accept queue is over its
 * limit, see bpf/queue.h. A set is one cache line.
 */
struct stile_asking {
	__u64 word[STILE_ASKING_WAYS]; /* 0: unused */
};
STILE_SIZE(struct stile_asking, 64);

/* stile_hosts (hash): a destination address that listeners name → its row of stile_ports. */
struct stile_host {
	__u8 address[16];
};
STILE_SIZE(struct stile_host, 16);

/*
 * stile_ports (array): row 0 is for every address, further rows are for the hosts of stile_hosts;
 * a row holds, by protocol and the high byte of the port, an index into stile_pages.
 */
struct stile_ports {
	__u16 page[_STILE_PROTOCOL_MAX][STILE_PORTS_PER_PAGE];
};
STILE_SIZE(struct stile_ports, 1024);

/* stile_pages (array): listener slots by the low byte of the port; page 0 is all zero. */
struct stile_page {
	__u16 listener[STILE_PORTS_PER_PAGE];
};
STILE_SIZE(struct stile_page, 512);

/* stile_trusted, stile_blocked (longest-prefix-match tries). */
struct stile_prefix {
	__u32 bits; /* significant leading bits of address: 96 + n for IPv4 */
	__u8 address[16];
};
STILE_SIZE(struct stile_prefix, 20);

struct stile_listed {
	__u64 expires; /* ns of CLOCK_MONOTONIC; 0: never */
	__u32 bits;    /* of the entry itself */
	__u32 by_hand; /* 1: put there by a command, and kept through reloads */
};
STILE_SIZE(struct stile_listed, 16);

/* stile_sources (longest-prefix-match trie): a listener's own policies for client prefixes. */
struct stile_source_key {
	__u32 bits; /* 32 for the listener, and those of the address: 96 + n for IPv4 */
	__u32 listener;
	__u8 address[16];
};
STILE_SIZE(struct stile_source_key, 24);

struct stile_source {
	/* Attachment slots; the first is 0: exempt. */
	__u16 judges[STILE_JUDGES_MAX] __attribute__((aligned(8)));
};
STILE_SIZE(struct stile_source, 8);

/* stile_control (array of one): what changes without a reload. */
struct stile_control {
	__u32 trusted;	 /* entries in stile_trusted */
	__u32 blocked;	 /* entries in stile_blocked */
	__u64 expires;	 /* when to look for expired ones, ns of CLOCK_MONOTONIC; 0: never */
	__u64 heartbeat; /* when the daemon was heard of, ns of CLOCK_MONOTONIC */
};
STILE_SIZE(struct stile_control, 24);

/* stile_packets (per-CPU array, by interface slot). */
struct stile_packets {
	__u64 count[_STILE_VERDICT_MAX][_STILE_REASON_MAX];
};

/* stile_decisions (per-CPU array, by attachment slot). */
struct stile_decisions {
	__u64 count[_STILE_DECISION_MAX];
};
STILE_SIZE(struct stile_decisions, 40);

/*
 * stile_tables (per-CPU array, by limiter slot): how the bucket table fares; slot 0: the table of
 * sessions.
 */
struct stile_table_stats {
	__u64 evicted; /* live buckets, or sessions, that had to make room */
	__u64 full;    /* new clients, or refused sessions, that found no room */
};
STILE_SIZE(struct stile_table_stats, 16);

/* stile_replies (per-CPU array of one). */
struct stile_replies {
	__u64 count[_STILE_REPLY_MAX];
};

/* The entries of stile_budget and stile_shares. */
enum stile_budget_of { STILE_BUDGET_ANSWERS, STILE_BUDGET_COOKIES, _STILE_BUDGET_MAX };

/* stile_budget (array): what all CPUs draw answers from. stile_shares: what each has. */
struct stile_budget_state {
	__u64 state; /* as of a token bucket, see bpf/bucket.h */
	__u64 reserved[7];
};
STILE_SIZE(struct stile_budget_state, 64);

/* stile_levels (array, by listener slot): what the daemon found last. */
struct stile_level {
	__u64 at;   /* when, ns of CLOCK_MONOTONIC; 0: never */
	__u8 level; /* the service level, see user/level.h */
	__u8 reserved[7];
};
STILE_SIZE(struct stile_level, 16);

STILE_SIZE(struct stile_offer, 8);
STILE_SIZE(struct stile_proof, 64);
STILE_SIZE(struct stile_proven, 40);

/* Both clocks at one moment (clock.bpf.c). */
struct stile_clock_sample {
	__u64 ktime; /* ns of CLOCK_MONOTONIC */
	__u64 jiffies;
};
STILE_SIZE(struct stile_clock_sample, 16);

#include "abi_places.h"
#include "replay.h"

#endif /* STILE_ABI_H */
