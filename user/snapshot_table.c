/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bucket tables read while the kernel changes them. What a bucket says is asked of the very code
 * that the kernel side is made of, so that no two answers can differ.
 */
#include <string.h>

#include "sets.h"
#include "snapshot_table.h"

uint64_t snapshot_table_clock(const struct stile_policy *policy,
			      const struct stile_limiter *limiter, uint64_t now)
{
	uint64_t since = now - policy->tick_base;

	if (limiter->clock == STILE_CLOCK_PRECISE)
		return now;
	/* As the kernel side multiplies: ticks of no length leave the base. */
	return policy->tick ? now - since % policy->tick : policy->tick_base;
}

uint64_t snapshot_table_live(const struct stile_limiter *limiter, const void *sets, uint64_t clock)
{
	uint64_t live = 0;
	union sets_set copy;

	for (uint32_t i = 0; i < limiter->sets; i++) {
		struct table_set set = sets_ways(limiter, &copy);

		(void)sets_copy(limiter, sets, i, &copy); /* a moment ago will do */
		for (uint32_t way = 0; way < set.ways; way++)
			live += !sets_is_empty(&set, way) &&
				bucket_debt(limiter, set.state[way], clock) != 0;
	}
	return live;
}

/* The way back from key_narrow() and key_wide(). */
static struct prefix key_prefix(const struct stile_limiter *limiter, struct key key)
{
	const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct prefix prefix = { .bits = limiter->ipv6_prefix };

	if (key.hi == KEY_EVERYONE)
		return (struct prefix){ 0 };
	if (key.hi == KEY_SHARED) {
		/* 0000::/8 is reserved, and holds all who share this one. */
		prefix.bits = limiter->ipv6_prefix < 8 ? limiter->ipv6_prefix : 8;
	} else if (limiter->wide) {
		memcpy(prefix.address, &key, sizeof(prefix.address));
		if (prefix_is_ipv4(prefix.address))
			prefix.bits = 96 + limiter->ipv4_prefix;
	} else if (swap64(key.hi) >> 48 == KEY_IPV4_TAG >> 48) {
		memcpy(prefix.address, mapped, sizeof(mapped));
		memcpy(prefix.address + sizeof(mapped), (const uint8_t *)&key.hi + 4, 4);
		prefix.bits = 96 + limiter->ipv4_prefix;
	} else {
		memcpy(prefix.address, &key.hi, sizeof(key.hi));
	}
	return prefix;
}

