/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The accept queue of the very socket that a SYN would reach: of several that share a port, the
 * one which the kernel will choose. A global function: policies without accept_queue_limit do not
 * call it, and others only for what the limiters would let in.
 */
#ifndef STILE_BPF_ACCEPT_H
#define STILE_BPF_ACCEPT_H

#include "classify.h"
#include "connection.h"
#include "maps.h"
#include "queue.h"
#include "socket.h"
#include "watchdog.h"

/* A field of the kernel's socket; where it lies is a constant of this load. */
static __always_inline __u32 accept_field(const struct tcp_sock *socket, __u32 offset)
{
	return *(const volatile __u32 *)((const char *)socket + offset);
}

/* False where no socket listens there. */
static __always_inline bool accept_read(struct xdp_md *ctx, const struct pkt *pkt,
					struct queue_state *ret_queue)
{
	struct bpf_sock *socket = socket_find(ctx, pkt);
	struct tcp_sock *listening = NULL;

	/* The kernel lets a SYN through it to who listens; port 0 is nobody's connection. */
	if (socket && socket->state == BPF_TCP_TIME_WAIT) {
		bpf_sk_release(socket);
		socket = socket_find_from(ctx, pkt, 0);
	}
	if (!socket)
		return false;
	if (socket->state == BPF_TCP_LISTEN)
		listening = bpf_skc_to_tcp_sock(socket);
	if (listening) {
		ret_queue->length = accept_field(listening, policy.queue_length);
		ret_queue->backlog = accept_field(listening, policy.queue_backlog);
		ret_queue->young = accept_field(listening, policy.queue_young);
	}
	bpf_sk_release(socket);
	return listening;
}

/*
 * Counts one more SYN of the client, and returns those before it. Plainly: what racing CPUs lose
 * of it makes a client lighter, which is the safe side.
 */
static __always_inline __u32 accept_ask(const struct pkt *pkt, __u32 listener)
{
	__u64 now = clock_tick();
	__u64 hash = queue_hash((const __u64 *)policy.seed, queue_client(&pkt->source), listener);
	__u64 tag = queue_tag(hash), word, least = ~0ULL;
	__u32 set = queue_set(hash), way, victim = 0;
	struct stile_asking *asking = bpf_map_lookup_elem(&stile_asking, &set);

	if (!asking)
		return 0;
	for (way = 0; way < STILE_ASKING_WAYS; way++) {
		word = load_once(asking->word[way]);
		if (queue_is_of(word, tag)) {
			store_once(asking->word[way], queue_ask(word, tag, now));
			return queue_asked(word, now);
		}
		if (queue_asked(word, now) < least) {
			least = queue_asked(word, now);
			victim = way;
		}
	}
	store_once(asking->word[victim & (STILE_ASKING_WAYS - 1)], queue_ask(0, tag, now));
	return 0;
}

/* Whether the accept queue of @listener has no room for this client: the SYN is shed. */
__attribute__((noinline)) int accept_sheds(struct xdp_md *ctx, const struct pkt *pkt,
					   __u32 listener)
{
	const volatile struct stile_listener *limits =
		&policy.listeners[listener & (STILE_LISTENERS_MAX - 1)];
	struct queue_state queue;
	__u64 weight;

	if (!policy.accept_limits || !pkt || !accept_read(ctx, pkt, &queue))
		return false;
	weight = accept_ask(pkt, listener);
	if (queue_length_to(&queue, weight) <
	    queue_threshold(&queue, limits->accept_limit, limits->accept_percent))
		return false;
	if (policy.connections)
		weight += connection_held(listener, &pkt->source);
	return !queue_has_room(&queue, weight);
}

/* Whether the kernel itself would find no room for one more connection. */
__attribute__((noinline)) int accept_is_full(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct queue_state queue;

	if (!policy.queue_backlog || !pkt || !accept_read(ctx, pkt, &queue))
		return false;
	return queue.length > queue.backlog;
}

/* The ruling on a SYN that is shed; no limiter is charged for it. */
static __always_inline struct ruling accept_refusal(const struct pkt *pkt)
{
	if (watchdog_counts())
		return judge_pass(STILE_REASON_COUNTED);
	return judge_refusal(pkt, STILE_ACTION_REJECT, STILE_REASON_ACCEPT_QUEUE);
}

#endif /* STILE_BPF_ACCEPT_H */
