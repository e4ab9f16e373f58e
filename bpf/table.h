/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set of buckets that many CPUs use at once. Pure: memory and values in, a decision out.
 *
 * A state changes by compare-and-swap, so that CPUs on one key admit together what one would. A
 * way changes hands under the set's lock: its key becomes nobody's, then its state changes from the
 * old client's to the new one's, who is charged at once, then comes the new key. A CPU that charges
 * a way reads the state, then looks at the key once more; so the state it swaps is its client's, or
 * another by now, and the swap fails. Where the state is that of a bucket as good as new, this is
 * exact. Where a live bucket makes room for one with the very same state, its client's last event
 * may be charged to the new one; but none is ever admitted without its charge, and no two ways
 * ever hold one key.
 *
 * The victim, where every way is live, is one seen in a single tick before one that came back,
 * then the longest unseen, then the least indebted (after 2Q: Johnson and Shasha, VLDB 1994).
 */
#ifndef STILE_BPF_TABLE_H
#define STILE_BPF_TABLE_H

#include <stile/abi.h>

#include "bucket.h"
#include "compiler.h"
#include "key.h"
#include "meta.h"

#define TABLE_TRIES 32	    /* races that an event may lose before it is refused */
#define TABLE_NONE (~0U)    /* no way */
#define TABLE_LOCK_TRIES 64 /* looks at a lock that another CPU holds for some 50 ns */

/* The two kinds of set under one roof: pointers to the arrays of a set in memory. */
struct table_set {
	__u64 *key; /* one word a way, or two where wide */
	__u64 *state;
	__u32 *meta;
	__u32 *lock;
	__u32 *zero; /* reserved: always 0 */
	__u32 ways;
	bool wide;
};

static __always_inline struct table_set table_set(struct stile_set *set)
{
	return (struct table_set){
		.key = (__u64 *)set->key,
		.state = set->state,
		.meta = set->meta,
		.lock = &set->lock,
		.zero = &set->reserved,
		.ways = STILE_SET_WAYS,
	};
}

static __always_inline struct table_set table_set_wide(struct stile_set_wide *set)
{
	return (struct table_set){
		.key = (__u64 *)set->key,
		.state = set->state,
		.meta = set->meta,
		.lock = &set->lock,
		.zero = &set->reserved_too,
		.ways = STILE_SET_WAYS_WIDE,
		.wide = true,
	};
}

_Static_assert(offsetof(struct stile_set, lock) == offsetof(struct stile_set_wide, lock),
	       "one lock for both kinds");

/* One event of one client, as a table is asked about it. */
struct table_event {
	struct key key;
	__u64 now;    /* ns of CLOCK_MONOTONIC, by the limiter's clock */
	__u32 random; /* see tally_next() */
	__u16 home;   /* the client's, see key_place() */
	__u16 waited; /* 1: it has waited for this place, see places.h */
};

/* As bucket_charge(). */
static __always_inline bool table_charge(const struct stile_limiter *limiter, __u64 state,
					 const struct table_event *event, __u64 *ret_charged)
{
	if (bucket_holds(limiter))
		return places_take(limiter, state, event->now, event->waited, ret_charged);
	return bucket_charge(limiter, state, event->now, ret_charged);
}

/* What a table answers. */
enum table_answer {
	TABLE_ALLOWED = STILE_DECISION_ALLOWED,
	TABLE_LIMITED = STILE_DECISION_LIMITED,
	TABLE_COUNTED = STILE_DECISION_COUNTED,
	TABLE_FULL = STILE_DECISION_FULL,
	TABLE_MISSING, /* the client has no way: see table_claim() */
	TABLE_RACED,   /* another CPU was faster: ask again */
};

/* 0 where way @way holds @key. */
static __always_inline __u64 table_differs(const struct table_set *set, __u32 way,
					   const struct key *key)
{
	if (set->wide)
		return (load_once(set->key[2 * way]) ^ key->hi) |
		       (load_once(set->key[2 * way + 1]) ^ key->lo);
	return load_once(set->key[way]) ^ key->hi;
}

/*
 * The way that holds @key, or TABLE_NONE. All ways are compared without a branch: which way a
 * client is in cannot be predicted, and the verifier need not follow each of them by itself.
 */
static __always_inline __u32 table_find(const struct table_set *set, const struct key *key)
{
	__u64 found = 0;
	__u32 way;

	for (way = 0; way < set->ways; way++)
		found += ~mask_of(table_differs(set, way, key)) & (way + 1);
	return found - 1;
}

/* The event's home as a way. verifier: the register that is checked is the one that indexes. */
static __always_inline __u32 table_home(const struct table_set *set,
					const struct table_event *event)
{
	__u32 home = event->home;

	opaque(home);
	return home < set->ways ? home : 0;
}

