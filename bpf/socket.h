/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The socket of this host that a packet of TCP is for. */
#ifndef STILE_BPF_SOCKET_H
#define STILE_BPF_SOCKET_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "key.h"
#include "parse.h"

/* In the namespace of @ctx (XDP's or tc's), as if from port @sport; to be released. NULL: none. */
static __always_inline struct bpf_sock *socket_find_from(void *ctx, const struct pkt *pkt,
							 __u16 sport)
{
	struct bpf_sock_tuple tuple = {};
	__u32 size;

	if (pkt->ipv4) {
		tuple.ipv4.saddr = address_ipv4(&pkt->source);
		tuple.ipv4.daddr = address_ipv4(&pkt->destination);
		tuple.ipv4.sport = swap16(sport);
		tuple.ipv4.dport = swap16(pkt->dport);
		size = sizeof(tuple.ipv4);
	} else {
		__builtin_memcpy(tuple.ipv6.saddr, &pkt->source, sizeof(tuple.ipv6.saddr));
		__builtin_memcpy(tuple.ipv6.daddr, &pkt->destination, sizeof(tuple.ipv6.daddr));
		tuple.ipv6.sport = swap16(sport);
		tuple.ipv6.dport = swap16(pkt->dport);
		size = sizeof(tuple.ipv6);
	}
	return bpf_skc_lookup_tcp(ctx, &tuple, size, BPF_F_CURRENT_NETNS, 0);
}

/* The same, as if from its own port. */
static __always_inline struct bpf_sock *socket_find(void *ctx, const struct pkt *pkt)
{
	return socket_find_from(ctx, pkt, pkt->sport);
}

#endif /* STILE_BPF_SOCKET_H */
