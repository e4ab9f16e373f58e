/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open connections, per listener and per client. A socket's note says what it is counted in, so
 * that it leaves just that, whatever the policy has become since. All of it happens under the
 * socket's lock, so that a note needs no care; counters do.
 */
#ifndef STILE_BPF_CONNECTION_H
#define STILE_BPF_CONNECTION_H

#include "classify.h"
#include "holder.h"
#include "maps.h"
#include "place_socket.h"

#define CONNECTION_TRIES 8 /* at an entry that others change at the same time */
#define CONNECTION_IPV4 2  /* AF_INET, which <sys/socket.h> has */
#define CONNECTION_SOL_TCP 6

/* How many connections @client holds at the listener. For the policy in force. */
static __always_inline __u64 connection_held(__u32 listener, const struct address *client)
{
	struct stile_holder_key key;
	struct stile_holder *holder;

	holder_key(client, policy.listeners[listener & (STILE_LISTENERS_MAX - 1)].serial, &key);
	holder = bpf_map_lookup_elem(&stile_holders, &key);
	return holder ? holder_open(load_once(holder->state)) : 0;
}

/* One more for @key; false: there is no room, or the entry is being deleted. */
static __always_inline bool connection_hold_once(const struct stile_holder_key *key)
{
	struct stile_holder first = { .state = holder_first(key) }, *holder;
	__u64 state;

	holder = bpf_map_lookup_elem(&stile_holders, key);
	if (!holder)
		return bpf_map_update_elem(&stile_holders, key, &first, BPF_NOEXIST) == 0;
	state = load_once(holder->state);
	return holder_lives(state, key) &&
	       __sync_val_compare_and_swap(&holder->state, state,
					   holder_with(state, holder_open(state) + 1)) == state;
}

/* 1: the client's entry counts it. */
shared_function int connection_hold(const struct stile_holder_key *key)
{
	struct stile_holder_key own; /* verifier: kernel 6.1 looks up by what is on the stack */
	int i;

	if (!key)
		return 0;
	own = *key;
	for (i = 0; i < CONNECTION_TRIES; i++) {
		if (connection_hold_once(&own))
			return 1;
	}
	return 0;
}

/* True: done, or there is nothing to be done. */
static __always_inline bool connection_release_once(const struct stile_holder_key *key)
{
	struct stile_holder *holder = bpf_map_lookup_elem(&stile_holders, key);
	__u64 state, next;

	if (!holder)
		return true;
	state = load_once(holder->state);
	if (!holder_lives(state, key))
		return true;
	next = holder_with(state, holder_open(state) - 1);
	if (__sync_val_compare_and_swap(&holder->state, state, next) != state)
		return false;
	if (holder_open(next) == 0)
		bpf_map_delete_elem(&stile_holders, key);
	return true;
}

/* One that is lost to a crowd of others is found by the recount. */
shared_function int connection_release(const struct stile_holder_key *key)
{
	struct stile_holder_key own; /* verifier: kernel 6.1 looks up by what is on the stack */
	int i;

	if (!key)
		return 0;
	own = *key;
	for (i = 0; i < CONNECTION_TRIES; i++) {
		if (connection_release_once(&own))
			return 1;
	}
	return 0;
}

/* Sockets are closed in process context, too, which interrupts may interrupt. */
static __always_inline void count_one(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/* The counters of the listener that is @serial, wherever it is counted; NULL: it is no more. */
static __always_inline struct stile_connections *connection_counters(__u32 listener, __u32 serial)
{
	if (listener >= STILE_LISTENERS_MAX || policy.listeners[listener].serial != serial)
		return NULL;
	return bpf_map_lookup_elem(&stile_connections, &listener);
}

/* Counts the client of @note, where it is not yet; false: there is no room. */
static __always_inline bool connection_count_client(struct stile_socket *note)
{
	struct stile_holder_key key;
	struct address client;

	if (note->holders == policy.holders)
		return true;
	__builtin_memcpy(&client, note->address, sizeof(client));
	holder_key(&client, note->serial, &key);
	note->holders = connection_hold(&key) ? policy.holders : 0;
	return note->holders;
}

static __always_inline void connection_uncount_client(struct stile_socket *note)
{
	struct stile_holder_key key;
	struct address client;

	if (note->holders && note->holders == policy.holders) {
		__builtin_memcpy(&client, note->address, sizeof(client));
		holder_key(&client, note->serial, &key);
		connection_release(&key);
	}
	note->holders = 0;
}

/* Takes @note out of everything that it is counted in. */
static __always_inline void connection_leave(struct stile_socket *note)
{
	struct stile_connections *counters;

	if (note->serial == 0)
		return;
	counters = connection_counters(note->listener, note->serial);
	if (counters)
		count_one(&counters->closed);
	connection_uncount_client(note);
	note->serial = 0;
	if (note->generation)
		place_leave(note, false);
	note->generation = 0;
}

/* Counts the socket of @note at @listener; @pkt is as a packet of its client. */
static __always_inline void connection_enter(const struct pkt *pkt, __u32 listener,
					     struct stile_socket *note)
{
	struct stile_connections *counters;

	listener &= STILE_LISTENERS_MAX - 1;
	__builtin_memcpy(note->address, &pkt->source, sizeof(note->address));
	note->listener = listener;
	note->serial = policy.listeners[listener].serial;
	if (BUCKET_MAY_HOLD)
		place_enter(pkt, listener, note, !note->seeded);
	counters = connection_counters(listener, note->serial);
	if (!counters)
		return;
	if (note->seeded)
		count_one(&counters->seeded);
	else
		count_one(&counters->opened);
	if (!connection_count_client(note))
		count_one(&counters->overflow);
}

/*
 * A socket that was found open: it is counted at @listener (0: at none) from now on, and nowhere
 * else, as it would be had it been established under the policy in force.
 */
static __always_inline void connection_settle(const struct pkt *pkt, __u32 listener,
					      struct stile_socket *note)
{
	listener &= STILE_LISTENERS_MAX - 1;
	if (listener && note->listener == listener &&
	    note->serial == policy.listeners[listener].serial) {
		connection_count_client(note);
		if (BUCKET_MAY_HOLD && note->generation != (__u32)policy.generation)
			place_enter(pkt, listener, note, false);
		return;
	}
	connection_leave(note);
	if (listener == 0)
		return;
	if (note->opened == 0)
		note->opened = bpf_ktime_get_ns();
	note->seeded = 1;
	connection_enter(pkt, listener, note);
}

#endif /* STILE_BPF_CONNECTION_H */