/* A bucket that open connections are counted in: it goes to nobody else before they close. */
#define TABLE_WORTH_OPEN (1ULL << 46)

static __always_inline __u64 table_worth_open(const struct stile_limiter *limiter, __u64 state)
{
	if (!bucket_holds(limiter))
		return 0;
	return mask_of(state & PLACES_OPEN_MAX) & TABLE_WORTH_OPEN;
}

/*
 * How much a way is worth keeping: 0 empty, 1 as good as new, more where it is live: whether it
 * came back, then how lately it was seen, then its debt. Without branches, for the verifier's sake.
 */
static __always_inline __u64 table_worth(const struct table_set *set,
					 const struct stile_limiter *limiter, __u32 way, __u64 now)
{
	const struct key none = { 0, 0 };
	__u32 meta = load_once(set->meta[way]);
	__u64 state = load_once(set->state[way]), debt = bucket_debt(limiter, state, now);
	__u64 used = mask_of(table_differs(set, way, &none)), live = mask_of(debt);
	/* One tick on: a CPU whose clock is ahead of ours may have seen it just now. */
	__u64 recency = META_SEEN_MASK - meta_age(meta, meta_tick(limiter, now) + 1);

	/* Token times in units of the last-seen tick: a debt of any burst then fits 32 bits. */
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		debt >>= limiter->seen_shift;
	debt = (__u32)debt | recency << 32 | (__u64)(meta >> 31) << 44;
	debt |= table_worth_open(limiter, state);
	return used & (1 + (live & (1 + debt)));
}

static __always_inline bool table_lock(const struct table_set *set)
{
	__u32 i;

	for (i = 0; i < TABLE_LOCK_TRIES; i++) {
		if (__sync_val_compare_and_swap(set->lock, 0, 1) == 0)
			return true;
	}
	return false;
}

static __always_inline void table_unlock(const struct table_set *set)
{
	__sync_lock_test_and_set(set->lock, 0);
}

/*
 * Under the lock: gives @way to @event's client, whose event is charged to a new bucket. False: it
 * was charged or given back meanwhile, and is left as it is.
 */
static __always_inline bool table_hand_over(const struct table_set *set,
					    const struct stile_limiter *limiter, __u32 way,
					    const struct table_event *event, bool free)
{
	__u32 word = set->wide ? 2 * way : way;
	__u64 key = load_once(set->key[word]);
	__u64 state = load_once(set->state[way]);
	__u32 meta = meta_new(limiter, event->now);
	__u64 charged;

	if (free && bucket_debt(limiter, state, event->now))
		return false;
	table_charge(limiter, 0, event, &charged);
	store_once(set->key[word], KEY_NOBODY);
	if (__sync_val_compare_and_swap(&set->state[way], state, charged) != state) {
		store_once(set->key[word], key);
		return false;
	}
	store_once(set->meta[way],
		   meta_next(meta, meta_tick(limiter, event->now), true, event->random));
	if (set->wide)
		store_once(set->key[word + 1], event->key.lo);
	store_once(set->key[word], event->key.hi);
	return true;
}

/*
 * The way that is worth least, and what it is worth. The way rides in the worth's low bits, so
 * that the smaller of two is all there is to choose.
 */
static __always_inline __u32 table_victim(const struct table_set *set,
					  const struct stile_limiter *limiter, __u64 now,
					  __u64 *ret_worth)
{
	/* verifier: zero, which it cannot know; so it forgets what is known of each way's worth */
	__u64 zero = load_once(*set->zero) * 0x100000001ULL;
	__u64 least = ~0ULL, candidate;
	__u32 way;

	unrolled
	for (way = 0; way < set->ways; way++) {
		candidate = (table_worth(set, limiter, way, now) << 3 | way) ^ zero;
		if (candidate < least)
			least = candidate;
	}
	*ret_worth = least >> 3;
	return least & 7;
}

/* What became of a client that had no way. */
enum table_room {
	TABLE_ROOM_FREE,    /* it has one now, and its event is charged */
	TABLE_ROOM_EVICTED, /* the same, and a live bucket made room */
	TABLE_ROOM_NONE,    /* every way is live, and the limiter evicts none */
	TABLE_ROOM_BUSY,    /* another CPU held the lock for too long */
	TABLE_ROOM_RACED,   /* another CPU was faster: judge again */
};

/* Under the lock. */
static __always_inline enum table_room table_make_room(const struct table_set *set,
						       const struct stile_limiter *limiter,
						       const struct table_event *event)
{
	__u32 victim;
	__u64 worth;

	if (table_find(set, &event->key) != TABLE_NONE)
		return TABLE_ROOM_RACED;
	victim = table_home(set, event);
	worth = table_worth(set, limiter, victim, event->now);
	if (worth > 1)
		victim = table_victim(set, limiter, event->now, &worth);
	if (worth > 1 && (limiter->full != STILE_FULL_EVICT || worth >= TABLE_WORTH_OPEN))
		return TABLE_ROOM_NONE;
	if (victim >= set->ways || !table_hand_over(set, limiter, victim, event, worth <= 1))
		return TABLE_ROOM_RACED;
	return worth > 1 ? TABLE_ROOM_EVICTED : TABLE_ROOM_FREE;
}

