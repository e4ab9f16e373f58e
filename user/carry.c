/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both ways work on differences: what a bucket owes now and did not when it was seen last is added
 * to what its client owes in the next table, whoever charged that. So nothing is counted twice,
 * however often a table is gone through.
 */
#include <string.h>

#include "carry.h"
#include "sets.h"
#include "util.h"

#define LACK_MAX (1ULL << 61) /* 1/64 ns: far below what bucket_lack() takes for long ago */

/* One bucket of the table before. */
struct debtor {
	struct key key;
	uint64_t state;
	uint64_t seen; /* its state when it was carried last; 0: it was not */
	uint32_t meta;
};

/* As many tokens as @lack is of @before, rounded up, in the time of @now. */
static uint64_t convert_lack(const struct carry *carry, uint64_t lack)
{
	uint64_t token = carry->before->token;
	unsigned __int128 converted;

	converted = ((unsigned __int128)lack * carry->now->token + token - 1) / token;
	return converted < LACK_MAX ? (uint64_t)converted : LACK_MAX;
}

/* @sum and what @more has grown from @seen, between 0 and @max. */
static uint64_t add_growth(uint64_t sum, uint64_t more, uint64_t seen, uint64_t max)
{
	uint64_t shrunk = seen > more ? seen - more : 0;

	if (shrunk)
		return sum > shrunk ? sum - shrunk : 0;
	return sum < max - (more - seen) ? sum + (more - seen) : max;
}

static uint64_t add_tokens(const struct carry *carry, uint64_t state, const struct debtor *debtor,
			   uint64_t clock)
{
	uint64_t moment = clock << STILE_TOKEN_SHIFT;
	uint64_t owed = convert_lack(carry, bucket_lack(debtor->state, moment));
	uint64_t seen = convert_lack(carry, bucket_lack(debtor->seen, moment));
	uint64_t sum = moment + add_growth(bucket_lack(state, moment), owed, seen, LACK_MAX);

	return sum ? sum : 1; /* 0 is a new bucket */
}

/* Windows of different numbers cannot be compared: the latest that a CPU has begun is for all. */
static uint64_t latest(const struct carry *carry, const uint64_t *states, size_t n, uint64_t clock)
{
	uint64_t early = 0;

	for (size_t i = 0; i < n; i++) {
		struct bucket_window window = bucket_window(carry->now, states[i], clock);

		if (window.early > early)
			early = window.early;
	}
	return clock + early;
}

static uint64_t add_events(const struct carry *carry, uint64_t state, const struct debtor *debtor,
			   uint64_t clock)
{
	const uint64_t states[] = { state, debtor->state, debtor->seen };
	const uint64_t moment = latest(carry, states, ARRAY_SIZE(states), clock);
	const struct bucket_window owed = bucket_window(carry->now, debtor->state, moment);
	const struct bucket_window seen = bucket_window(carry->now, debtor->seen, moment);
	struct bucket_window sum = bucket_window(carry->now, state, moment);

	sum.previous = add_growth(sum.previous, owed.previous, seen.previous, BUCKET_COUNT_MAX);
	sum.current = add_growth(sum.current, owed.current, seen.current, BUCKET_COUNT_MAX);
	return bucket_pack(&sum);
}

/* Whoever turned a slice first has turned it for all. */
static uint64_t latest_slice(const struct stile_limiter *limiter, const uint64_t *states, size_t n,
			     uint64_t clock)
{
	uint32_t slice = places_slice(limiter, clock);

	for (size_t i = 0; i < n; i++)
		if (places_read(limiter, states[i], clock).slice != slice)
			return clock + limiter->window;
	return clock;
}

static uint64_t add_places(const struct carry *carry, uint64_t state, const struct debtor *debtor,
			   uint64_t clock)
{
	const uint64_t states[] = { state, debtor->state, debtor->seen };
	const uint64_t moment = latest_slice(carry->now, states, ARRAY_SIZE(states), clock);
	const struct places owed = places_read(carry->now, debtor->state, moment);
	const struct places seen = places_read(carry->now, debtor->seen, moment);
	struct places sum = places_read(carry->now, state, moment);

	sum.open = (uint32_t)add_growth(sum.open, owed.open, seen.open, PLACES_OPEN_MAX);
	sum.older = (uint32_t)add_growth(sum.older, owed.older, seen.older, PLACES_FLIGHT_MAX);
	sum.current =
		(uint32_t)add_growth(sum.current, owed.current, seen.current, PLACES_FLIGHT_MAX);
	sum.waiting =
		(uint32_t)add_growth(sum.waiting, owed.waiting, seen.waiting, PLACES_WAITING_MAX);
	return places_pack(&sum);
}

