/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose business a packet is: the lists, the listener, and the limiters that judge it. Looks up,
 * and decides only what needs no limiter. Lookups are made in the order of the numbered list, and
 * none that the policy in force has no use for.
 */
#ifndef STILE_BPF_CLASSIFY_H
#define STILE_BPF_CLASSIFY_H

#include "judge.h"
#include "maps.h"

#define CLASSIFY_NESTED 8 /* expired entries of a list that may lie inside one another */

struct pkt_class {
	struct ruling ruling; /* where settled */
	bool settled;	      /* no limiter has to be asked */
	bool exempt;	      /* settled, and the listener's limiters note it */
	bool unproven;	      /* nothing is charged: the source has to prove itself first */
	__u16 edge;	      /* attachment slot of the interface's limiter, or 0 */
	__u16 listener;	      /* slot, where not settled before it was known */
	__u64 judges;	      /* attachment slots as one word; see classify_judge() */
};

/* The @i-th of up to STILE_JUDGES_MAX attachment slots, which lie in memory one after another. */
static __always_inline __u32 classify_judge(__u64 judges, __u32 i)
{
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	return judges >> 16 * (little ? i : STILE_JUDGES_MAX - 1 - i) & 0xffff;
}

/* @judges with one more before the others, of which the last is lost. */
static __always_inline __u64 classify_put_before(__u64 judges, __u64 attachment)
{
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	return little ? judges << 16 | attachment : judges >> 16 | attachment << 48;
}

/* A global function: the verifier need not follow the rest of the program for each slot. */
shared_function int classify_other_interface(__u32 ifindex)
{
	__u32 slot;

	for (slot = 1; slot < STILE_INTERFACES_MAX; slot++) {
		if (policy.interfaces[slot].ifindex == ifindex)
			return slot;
	}
	return 0;
}

/* The interface's slot; the policy knows every interface that it is attached to. */
static __always_inline __u32 classify_interface(__u32 ifindex)
{
	if (likely(policy.interfaces[0].ifindex == ifindex))
		return 0;
	return classify_other_interface(ifindex) & (STILE_INTERFACES_MAX - 1);
}

/* Whether @address is on @list now. What expired may still cover a wider entry that did not. */
static __always_inline bool classify_listed(void *list, const struct address *address)
{
	struct stile_prefix key = { .bits = 128 };
	struct stile_listed *entry;
	int i;

	__builtin_memcpy(key.address, address, sizeof(key.address));
	for (i = 0; i < CLASSIFY_NESTED; i++) {
		entry = bpf_map_lookup_elem(list, &key);
		if (!entry)
			return false;
		if (entry->expires == 0 || entry->expires > clock_precise())
			return true;
		if (entry->bits == 0)
			return false;
		key.bits = entry->bits - 1;
	}
	return false;
}

/* Global functions: few have lists, and the verifier looks at each of these once, by itself. */
shared_function int classify_blocked(const struct address *address)
{
	return address && classify_listed(&stile_blocked, address);
}

shared_function int classify_trusted(const struct address *address)
{
	return address && classify_listed(&stile_trusted, address);
}

/* The slot of the listener for the packet's destination, or 0. */
static __always_inline __u32 classify_listener(const struct pkt *pkt)
{
	__u32 row = 0, page, *found;
	struct stile_ports *ports;
	struct stile_page *listeners;

	if (policy.has_addresses) {
		found = bpf_map_lookup_elem(&stile_hosts, &pkt->destination);
		if (found)
			row = *found;
	}
	ports = bpf_map_lookup_elem(&stile_ports, &row);
	if (!ports)
		return 0;
	page = ports->page[pkt->protocol & 1][pkt->dport >> 8];
	if (page == 0)
		return 0;
	listeners = bpf_map_lookup_elem(&stile_pages, &page);
	return listeners ? listeners->listener[pkt->dport & 0xff] : 0;
}

