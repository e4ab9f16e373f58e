/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A difference is believed when two lists agree on it: where its reader's buffer ends, the kernel
 * goes on by position, and may leave out a socket if others went meanwhile.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "../bpf/holder.h"
#include "apply_previous.h"
#include "apply_recount.h"
#include "apply_recount_places.h"
#include "recount.h"
#include "snapshot_maps.h"
#include "util.h"

#define CHUNK 65536

/* One list of sockets, and what was counted before and after it. */
struct list {
	struct recount_window windows[STILE_LISTENERS_MAX];
	struct stile_socket *notes;
	size_t n_notes;
	struct snapshot_pairs holders; /* as before */
	struct recount_client *clients;
	size_t n_clients;
};

struct recounting {
	const struct pins *pins;
	struct stile_policy policy;
	int seed, correct, connections, recounts, holders;
	struct list lists[2];
	struct recount_doubts doubts; /* of places, by the first list */
};

static const struct snapshot_shape holders_shape = { "holders", sizeof(struct stile_holder_key),
						     sizeof(struct stile_holder) };

static void list_release(struct list *list)
{
	free(list->notes);
	free(list->clients);
	snapshot_maps_pairs_release(&list->holders);
}

static void recounting_release(struct recounting **recounting)
{
	struct recounting *it = *recounting;

	if (!it)
		return;
	fd_release(&it->seed);
	fd_release(&it->correct);
	fd_release(&it->connections);
	fd_release(&it->recounts);
	fd_release(&it->holders);
	list_release(&it->lists[0]);
	list_release(&it->lists[1]);
	free(it);
}

static int open_program(const struct pins *pins, uint64_t generation, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (pins_path(pins, generation, name, path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	return fd < 0 && errno == ENOENT ? -EOPNOTSUPP : fd < 0 ? -errno : fd;
}

static int open_map(const struct recounting *it, const char *name, size_t value_size)
{
	const struct snapshot_shape shape = { name, sizeof(__u32), (uint32_t)value_size };

	return snapshot_maps_open(it->pins, it->policy.generation, &shape);
}

static int open_all(struct recounting *it)
{
	const int *const fds[] = { &it->connections, &it->recounts, &it->holders, &it->correct,
				   &it->seed };

	it->connections = open_map(it, "connections", sizeof(struct stile_connections));
	it->recounts = open_map(it, "recounts", sizeof(struct stile_recount));
	it->holders = snapshot_maps_open(it->pins, it->policy.generation, &holders_shape);
	it->correct = open_program(it->pins, it->policy.generation, "correct");
	it->seed = open_program(it->pins, it->policy.generation, "seed");
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] < 0)
			return *fds[i];
	}
	return 0;
}

static bool is_counted(const struct recounting *it, uint32_t slot)
{
	return it->policy.listeners[slot].serial &&
	       it->policy.listeners[slot].protocol == STILE_PROTOCOL_TCP;
}

static int read_counters(const struct recounting *it, struct list *list, bool after)
{
	struct stile_recount recount = {};
	int error = 0;

	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX && error == 0; slot++) {
		struct recount_window *window = &list->windows[slot];

		if (!is_counted(it, slot))
			continue;
		error = snapshot_maps_sum(it->connections, slot,
					  after ? &window->after : &window->before,
					  sizeof(window->after));
		if (error == 0 && bpf_map_lookup_elem(it->recounts, &slot, &recount) < 0)
			error = -errno;
		window->lost = recount.lost;
	}
	return error;
}

/* All that the program writes; *ret_text is freed by the caller. */
static int read_iterator(int program, char **ret_text, size_t *ret_length)
{
	autofd int link = bpf_link_create(program, 0, BPF_TRACE_ITER, NULL);
	autofd int iterator = link < 0 ? -1 : bpf_iter_create(link);
	autofree char *text = NULL;
	size_t length = 0, room = 0;
	ssize_t n = iterator < 0 ? -1 : 1;

	while (n > 0) {
		if (room - length < CHUNK) {
			char *grown = realloc(text, room += room / 2 + CHUNK);

			if (!grown)
				return -ENOMEM;
			text = grown;
		}
		n = read(iterator, text + length, room - length);
		length += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno == EAGAIN) /* nothing came of many sockets; there are more */
			n = 1;
	}
	if (n < 0)
		return -errno;
	*ret_text = text;
	text = NULL;
	*ret_length = length;
	return 0;
}

