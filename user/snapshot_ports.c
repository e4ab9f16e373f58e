/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where listeners stand, read back from the ports' tables: what is shown is what the kernel side
 * does, whatever the configuration file says by now.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot_maps.h"
#include "snapshot_ports.h"
#include "util.h"

#define PORTS 65536

static uint16_t listener_at(const struct snapshot_ports_tables *tables, uint32_t row,
			    unsigned int protocol, uint32_t port)
{
	uint16_t page = tables->rows[row].page[protocol][port / STILE_PORTS_PER_PAGE];

	return tables->pages && page < tables->n_pages
		       ? tables->pages[page].listener[port % STILE_PORTS_PER_PAGE]
		       : 0;
}

static uint16_t own_listener_at(const struct snapshot_ports_tables *tables, uint32_t row,
				unsigned int protocol, uint32_t port)
{
	uint16_t listener = listener_at(tables, row, protocol, port);

	if (row != 0 && listener == listener_at(tables, 0, protocol, port))
		return 0;
	return listener;
}

static int append(struct snapshot_ports_list *list, const struct snapshot_ports *ports)
{
	size_t n = list->n_allocated ? list->n_allocated * 2 : 16;
	struct snapshot_ports *grown;

	if (list->n == list->n_allocated) {
		grown = reallocarray(list->ports, n, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->ports = grown;
		list->n_allocated = n;
	}
	list->ports[list->n++] = *ports;
	return 0;
}

static int add_protocol(const struct snapshot_ports_tables *tables, uint32_t row,
			unsigned int protocol, struct snapshot_ports run,
			struct snapshot_ports_list *list)
{
	uint16_t here, before = 0;

	for (uint32_t port = 0; port <= PORTS; port++) {
		here = port < PORTS ? own_listener_at(tables, row, protocol, port) : 0;
		if (here == before)
			continue;
		run.listener = before;
		run.last = (uint16_t)(port - 1);
		if (before && append(list, &run) < 0)
			return -ENOMEM;
		run.first = (uint16_t)port;
		before = here;
	}
	return 0;
}

int snapshot_ports_add(const struct snapshot_ports_tables *tables, uint32_t row,
		       const struct stile_host *host, struct snapshot_ports_list *list)
{
	struct snapshot_ports run = { .everywhere = row == 0 };
	int r = 0;

	if (row >= tables->n_rows)
		return -EPROTO;
	if (row != 0)
		memcpy(run.address, host->address, sizeof(run.address));
	for (unsigned int i = 0; r == 0 && i < _STILE_PROTOCOL_MAX; i++)
		r = add_protocol(tables, row, i, run, list);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct snapshot_ports *left = a, *right = b;
	int order;

	if (left->listener != right->listener)
		return left->listener < right->listener ? -1 : 1;
	if (left->everywhere != right->everywhere)
		return left->everywhere ? -1 : 1;
	order = memcmp(left->address, right->address, sizeof(left->address));
	return order ? order : (int)left->first - (int)right->first;
}

static int add_hosts(const struct pins *pins, uint64_t generation,
		     const struct snapshot_ports_tables *tables, struct snapshot_ports_list *list)
{
	const struct snapshot_shape shape = { "hosts", sizeof(struct stile_host), 4 };
	autofd int fd = snapshot_maps_open(pins, generation, &shape);
	struct snapshot_pairs pairs;
	int r;

	r = fd < 0 ? fd : snapshot_maps_pairs(fd, &shape, &pairs);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < pairs.n; i++) {
		uint32_t row;

		memcpy(&row, pairs.values + i * sizeof(row), sizeof(row));
		r = snapshot_ports_add(
			tables, row,
			(const struct stile_host *)(pairs.keys + i * sizeof(struct stile_host)),
			list);
	}
	snapshot_maps_pairs_release(&pairs);
	return r;
}

int snapshot_read_ports(const struct pins *pins, const struct snapshot *snapshot,
			struct snapshot_ports **ret_ports, size_t *ret_n_ports)
{
	const struct snapshot_shape rows_shape = { "ports", 4, sizeof(struct stile_ports) };
	const struct snapshot_shape pages_shape = { "pages", 4, sizeof(struct stile_page) };
	uint64_t generation = snapshot->policy.generation;
	struct snapshot_ports_tables tables = { 0 };
	struct snapshot_ports_list list = { 0 };
	autofree void *rows = NULL, *pages = NULL;
	int r;

	r = snapshot_maps_whole(pins, generation, &rows_shape, &rows, &tables.n_rows);
	if (r == 0)
		r = snapshot_maps_whole(pins, generation, &pages_shape, &pages, &tables.n_pages);
	if (r < 0)
		return r;
	tables.rows = rows;
	tables.pages = pages;
	r = snapshot_ports_add(&tables, 0, NULL, &list);
	if (r == 0 && snapshot->policy.has_addresses)
		r = add_hosts(pins, generation, &tables, &list);
	if (r < 0) {
		free(list.ports);
		return r;
	}
	if (list.n)
		qsort(list.ports, list.n, sizeof(*list.ports), compare);
	*ret_ports = list.ports;
	*ret_n_ports = list.n;
	return 0;
}
