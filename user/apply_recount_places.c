/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bucket has no count of changes, as a client's entry has; so nothing is put right but in a
 * moment in which no connection came or went.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "apply_recount_places.h"
#include "sets.h"
#include "snapshot_maps.h"
#include "util.h"

/* The table of one limiter, and whose connections were found to have places of it. */
struct holding {
	const struct stile_limiter *limiter;
	uint32_t slot;
	union sets_set *sets;
	struct key *keys; /* one for each connection, sorted */
	size_t n_keys;
};

static void holding_release(struct holding *holding)
{
	if (holding->sets) /* only a wrong size could fail */
		(void)munmap(holding->sets, holding->limiter->sets * sizeof(*holding->sets));
	free(holding->keys);
}

static int map_sets(const struct pins *pins, uint64_t generation, struct holding *holding)
{
	char name[sizeof("limiter-") + STILE_NAME_SIZE];
	const struct snapshot_shape shape = { name, sizeof(__u32), sizeof(struct stile_set) };
	autofd int fd = -1;
	void *sets;

	snprintf(name, sizeof(name), "limiter-%.*s", STILE_NAME_SIZE, holding->limiter->name);
	fd = snapshot_maps_open(pins, generation, &shape);
	if (fd < 0)
		return fd;
	if (snapshot_maps_room(fd) < holding->limiter->sets)
		return -EPROTO;
	sets = mmap(NULL, holding->limiter->sets * sizeof(*holding->sets), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (sets == MAP_FAILED)
		return -errno;
	holding->sets = sets;
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key));
}

/* As place_is_known() in bpf/place.h. */
static bool has_place(const struct holding *holding, const struct stile_socket *note)
{
	return note->serial && holding->limiter->since <= note->generation &&
	       memchr(note->places, (int)holding->slot, sizeof(note->places));
}

static int find_keys(const struct recount_notes *list, struct holding *holding)
{
	holding->keys = calloc(list->n + 1, sizeof(*holding->keys));
	if (!holding->keys)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		struct address client;

		if (!has_place(holding, &list->notes[i]))
			continue;
		memcpy(&client, list->notes[i].address, sizeof(client));
		holding->keys[holding->n_keys++] = key_of(holding->limiter, &client);
	}
	qsort(holding->keys, holding->n_keys, sizeof(*holding->keys), compare_keys);
	return 0;
}

static uint64_t count_key(const struct holding *holding, const struct key *key)
{
	const struct key *end = holding->keys + holding->n_keys, *first;
	uint64_t n = 0;

	first = holding->n_keys
			? bsearch(key, holding->keys, holding->n_keys, sizeof(*key), compare_keys)
			: NULL;
	while (first && first > holding->keys && compare_keys(first - 1, key) == 0)
		first--;
	for (; first && first < end && compare_keys(first, key) == 0; first++)
		n++;
	return n;
}

static int hold(const struct pins *pins, const struct stile_policy *policy,
		const struct recount_notes *list, struct holding *holding)
{
	int error;

	holding->limiter = &policy->limiters[holding->slot];
	error = map_sets(pins, policy->generation, holding);
	return error ? error : find_keys(list, holding);
}

static bool is_holder(const struct stile_policy *policy, uint32_t slot)
{
	return policy->limiters[slot].sets && bucket_holds(&policy->limiters[slot]);
}

static void doubt_set(const struct holding *holding, uint32_t index, struct recount_doubts *doubts)
{
	const struct table_set set = sets_ways(holding->limiter, &holding->sets[index]);

	for (uint32_t way = 0; way < set.ways && doubts->n < RECOUNT_DOUBTS_MAX; way++) {
		const struct key key = sets_key(&set, way);
		uint64_t state = load_once(set.state[way]);
		uint64_t found = sets_is_empty(&set, way) ? 0 : count_key(holding, &key);

		if (sets_is_empty(&set, way) || (state & PLACES_OPEN_MAX) == found)
			continue;
		doubts->doubts[doubts->n++] = (struct recount_doubt){
			.slot = holding->slot,
			.set = index,
			.way = way,
			.key = { key.hi, key.lo },
			.state = state,
			.found = found,
		};
	}
}

int recount_places_doubt(const struct pins *pins, const struct stile_policy *policy,
			 const struct recount_notes *list, struct recount_doubts *ret_doubts)
{
	int error = 0;

	ret_doubts->n = 0;
	for (uint32_t slot = 1; slot < STILE_LIMITERS_MAX && error == 0; slot++) {
		struct holding holding __attribute__((cleanup(holding_release))) = { .slot = slot };

		if (!is_holder(policy, slot))
			continue;
		error = hold(pins, policy, list, &holding);
		for (uint32_t i = 0; error == 0 && i < holding.limiter->sets; i++)
			doubt_set(&holding, i, ret_doubts);
	}
	return error;
}

/* 1: it is done; 0: the bucket has changed, or the list says otherwise. */
static int correct(const struct holding *holding, const struct recount_doubt *doubt)
{
	const struct table_set set = sets_ways(holding->limiter, &holding->sets[doubt->set]);
	const struct key key = sets_key(&set, doubt->way);
	uint64_t right = (doubt->state & ~(uint64_t)PLACES_OPEN_MAX) | doubt->found;

	if (key.hi != doubt->key[0] || key.lo != doubt->key[1] ||
	    count_key(holding, &key) != doubt->found || doubt->found > PLACES_OPEN_MAX)
		return 0;
	return __sync_bool_compare_and_swap(&set.state[doubt->way], doubt->state, right);
}

int recount_places_correct(const struct pins *pins, const struct stile_policy *policy,
			   const struct recount_notes *list, const struct recount_doubts *doubts)
{
	int error = 0, n = 0;

	for (uint32_t slot = 1; slot < STILE_LIMITERS_MAX && error == 0 && doubts->n; slot++) {
		struct holding holding __attribute__((cleanup(holding_release))) = { .slot = slot };

		if (!is_holder(policy, slot))
			continue;
		error = hold(pins, policy, list, &holding);
		for (size_t i = 0; error == 0 && i < doubts->n; i++)
			n += doubts->doubts[i].slot == slot &&
			     correct(&holding, &doubts->doubts[i]);
	}
	return error ? error : n;
}