static uint64_t divide_up(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

static uint64_t used(const struct stile_limiter *limiter, uint64_t state, uint64_t clock)
{
	struct bucket_window window;
	struct places places;

	if (limiter->algorithm == STILE_ALGORITHM_CONCURRENCY) {
		places = places_read(limiter, state, clock);
		return places_held(&places);
	}
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return divide_up(bucket_debt(limiter, state, clock), limiter->token);
	window = bucket_window(limiter, state, clock);
	if (limiter->algorithm == STILE_ALGORITHM_FIXED_WINDOW)
		return window.current;
	return window.current +
	       divide_up(window.previous * (limiter->window - window.elapsed), limiter->window);
}

/*
 * The tick clock shows a moment up to one tick after it has passed, and the kernel may be late with
 * a tick: one more, so that whoever waits that long is let in.
 */
static uint64_t promise(const struct snapshot_table_view *view, uint64_t wait, uint64_t clock)
{
	const struct stile_limiter *limiter = &view->policy->limiters[view->slot];
	uint64_t moment = clock + wait;

	if (wait == 0 || limiter->clock == STILE_CLOCK_PRECISE || view->policy->tick == 0)
		return wait;
	moment += view->policy->tick - 1;
	return snapshot_table_clock(view->policy, limiter, moment) + view->policy->tick - view->now;
}

static void fill_wait(const struct snapshot_table_view *view, uint64_t clock,
		      struct snapshot_client *client)
{
	const struct stile_limiter *limiter = &view->policy->limiters[view->slot];
	uint64_t wait;

	client->never = view->ahead >= bucket_room(limiter);
	if (client->never)
		return;
	wait = bucket_wait_behind(limiter, client->state, clock, view->ahead);
	client->wait = promise(view, wait, clock);
}

static void fill_client(const struct snapshot_table_view *view, struct key key, uint64_t state,
			struct snapshot_client *ret_client)
{
	const struct stile_limiter *limiter = &view->policy->limiters[view->slot];
	uint64_t clock = snapshot_table_clock(view->policy, limiter, view->now);

	*ret_client = (struct snapshot_client){
		.limiter = view->slot,
		.key = key_prefix(limiter, key),
		.state = state,
		.used = used(limiter, state, clock),
		.live = bucket_debt(limiter, state, clock) != 0,
	};
	if (limiter->algorithm == STILE_ALGORITHM_CONCURRENCY) {
		const struct places places = places_read(limiter, state, clock);

		ret_client->in_flight = places.older + places.current;
		ret_client->waiting = places.waiting;
	}
	fill_wait(view, clock, ret_client);
}

static void fill_meta(const struct snapshot_table_view *view, uint32_t meta,
		      struct snapshot_client *client)
{
	const struct stile_limiter *limiter = &view->policy->limiters[view->slot];
	uint64_t clock = snapshot_table_clock(view->policy, limiter, view->now);

	client->admitted = meta_admitted(meta);
	client->refused = meta_refused(meta);
	client->admitted_exact = client->admitted < 1U << (META_ADMITTED_MANTISSA + 1);
	client->refused_exact = client->refused < 1U << (META_REFUSED_MANTISSA + 1);
	client->idle = (uint64_t)meta_age(meta, meta_tick(limiter, clock)) << limiter->seen_shift;
}

size_t snapshot_table_clients(const struct snapshot_table_view *view, uint32_t index,
			      struct snapshot_client clients[STILE_SET_WAYS])
{
	const struct stile_limiter *limiter = &view->policy->limiters[view->slot];
	union sets_set copy;
	struct table_set set = sets_ways(limiter, &copy);
	size_t n = 0;

	(void)sets_copy(limiter, view->sets, index, &copy); /* a moment ago will do */
	for (uint32_t way = 0; way < set.ways; way++) {
		if (sets_is_empty(&set, way))
			continue;
		fill_client(view, sets_key(&set, way), set.state[way], &clients[n]);
		fill_meta(view, set.meta[way], &clients[n++]);
	}
	return n;
}

static bool has_room(const struct table_set *set, const struct stile_limiter *limiter,
		     uint64_t clock)
{
	if (limiter->full == STILE_FULL_EVICT)
		return true;
	for (uint32_t way = 0; way < set->ways; way++) {
		if (table_worth(set, limiter, way, clock) <= 1)
			return true;
	}
	return false;
}

enum snapshot_table_found snapshot_table_find(const struct snapshot_table_view *view,
					      const uint8_t address[16],
					      struct snapshot_client *ret_client)
{
	const struct stile_limiter *limiter = &view->policy->limiters[view->slot];
	uint64_t clock = snapshot_table_clock(view->policy, limiter, view->now);
	union sets_set copy;
	struct table_set set = sets_ways(limiter, &copy);
	struct address words;
	struct key key;
	uint32_t way;

	memcpy(&words, address, sizeof(words));
	key = key_of(limiter, &words);
	(void)sets_copy(limiter, view->sets, key_set(limiter, &key), &copy); /* the same */
	way = table_find(&set, &key);
	fill_client(view, key, way < set.ways ? set.state[way] : 0, ret_client);
	if (way < set.ways) {
		fill_meta(view, set.meta[way], ret_client);
		return SNAPSHOT_TABLE_KNOWN;
	}
	return has_room(&set, limiter, clock) ? SNAPSHOT_TABLE_NEW : SNAPSHOT_TABLE_FULL;
}
