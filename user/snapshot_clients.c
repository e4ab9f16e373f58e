/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clients in the limiters' tables, through a mapping of them: a million in milliseconds. */
#include <errno.h>
#include <stdlib.h>

#include "snapshot.h"
#include "snapshot_maps.h"
#include "snapshot_table.h"

struct list {
	struct snapshot_client *clients;
	size_t n, n_allocated;
};

/* Makes room for one more set's clients. */
static int reserve(struct list *list)
{
	size_t n = list->n_allocated ? list->n_allocated * 2 : 1024;
	struct snapshot_client *clients;

	if (list->n + STILE_SET_WAYS <= list->n_allocated)
		return 0;
	clients = reallocarray(list->clients, n, sizeof(*clients));
	if (!clients)
		return -ENOMEM;
	list->clients = clients;
	list->n_allocated = n;
	return 0;
}

static int read_table(const struct snapshot_table_view *view, struct list *list)
{
	uint32_t sets = view->policy->limiters[view->slot].sets;

	for (uint32_t i = 0; i < sets; i++) {
		int r = reserve(list);

		if (r < 0)
			return r;
		list->n += snapshot_table_clients(view, i, list->clients + list->n);
	}
	return 0;
}

static int read_limiter(const struct pins *pins, const struct snapshot *snapshot, uint32_t slot,
			struct list *list)
{
	const struct stile_policy *policy = &snapshot->policy;
	struct snapshot_table table;
	int r;

	if (!policy->limiters[slot].sets)
		return 0;
	r = snapshot_maps_table(pins, policy->generation, &policy->limiters[slot], &table);
	if (r < 0)
		return r;
	r = read_table(&(struct snapshot_table_view){ policy, slot, table.sets, snapshot->now, 0 },
		       list);
	snapshot_maps_table_release(&table);
	return r;
}

int snapshot_clients(const struct pins *pins, const struct snapshot *snapshot, uint32_t limiter,
		     struct snapshot_client **ret_clients, size_t *ret_n_clients)
{
	struct list list = { 0 };
	int r = 0;

	for (uint32_t slot = 1; r == 0 && slot < STILE_LIMITERS_MAX; slot++) {
		if (limiter == 0 || limiter == slot)
			r = read_limiter(pins, snapshot, slot, &list);
	}
	if (r < 0) {
		free(list.clients);
		return r;
	}
	*ret_clients = list.clients;
	*ret_n_clients = list.n;
	return 0;
}

static uint64_t count_refused(const struct snapshot_table_view *view, uint64_t within)
{
	struct snapshot_client clients[STILE_SET_WAYS];
	uint64_t refused = 0;

	for (uint32_t i = 0; i < view->policy->limiters[view->slot].sets; i++) {
		size_t n = snapshot_table_clients(view, i, clients);

		for (size_t client = 0; client < n; client++)
			refused += clients[client].refused && clients[client].idle <= within;
	}
	return refused;
}

int snapshot_count_refused(const struct pins *pins, const struct snapshot *snapshot,
			   uint32_t limiter, uint64_t within, uint64_t *ret_n_clients)
{
	const struct stile_policy *policy = &snapshot->policy;
	struct snapshot_table table;
	int r = snapshot_maps_table(pins, policy->generation, &policy->limiters[limiter], &table);

	if (r < 0)
		return r;
	*ret_n_clients = count_refused(
		&(struct snapshot_table_view){ policy, limiter, table.sets, snapshot->now, 0 },
		within);
	snapshot_maps_table_release(&table);
	return 0;
}
