/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handshakes that came to nothing: the kernel has no socket for them any more, a moment after their
 * last SYN. Nothing else is trusted to say so: a RST whose checksum is wrong, which cannot be told
 * where the checksum is left to the hardware, would free the place of a handshake that goes on.
 */
#ifndef STILE_BPF_PLACE_SWEEP_H
#define STILE_BPF_PLACE_SWEEP_H

#include "place.h"
#include "socket.h"

/* Whether the kernel is still at the handshake of @way. Before it is over, it has a socket. */
static __always_inline bool place_is_alive(struct xdp_md *ctx, const struct stile_handshake *way)
{
	struct pkt pkt = { .sport = way->sport, .dport = way->dport };
	struct bpf_sock *socket;
	__u32 state;

	__builtin_memcpy(&pkt.source, way->source, sizeof(pkt.source));
	__builtin_memcpy(&pkt.destination, way->destination, sizeof(pkt.destination));
	pkt.ipv4 = address_is_ipv4(&pkt.source);
	socket = socket_find(ctx, &pkt);
	if (!socket)
		return false;
	state = socket->state;
	bpf_sk_release(socket);
	return state == BPF_TCP_NEW_SYN_RECV || state == BPF_TCP_SYN_RECV;
}

/*
 * Ends what is over in set @index: the number of places' holders. A handshake since whose SYN a
 * cookie was sent may go on without a socket: @cookies is the last such time.
 */
shared_function int place_sweep(struct xdp_md *ctx, __u32 index, __u64 cookies)
{
	struct stile_handshake_set *set = bpf_map_lookup_elem(&stile_handshakes, &index);
	__u64 since, now = clock_tick();
	struct stile_handshake *way;
	int i, n = 0;

	if (!set)
		return 0;
	for (i = 0; i < STILE_HANDSHAKE_WAYS; i++) {
		way = &set->way[i];
		since = load_once(way->since);
		if (since <= HANDSHAKE_BUSY || (__s64)(now - since) < (__s64)HANDSHAKE_GRACE)
			continue;
		if (way->kind == STILE_HANDSHAKE_WAITING
			    ? !handshake_gave_up(way, since, now)
			    : since <= cookies || place_is_alive(ctx, way))
			continue;
		if (!handshake_take(way, since))
			continue;
		place_end(way,
			  way->kind == STILE_HANDSHAKE_WAITING ? PLACES_LEAVE : PLACES_END_FREE);
		handshake_put(way, 0);
		n++;
	}
	return n;
}

#endif /* STILE_BPF_PLACE_SWEEP_H */
