/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Goes through all TCP sockets of the network namespace of whoever reads it: counts those that are
 * open and were not told of, and writes every note. The kernel holds each socket's lock meanwhile,
 * as it does when it tells of one. Sockets that listen come first, so that it is known by then
 * which ports others may have been accepted at: what the host itself has opened is no service's.
 */
#include <linux/in6.h>

#include "classify.h"
#include "connection.h"
#include "maps.h"

#define PORT_WORDS (65536 / 64)
#define CGROUP_DEPTH 32	   /* levels that are looked up */
#define SOCKOPS_FLAGS 1008 /* TCP_BPF_SOCK_OPS_CB_FLAGS, Linux 6.12 */

/* Of the kernel's own structs, what is read; where it lies, the kernel's BTF tells at load. */
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num;
} __attribute__((preserve_access_index));

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct kernfs_node {
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} __attribute__((preserve_access_index));

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));

struct sock_cgroup_data {
	struct cgroup *cgroup;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_cgroup_data sk_cgrp_data;
} __attribute__((preserve_access_index));

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

__u64 seed_ports[PORT_WORDS]; /* a bit for each that something listens at */
__u32 seed_pass;

static __always_inline void begin(void)
{
	int i;

	for (i = 0; i < PORT_WORDS; i++)
		store_once(seed_ports[i], 0); /* clang would call memset() */
	seed_pass++;
}

static __always_inline void note_port(__u16 port)
{
	seed_ports[port / 64] |= 1ULL << port % 64;
}

static __always_inline bool is_served(__u16 port)
{
	return seed_ports[port / 64] >> port % 64 & 1;
}

static __always_inline bool is_open(__u8 state)
{
	return state == BPF_TCP_ESTABLISHED || state == BPF_TCP_FIN_WAIT1 ||
	       state == BPF_TCP_FIN_WAIT2 || state == BPF_TCP_CLOSE_WAIT ||
	       state == BPF_TCP_LAST_ACK || state == BPF_TCP_CLOSING;
}

static __always_inline void read_ipv4(__be32 ipv4, struct address *ret_address)
{
	ret_address->word[1] = swap64(KEY_MAPPED << 32 | swap32(ipv4));
}

/* verifier: words of the kernel's own size */
static __always_inline void read_ipv6(const struct in6_addr *ipv6, struct address *ret_address)
{
	__u32 *words = (__u32 *)ret_address;

	words[0] = ipv6->in6_u.u6_addr32[0];
	words[1] = ipv6->in6_u.u6_addr32[1];
	words[2] = ipv6->in6_u.u6_addr32[2];
	words[3] = ipv6->in6_u.u6_addr32[3];
}

/* The socket's ends, as a packet of its client has them. */
static __always_inline void read_ends(struct sock_common *socket, struct pkt *pkt)
{
	pkt->protocol = STILE_PROTOCOL_TCP;
	pkt->dport = socket->skc_num;
	pkt->sport = swap16(socket->skc_dport);
	if (socket->skc_family == CONNECTION_IPV4) {
		pkt->ipv4 = 1;
		read_ipv4(socket->skc_daddr, &pkt->source);
		read_ipv4(socket->skc_rcv_saddr, &pkt->destination);
		return;
	}
	read_ipv6(&socket->skc_v6_daddr, &pkt->source);
	read_ipv6(&socket->skc_v6_rcv_saddr, &pkt->destination);
}

/*
 * Asks for the socket's end to be told. Other programs may have asked for more, and may have taken
 * back what was asked for. A kernel that has no such option is not asked for the others' either.
 */
static __always_inline void watch(void *socket, struct stile_socket *note)
{
	int flags = 0;

	if (bpf_getsockopt(socket, CONNECTION_SOL_TCP, SOCKOPS_FLAGS, &flags, sizeof(flags)) < 0)
		return;
	note->watched = 1;
	if (flags & BPF_SOCK_OPS_STATE_CB_FLAG)
		return;
	flags |= BPF_SOCK_OPS_STATE_CB_FLAG;
	if (bpf_setsockopt(socket, CONNECTION_SOL_TCP, SOCKOPS_FLAGS, &flags, sizeof(flags)) < 0)
		note->watched = 0;
}

/* Whether its end would be told: the kernel tells the socket's cgroup, and those above that. */
static __always_inline bool is_told(const struct sock *socket)
{
	struct cgroup_subsys_state *above;
	struct cgroup *cgroup = socket->sk_cgrp_data.cgroup;
	int i;

	if (!policy.cgroup)
		return true;
	for (i = 0; i < CGROUP_DEPTH && cgroup; i++) {
		if (cgroup->kn->id == policy.cgroup)
			return true;
		above = cgroup->self.parent;
		if (!above)
			return false;
		cgroup = above->cgroup;
	}
	return false;
}

/* The listener's slot; 0: none of ours. */
static __always_inline __u32 find_listener(const struct pkt *pkt, const struct sock *socket,
					   const struct stile_socket *note)
{
	if ((!note && !is_served(pkt->dport)) || !is_told(socket))
		return 0;
	return classify_listener(pkt);
}

static __always_inline void visit(struct bpf_iter_meta *meta, struct sock_common *common)
{
	void *socket = bpf_skc_to_tcp_sock(common);
	struct stile_socket *note;
	struct pkt pkt = {};
	__u32 listener;

	if (!socket)
		return;
	read_ends(common, &pkt);
	note = bpf_sk_storage_get(&stile_sockets, socket, NULL, 0);
	listener = find_listener(&pkt, socket, note);
	if (listener && !note)
		note = bpf_sk_storage_get(&stile_sockets, socket, NULL,
					  BPF_SK_STORAGE_GET_F_CREATE);
	if (!note)
		return;
	connection_settle(&pkt, listener, note);
	watch(socket, note);
	/* Where the reader's buffer is full, the same socket comes again. */
	if (note->pass != seed_pass && bpf_seq_write(meta->seq, note, sizeof(*note)) == 0)
		note->pass = seed_pass;
}

SEC("iter/tcp")
int stile_seed(struct bpf_iter__tcp *ctx)
{
	struct sock_common *socket = ctx->sk_common;
	__u8 state;

	if (ctx->meta->seq_num == 0)
		begin();
	if (!socket)
		return 0;
	state = socket->skc_state;
	if (state == BPF_TCP_LISTEN)
		note_port(socket->skc_num);
	else if (is_open(state))
		visit(ctx->meta, socket);
	return 0;
}

/* One entry of stile_holders put right, unless it has changed meanwhile: run by the daemon. */
SEC("xdp")
int stile_correct(struct xdp_md *ctx)
{
	struct stile_correction *correction = (void *)(long)ctx->data;
	struct stile_holder_key key;
	struct stile_holder *holder;

	if ((void *)(correction + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	key = correction->key;
	holder = bpf_map_lookup_elem(&stile_holders, &key);
	if (!holder || __sync_val_compare_and_swap(&holder->state, correction->before,
						   correction->after) != correction->before)
		return XDP_DROP;
	if (holder_open(correction->after) == 0)
		bpf_map_delete_elem(&stile_holders, &key);
	return XDP_PASS;
}