static int take_list(const struct recounting *it, struct list *list)
{
	size_t length = 0;
	int error;

	error = read_counters(it, list, false);
	if (error == 0)
		error = snapshot_maps_pairs(it->holders, &holders_shape, &list->holders);
	if (error == 0)
		error = read_iterator(it->seed, (char **)&list->notes, &length);
	if (error == 0)
		error = read_counters(it, list, true);
	if (error)
		return error;
	list->n_notes = length / sizeof(*list->notes);
	return recount_clients(list->notes, list->n_notes, it->policy.holders, &list->clients,
			       &list->n_clients);
}

static uint64_t count_notes(const struct recounting *it, const struct list *list, uint32_t slot)
{
	uint64_t n = 0;

	for (size_t i = 0; i < list->n_notes; i++)
		n += list->notes[i].serial == it->policy.listeners[slot].serial;
	return n;
}

static int64_t excess_of(const struct recounting *it, const struct list *list, uint32_t slot)
{
	return recount_excess(&list->windows[slot], count_notes(it, list, slot));
}

/* The next client in doubt from *@at on: counted otherwise than found, and unchanged meanwhile. */
static bool next_doubt(const struct recounting *it, const struct list *list, size_t *at,
		       struct stile_correction *ret_correction)
{
	for (; *at < list->holders.n; ++*at) {
		const struct stile_holder_key *keys = (const void *)list->holders.keys;
		const struct stile_holder *before = (const void *)list->holders.values;
		struct stile_holder now;
		uint64_t found = recount_found(list->clients, list->n_clients, &keys[*at]);

		if (holder_open(before[*at].state) == found ||
		    bpf_map_lookup_elem(it->holders, &keys[*at], &now) < 0 ||
		    now.state != before[*at].state)
			continue;
		*ret_correction = (struct stile_correction){
			.key = keys[*at],
			.before = now.state,
			.after = holder_with(now.state, found),
		};
		return true;
	}
	return false;
}

static bool is_in_doubt(const struct recounting *it, const struct list *list)
{
	struct stile_correction correction;
	size_t at = 0;

	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (is_counted(it, slot) && excess_of(it, list, slot) != 0)
			return true;
	}
	return next_doubt(it, list, &at, &correction);
}

static int correct_listener(const struct recounting *it, uint32_t slot, int64_t excess)
{
	struct stile_recount recount;

	if (bpf_map_lookup_elem(it->recounts, &slot, &recount) < 0)
		return -errno;
	recount.lost += excess;
	recount.times++;
	return bpf_map_update_elem(it->recounts, &slot, &recount, BPF_ANY) < 0 ? -errno : 0;
}

/* What both lists say is too much, or too little. */
static int64_t agreed(int64_t one, int64_t other)
{
	if (one > 0 && other > 0)
		return one < other ? one : other;
	if (one < 0 && other < 0)
		return one > other ? one : other;
	return 0;
}

static int correct_listeners(const struct recounting *it, struct apply_recount *result)
{
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		int64_t excess;
		int error;

		if (!is_counted(it, slot))
			continue;
		excess = agreed(excess_of(it, &it->lists[0], slot),
				excess_of(it, &it->lists[1], slot));
		if (excess == 0)
			continue;
		error = correct_listener(it, slot, excess);
		if (error)
			return error;
		memcpy(result->listeners[result->n_listeners].name, it->policy.listeners[slot].name,
		       STILE_NAME_SIZE);
		result->listeners[result->n_listeners++].excess = excess;
	}
	return 0;
}