/* A client's @state in the next table, with what @debtor owes since it was seen. */
static uint64_t add(const struct carry *carry, uint64_t state, const struct debtor *debtor,
		    uint64_t clock)
{
	if (carry->now->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return add_tokens(carry, state, debtor, clock);
	if (carry->now->algorithm == STILE_ALGORITHM_CONCURRENCY)
		return add_places(carry, state, debtor, clock);
	return add_events(carry, state, debtor, clock);
}

/* The time it was last seen, in the ticks of the next table. */
static uint32_t convert_meta(const struct carry *carry, uint32_t meta, uint64_t clock)
{
	uint64_t age = meta_age(meta, meta_tick(carry->before, clock));
	uint64_t seen = clock - (age << carry->before->seen_shift);

	return (meta & ~(META_SEEN_MASK << META_SEEN_OFFSET)) | meta_tick(carry->now, seen)
									<< META_SEEN_OFFSET;
}

static void write_way(const struct table_set *set, uint32_t way, const struct table_set *from)
{
	const struct key key = sets_key(from, 0);

	set->state[way] = from->state[0];
	set->meta[way] = from->meta[0];
	set->key[set->wide ? 2 * way : way] = key.hi;
	if (set->wide)
		set->key[2 * way + 1] = key.lo;
}

/* @debtor as a set whose first way is its own in the next table. */
static struct table_set make_entry(const struct carry *carry, const struct debtor *debtor,
				   uint64_t clock, union sets_set *set)
{
	struct debtor whole = *debtor;
	struct table_set entry;

	memset(set, 0, sizeof(*set));
	entry = sets_ways(carry->now, set);
	whole.seen = 0;
	entry.state[0] = add(carry, 0, &whole, clock);
	entry.meta[0] = convert_meta(carry, debtor->meta, clock);
	entry.key[0] = debtor->key.hi;
	if (entry.wide)
		entry.key[1] = debtor->key.lo;
	return entry;
}

static struct table_set next_set(const struct carry *carry, const struct key *key)
{
	return sets_ways(carry->now, (union sets_set *)carry->to + key_set(carry->now, key));
}

/* A way for a client that has none. 1: a live bucket, this or another, found no room. */
static size_t place(const struct carry *carry, const struct debtor *debtor, uint64_t clock)
{
	uint32_t victim = key_place(carry->now, &debtor->key).home;
	const struct table_set set = next_set(carry, &debtor->key);
	struct table_set entry;
	union sets_set memory;
	__u64 worth, least;

	entry = make_entry(carry, debtor, clock, &memory);
	worth = table_worth(&entry, carry->now, 0, clock);
	least = table_worth(&set, carry->now, victim, clock);
	if (least > 1)
		victim = table_victim(&set, carry->now, clock, &least);
	if (least >= worth)
		return worth > 1;
	write_way(&set, victim, &entry);
	return least > 1;
}

static size_t fill_way(const struct carry *carry, const struct debtor *debtor, uint64_t clock)
{
	const struct table_set set = next_set(carry, &debtor->key);
	uint32_t way = table_find(&set, &debtor->key);

	if (way >= set.ways)
		return place(carry, debtor, clock);
	set.state[way] = add(carry, set.state[way], debtor, clock);
	set.meta[way] = convert_meta(carry, debtor->meta, clock);
	return 0;
}

/* As table_refund() does it, the other way round. */
static size_t charge_way(const struct carry *carry, const struct debtor *debtor, uint64_t clock)
{
	const struct table_set set = next_set(carry, &debtor->key);
	uint32_t way = table_find(&set, &debtor->key);
	uint64_t state, charged;

	if (debtor->state == debtor->seen)
		return 0;
	if (way >= set.ways)
		return 1;
	do {
		state = load_once(set.state[way]);
		if (table_differs(&set, way, &debtor->key))
			return 1;
		charged = add(carry, state, debtor, clock);
	} while (__sync_val_compare_and_swap(&set.state[way], state, charged) != state);
	return 0;
}

typedef size_t carry_way(const struct carry *carry, const struct debtor *debtor, uint64_t clock);

/* The ways of one set that are not as they were when they were seen last. */
static size_t carry_set(const struct carry *carry, uint32_t index, uint64_t clock, carry_way *each)
{
	union sets_set *seen = (union sets_set *)carry->seen + index, copy;
	const struct table_set before = sets_ways(carry->before, seen);
	const struct table_set ways = sets_ways(carry->before, &copy);
	size_t n = 0;

	if (!sets_copy(carry->before, carry->from, index, &copy))
		return 0; /* it is seen by the next pass; after the last swap, nothing moves */
	if (memcmp(&copy, seen, sizeof(copy)) == 0)
		return 0;
	for (uint32_t way = 0; way < ways.ways; way++) {
		struct debtor debtor = {
			.key = sets_key(&ways, way),
			.state = ways.state[way],
			.meta = ways.meta[way],
		};

		if (sets_is_empty(&ways, way))
			continue;
		if (table_differs(&before, way, &debtor.key) == 0)
			debtor.seen = before.state[way];
		n += each(carry, &debtor, clock);
	}
	*seen = copy;
	return n;
}

static size_t carry_all(const struct carry *carry, uint64_t clock, carry_way *each)
{
	size_t n = 0;

	for (uint32_t i = 0; i < carry->before->sets; i++)
		n += carry_set(carry, i, clock, each);
	return n;
}

size_t carry_fill(const struct carry *carry, uint64_t clock)
{
	return carry_all(carry, clock, fill_way);
}

size_t carry_catch_up(const struct carry *carry, uint64_t clock)
{
	return carry_all(carry, clock, charge_way);
}