/* The listener's own policy for this source, or NULL. */
static __always_inline struct stile_source *classify_source(const struct pkt *pkt, __u32 listener)
{
	struct stile_source_key key = { .bits = 32 + 128, .listener = listener };

	__builtin_memcpy(key.address, &pkt->source, sizeof(key.address));
	return bpf_map_lookup_elem(&stile_sources, &key);
}

/* Whether @listener has an accept_queue_limit; without any, nothing of it is in the program. */
static __always_inline bool classify_has_queue(__u32 listener)
{
	return policy.accept_limits &&
	       policy.listeners[listener & (STILE_LISTENERS_MAX - 1)].accept_limit;
}

/* What @listener has to do with places: the bits @places of enum stile_places; the same. */
static __always_inline bool classify_has(__u32 listener, __u32 places)
{
	return BUCKET_MAY_HOLD &&
	       policy.listeners[listener & (STILE_LISTENERS_MAX - 1)].places & places;
}

static __always_inline bool classify_has_places(__u32 listener)
{
	return classify_has(listener, STILE_PLACES_HELD);
}

static __always_inline void classify_settle(struct pkt_class *class, struct ruling ruling)
{
	class->settled = true;
	class->ruling = ruling;
}

/* Who judges an event at @listener; false: the source's own policy exempts it. */
static __always_inline bool classify_judges(const struct pkt *pkt, __u32 slot,
					    struct pkt_class *class)
{
	const volatile struct stile_listener *listener;
	struct stile_source *source;

	opaque(slot); /* verifier: the register that is bounded is the one that indexes */
	listener = &policy.listeners[slot & (STILE_LISTENERS_MAX - 1)];
	class->edge = listener->edges[pkt->interface & (STILE_INTERFACES_MAX - 1)];
	class->judges = *(const volatile __u64 *)listener->judges;
	if (!listener->has_sources)
		return true;
	source = classify_source(pkt, slot);
	if (!source)
		return true;
	if (source->judges[0] == 0)
		return false;
	class->judges = *(const __u64 *)source->judges;
	return true;
}

/*
 * First match wins (1 is parse):
 *   2. the source is blocked                      drop, blocked
 *   3. no listener                                pass, unprotected
 *   4. TCP flags of no connection                 drop, bad_flags
 *      TCP, but no SYN that opens a connection    pass, established, if it proves no source
 *   5. the source is trusted, or its policy none  pass, exempt
 *   6. no limiter, and no accept_queue_limit      pass, unlimited
 *      otherwise the limiters judge               see charge.h
 */
static __always_inline void classify(const struct pkt *pkt, const struct stile_control *control,
				     struct pkt_class *class)
{
	__u32 slot;

	if (control->blocked && classify_blocked(&pkt->source))
		return classify_settle(class, judge_drop(STILE_REASON_BLOCKED)); /* 2 */
	slot = classify_listener(pkt);
	if (slot == 0 || slot >= STILE_LISTENERS_MAX)
		return classify_settle(class, judge_pass(STILE_REASON_UNPROTECTED)); /* 3 */
	class->listener = slot;
	if (pkt->protocol == STILE_PROTOCOL_TCP) {
		if (judge_flags_are_bad(pkt->flags))
			return classify_settle(class, judge_drop(STILE_REASON_BAD_FLAGS)); /* 4 */
		if (!judge_opens_connection(pkt->flags))
			return classify_settle(class, judge_pass(STILE_REASON_ESTABLISHED));
	}
}

/* Steps 5 and 6, at the listener that @class says. */
static __always_inline void
classify_client(const struct pkt *pkt, const struct stile_control *control, struct pkt_class *class)
{
	__u32 slot = class->listener;

	class->settled = false;
	class->exempt = control->trusted && classify_trusted(&pkt->source);
	if (!classify_judges(pkt, slot, class))
		class->exempt = true;
	if (class->exempt)
		return classify_settle(class, judge_pass(STILE_REASON_EXEMPT)); /* 5 */
	if (class->edge == 0 && class->judges == 0 && !classify_has_queue(slot))
		classify_settle(class, judge_pass(STILE_REASON_UNLIMITED)); /* 6 */
}

#endif /* STILE_BPF_CLASSIFY_H */