/* 1: it was done; 0: the entry has changed meanwhile. */
static int correct_client(const struct recounting *it, const struct stile_correction *correction)
{
	char frame[sizeof(*correction) + ETH_ZLEN] = {};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame));

	memcpy(frame, correction, sizeof(*correction));
	if (bpf_prog_test_run_opts(it->correct, &options) < 0)
		return -errno;
	return options.retval == XDP_PASS;
}

static int correct_clients(const struct recounting *it, struct apply_recount *result)
{
	const struct list *first = &it->lists[0], *second = &it->lists[1];
	struct stile_correction correction;
	int done;

	for (size_t at = 0; next_doubt(it, second, &at, &correction); at++) {
		if (recount_found(first->clients, first->n_clients, &correction.key) !=
		    holder_open(correction.after))
			continue;
		done = correct_client(it, &correction);
		if (done < 0)
			return done;
		result->n_clients += (size_t)done;
	}
	return 0;
}

static void count_unwatched(const struct list *list, struct apply_recount *result)
{
	for (size_t i = 0; i < list->n_notes; i++)
		result->n_unwatched += list->notes[i].serial && !list->notes[i].watched;
}

/* Whether sockets came to be counted because of the list itself. */
static bool has_seeded(const struct list *list)
{
	for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (list->windows[slot].after.seeded != list->windows[slot].before.seeded)
			return true;
	}
	return false;
}

static int doubt_places(struct recounting *it)
{
	const struct recount_notes notes = { it->lists[0].notes, it->lists[0].n_notes };

	if (!recount_is_quiet(it->lists[0].windows))
		return 0;
	return recount_places_doubt(it->pins, &it->policy, &notes, &it->doubts);
}

static int correct_places(struct recounting *it, struct apply_recount *result)
{
	const struct recount_notes notes = { it->lists[1].notes, it->lists[1].n_notes };
	int n;

	if (it->doubts.n == 0 || !recount_is_quiet(it->lists[1].windows))
		return 0;
	n = recount_places_correct(it->pins, &it->policy, &notes, &it->doubts);
	result->n_places = n > 0 ? (size_t)n : 0;
	return n < 0 ? n : 0;
}

static int recount(struct recounting *it, struct apply_recount *result)
{
	int error;

	error = take_list(it, &it->lists[0]);
	if (error == 0 && has_seeded(&it->lists[0])) {
		list_release(&it->lists[0]);
		it->lists[0] = (struct list){ .n_notes = 0 };
		error = take_list(it, &it->lists[0]);
	}
	if (error)
		return error;
	count_unwatched(&it->lists[0], result);
	error = doubt_places(it);
	if (error || (!is_in_doubt(it, &it->lists[0]) && it->doubts.n == 0))
		return error;
	error = take_list(it, &it->lists[1]);
	if (error == 0)
		error = correct_listeners(it, result);
	if (error == 0)
		error = correct_places(it, result);
	return error ? error : correct_clients(it, result);
}

int apply_seed(const struct pins *pins, uint64_t generation)
{
	autofd int seed = open_program(pins, generation, "seed");
	autofree char *notes = NULL;
	size_t length;

	return seed < 0 ? seed : read_iterator(seed, &notes, &length);
}

int apply_recount(const struct pins *pins, struct apply_recount *ret_recount)
{
	struct recounting *it __attribute__((cleanup(recounting_release))) = calloc(1, sizeof(*it));
	struct apply_recount result = { .n_listeners = 0 };
	uint64_t generation;
	int error;

	if (!it)
		return -ENOMEM;
	it->pins = pins;
	it->seed = it->correct = it->connections = it->recounts = it->holders = -1;
	error = pins_current(pins, &generation);
	if (error == 0)
		error = apply_previous_policy(pins, generation, &it->policy);
	if (error == 0 && it->policy.connections) {
		error = open_all(it);
		if (error == 0)
			error = recount(it, &result);
	}
	if (error == 0)
		*ret_recount = result;
	return error;
}
