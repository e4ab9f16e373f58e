/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and the policy, as every program sees them; maps.bpf.c defines them. */
#ifndef STILE_BPF_MAPS_H
#define STILE_BPF_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <stile/abi.h>

#define MAP_ARRAY(map_type, value_type, entries)                                                   \
	struct {                                                                                   \
		__uint(type, map_type);                                                            \
		__uint(max_entries, entries);                                                      \
		__type(key, __u32);                                                                \
		__type(value, value_type);                                                         \
	}

#define MAP_TRIE(key_type, value_type)                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_LPM_TRIE);                                               \
		__uint(max_entries, 65536);                                                        \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	}

/*
 * What every bucket table is like; the loader makes one for each limiter, and gives it its size
 * and the type of its values (clang leaves that out of a map inside a map that is extern).
 */
struct table_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stile_set));
};

struct limiters_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, STILE_LIMITERS_MAX);
	__type(key, __u32);
	__array(values, struct table_map);
};

/* The daemon writes its heartbeat by memory, past the lock of whoever changes the rest. */
struct control_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct stile_control);
};

/* The daemon counts sessions by memory. */
struct flows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct stile_flow_set);
};

struct handshakes_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct stile_handshake_set);
};

/* The daemon writes by memory whose sources have to be proven. */
struct proofs_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STILE_LISTENERS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct stile_proof);
};

/* What XDP asks of the daemon: struct stile_eviction. */
struct evictions_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

struct hosts_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct stile_host);
	__type(value, __u32);
};

/* An entry takes memory while it is there, and goes with the client's last connection. */
struct holders_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct stile_holder_key);
	__type(value, struct stile_holder);
};

struct sockets_map {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stile_socket);
};

typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_connections,
		  STILE_LISTENERS_MAX) connections_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_recount, STILE_LISTENERS_MAX) recounts_map;
/* What is said, to what request, and in what segment. */
struct say {
	__u32 answer;		       /* slot in stile_answers */
	__u32 wait;		       /* ms until the client is admitted */
	__u32 first;		       /* of the answer's bytes */
	__u32 length;		       /* bytes */
	__u32 request, request_length; /* the request's data: where in the frame, and bytes */
};

struct segment {
	__u32 sequence, acknowledgment;
	__u32 length;		  /* bytes of the scratch that it carries, if there is room */
	__u32 headers;		  /* bytes of the frame before those */
	__u32 end_acknowledgment; /* see ends */
	__u8 flags;
	__u8 end_flags;
	__u8 ends;    /* 1: with all of those it has the end's flags besides, and acknowledgment */
	__u8 has_mss; /* 1: the option */
	__u8 side;    /* enum talk_side; see talk_cut(), of which these are the arguments */
	__u16 from, never;
};

/* Where an answer is composed; of the CPU's own, for want of stack. */
#define SCRATCH_BYTES 1224
struct scratch {
	struct say say;
	struct segment segment;
	__u64 judges; /* of the client, see struct pkt_class */
	__u32 edge, listener, choice;
	__u32 has;    /* bytes that the client has of our stream */
	__u32 window; /* bytes that it has room for */
	/* Read and written by chunks. */
	__u8 bytes[SCRATCH_BYTES + STILE_ANSWER_CHUNK] __attribute__((aligned(8)));
};

typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_ports, 1) ports_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_page, 1) pages_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_attempts, 1) attempts_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_asking, 1) asking_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_packets,
		  STILE_INTERFACES_MAX) packets_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_decisions,
		  STILE_ATTACHMENTS_MAX) decisions_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_table_stats,
		  STILE_LIMITERS_MAX) tables_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_replies, 1) replies_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_budget_state, _STILE_BUDGET_MAX) budget_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, __u32, _STILE_BUDGET_MAX) shares_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_level, STILE_LISTENERS_MAX) levels_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_datagram, 1) datagrams_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_datagram_work, 1) work_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, struct stile_answer, 1) answers_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_ARRAY, __u64, STILE_LISTENERS_MAX) refusals_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct scratch, 1) scratch_map;
typedef MAP_ARRAY(BPF_MAP_TYPE_PERCPU_ARRAY, struct stile_proven, STILE_LISTENERS_MAX) proven_map;
typedef MAP_TRIE(struct stile_source_key, struct stile_source) sources_map;
typedef MAP_TRIE(struct stile_prefix, struct stile_listed) list_map;

extern const volatile struct stile_policy policy;

/* The verifier drops what has to do with places where no limiter counts them; see bucket.h. */
#define BUCKET_MAY_HOLD (policy.handshake_sets != 0)

/* Of a program that replays; in all others it is never looked at. */
extern volatile struct stile_replay stile_replay;

static __always_inline __u64 clock_tick(void)
{
	return policy.replays ? stile_replay.now : bpf_jiffies64() * policy.tick + policy.tick_base;
}

static __always_inline __u64 clock_precise(void)
{
	return policy.replays ? stile_replay.now : bpf_ktime_get_ns();
}

extern struct control_map stile_control SEC(".maps");
extern struct hosts_map stile_hosts SEC(".maps");
extern ports_map stile_ports SEC(".maps");
extern pages_map stile_pages SEC(".maps");
extern sources_map stile_sources SEC(".maps");
extern list_map stile_trusted SEC(".maps");
extern list_map stile_blocked SEC(".maps");
extern packets_map stile_packets SEC(".maps");
extern decisions_map stile_decisions SEC(".maps");
extern tables_map stile_tables SEC(".maps");
extern replies_map stile_replies SEC(".maps");
extern budget_map stile_budget SEC(".maps");
extern shares_map stile_shares SEC(".maps");
extern attempts_map stile_attempts SEC(".maps");
extern asking_map stile_asking SEC(".maps");
extern datagrams_map stile_datagrams SEC(".maps");
extern work_map stile_work SEC(".maps");
extern answers_map stile_answers SEC(".maps");
extern refusals_map stile_refusals SEC(".maps");
extern struct proofs_map stile_proofs SEC(".maps");
extern proven_map stile_proven SEC(".maps");
extern scratch_map stile_scratch SEC(".maps");
extern struct flows_map stile_flows SEC(".maps");
extern levels_map stile_levels SEC(".maps");
extern connections_map stile_connections SEC(".maps");
extern recounts_map stile_recounts SEC(".maps");
extern struct holders_map stile_holders SEC(".maps");
extern struct sockets_map stile_sockets SEC(".maps");
extern struct handshakes_map stile_handshakes SEC(".maps");
extern struct evictions_map stile_evictions SEC(".maps");
extern struct limiters_map stile_limiters SEC(".maps");

#endif /* STILE_BPF_MAPS_H */