/*
 * Finds a way for a client that has none, as far as the caller saw, and charges it: any limit has
 * room for one event.
 */
static __always_inline enum table_room table_claim(const struct table_set *set,
						   const struct stile_limiter *limiter,
						   const struct table_event *event)
{
	enum table_room room;

	if (!table_lock(set))
		return TABLE_ROOM_BUSY;
	room = table_make_room(set, limiter, event);
	table_unlock(set);
	return room;
}

/* Notes a decision in the way's meta word; a refusal writes only where the word changes. */
static __always_inline void table_note(const struct table_set *set,
				       const struct stile_limiter *limiter, __u32 way,
				       const struct table_event *event, bool admitted)
{
	__u32 meta = load_once(set->meta[way]);
	__u32 next = meta_next(meta, meta_tick(limiter, event->now), admitted, event->random);

	if (next != meta)
		store_once(set->meta[way], next);
}

/*
 * Whether the bucket would admit the event; charges nothing. A client without one is MISSING, and
 * would be admitted, or FULL where there is no room for it. A refusal is noted, because it ends the
 * event.
 */
static __always_inline enum table_answer table_peek(const struct table_set *set,
						    const struct stile_limiter *limiter,
						    const struct table_event *event)
{
	__u32 way = table_find(set, &event->key);
	__u64 state, worth;

	if (way >= set->ways) {
		if (limiter->full == STILE_FULL_EVICT)
			return TABLE_MISSING;
		table_victim(set, limiter, event->now, &worth);
		return worth > 1 ? TABLE_FULL : TABLE_MISSING;
	}
	state = load_once(set->state[way]);
	if (table_differs(set, way, &event->key)) /* it has just changed hands */
		return TABLE_MISSING;
	if (table_charge(limiter, state, event, &state))
		return TABLE_ALLOWED;
	if (limiter->action == STILE_ACTION_COUNT)
		return TABLE_COUNTED;
	table_note(set, limiter, way, event, false);
	return TABLE_LIMITED;
}

/*
 * Judges the event, and charges it where it is let through: one try. The state is read before the
 * key. At home both are asked for at once, for a set is two cache lines.
 */
static __always_inline enum table_answer table_try(const struct table_set *set,
						   const struct stile_limiter *limiter,
						   const struct table_event *event)
{
	const bool counts = limiter->action == STILE_ACTION_COUNT;
	__u32 way = table_home(set, event);
	__u64 state = load_once(set->state[way]), charged;
	bool admits;

	if (unlikely(table_differs(set, way, &event->key))) {
		way = table_find(set, &event->key);
		if (way >= set->ways)
			return TABLE_MISSING;
		state = load_once(set->state[way]);
		if (table_differs(set, way, &event->key))
			return TABLE_RACED;
	}
	opaque(way); /* verifier: the register that is checked is the one that indexes */
	if (way >= set->ways)
		return TABLE_MISSING;
	admits = table_charge(limiter, state, event, &charged);
	if (unlikely(!admits) && !counts) {
		table_note(set, limiter, way, event, false);
		return TABLE_LIMITED;
	}
	if (__sync_val_compare_and_swap(&set->state[way], state, charged) != state)
		return TABLE_RACED;
	table_note(set, limiter, way, event, admits);
	return admits ? TABLE_ALLOWED : TABLE_COUNTED;
}

/*
 * Takes back a charge of a moment ago, where the client still has its bucket. Under the lock: what
 * was charged may be given back to nobody else, not even one whose state is the same.
 */
static __always_inline void table_refund(const struct table_set *set,
					 const struct stile_limiter *limiter,
					 const struct table_event *event)
{
	__u64 state;
	__u32 way, try;

	if (!table_lock(set))
		return;
	way = table_find(set, &event->key);
	for (try = 0; try < TABLE_TRIES; try++) {
		opaque(way); /* verifier: the register that is checked is the one that indexes */
		if (way >= set->ways)
			break;
		state = load_once(set->state[way]);
		if (__sync_val_compare_and_swap(&set->state[way], state,
						bucket_refund(limiter, state)) != state)
			continue;
		if (limiter->action != STILE_ACTION_COUNT) /* which tally it was in is not known */
			store_once(set->meta[way], meta_refund(load_once(set->meta[way])));
		break;
	}
	table_unlock(set);
}

#endif /* STILE_BPF_TABLE_H */
