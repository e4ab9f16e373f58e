/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the sockets of a cgroup tell: a connection was established by one that listens, and it was
 * closed, in whatever way. The answers that sockets ask for are left to others.
 */
#include "classify.h"
#include "connection.h"
#include "maps.h"

/* The socket's ends, as a packet of its client has them. */
static __always_inline void read_ends(const struct bpf_sock_ops *ctx, struct pkt *pkt)
{
	pkt->protocol = STILE_PROTOCOL_TCP;
	pkt->dport = ctx->local_port;
	pkt->sport = swap32(ctx->remote_port);
	if (ctx->family == CONNECTION_IPV4) {
		pkt->ipv4 = 1;
		pkt->source.word[1] = swap64(KEY_MAPPED << 32 | swap32(ctx->remote_ip4));
		pkt->destination.word[1] = swap64(KEY_MAPPED << 32 | swap32(ctx->local_ip4));
		return;
	}
	((__u32 *)&pkt->source)[0] = ctx->remote_ip6[0];
	((__u32 *)&pkt->source)[1] = ctx->remote_ip6[1];
	((__u32 *)&pkt->source)[2] = ctx->remote_ip6[2];
	((__u32 *)&pkt->source)[3] = ctx->remote_ip6[3];
	((__u32 *)&pkt->destination)[0] = ctx->local_ip6[0];
	((__u32 *)&pkt->destination)[1] = ctx->local_ip6[1];
	((__u32 *)&pkt->destination)[2] = ctx->local_ip6[2];
	((__u32 *)&pkt->destination)[3] = ctx->local_ip6[3];
}

static __always_inline void on_established(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *socket = ctx->sk;
	struct stile_socket *note;
	struct pkt pkt = {};
	__u32 listener, flags;

	if (!socket || (policy.netns && bpf_get_netns_cookie(ctx) != policy.netns))
		return;
	read_ends(ctx, &pkt);
	listener = classify_listener(&pkt);
	if (listener == 0 || listener >= STILE_LISTENERS_MAX)
		return;
	note = bpf_sk_storage_get(&stile_sockets, socket, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!note || note->serial)
		return;
	note->opened = bpf_ktime_get_ns();
	connection_enter(&pkt, listener, note);
	flags = BPF_SOCK_OPS_STATE_CB_FLAG;
	if (BUCKET_MAY_HOLD && note->awaits)
		flags |= BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | flags);
	note->watched = 1;
}

/* A segment is about to be sent; the service's first byte may be in it. */
static __always_inline void on_send(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *socket = ctx->sk;
	struct stile_socket *note;

	if (!socket || ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS || ctx->skb_len == 0)
		return;
	note = bpf_sk_storage_get(&stile_sockets, socket, NULL, 0);
	if (note && note->awaits)
		place_leave(note, true);
	bpf_sock_ops_cb_flags_set(ctx,
				  ctx->bpf_sock_ops_cb_flags & ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

static __always_inline void on_close(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *socket = ctx->sk;
	struct stile_socket *note;

	if (!socket)
		return;
	note = bpf_sk_storage_get(&stile_sockets, socket, NULL, 0);
	if (note)
		connection_leave(note);
}

SEC("sockops")
int stile_sockops(struct bpf_sock_ops *ctx)
{
	if (ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		on_established(ctx);
	else if (ctx->op == BPF_SOCK_OPS_STATE_CB && ctx->args[1] == BPF_TCP_CLOSE)
		on_close(ctx);
	else if (BUCKET_MAY_HOLD && ctx->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		on_send(ctx);
	return 1;
}
