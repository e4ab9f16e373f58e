/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows and pages as they are; the hosts sorted, so that thousands of sockets are looked up against
 * thousands of addresses.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot_maps.h"
#include "snapshot_places.h"
#include "util.h"

struct place_host {
	uint8_t address[16];
	uint32_t row;
};

struct snapshot_places {
	struct stile_ports *rows;
	struct stile_page *pages;
	uint32_t n_rows, n_pages;
	struct place_host *hosts;
	size_t n_hosts;
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

static int read_hosts(const struct pins *pins, uint64_t generation, struct snapshot_places *places)
{
	const struct snapshot_shape shape = { "hosts", sizeof(struct stile_host), 4 };
	autofd int fd = snapshot_maps_open(pins, generation, &shape);
	struct snapshot_pairs pairs;
	int r;

	r = fd < 0 ? fd : snapshot_maps_pairs(fd, &shape, &pairs);
	if (r < 0)
		return r;
	places->hosts = calloc(pairs.n + 1, sizeof(*places->hosts));
	for (size_t i = 0; places->hosts && i < pairs.n; i++) {
		struct place_host *host = &places->hosts[places->n_hosts++];

		memcpy(host->address, pairs.keys + i * sizeof(host->address),
		       sizeof(host->address));
		memcpy(&host->row, pairs.values + i * sizeof(host->row), sizeof(host->row));
	}
	snapshot_maps_pairs_release(&pairs);
	if (!places->hosts)
		return -ENOMEM;
	qsort(places->hosts, places->n_hosts, sizeof(*places->hosts), compare);
	return 0;
}

int snapshot_places_read(const struct pins *pins, const struct stile_policy *policy,
			 struct snapshot_places **ret_places)
{
	const struct snapshot_shape rows = { "ports", 4, sizeof(struct stile_ports) };
	const struct snapshot_shape pages = { "pages", 4, sizeof(struct stile_page) };
	struct snapshot_places *places = calloc(1, sizeof(*places));
	int r;

	if (!places)
		return -ENOMEM;
	r = snapshot_maps_whole(pins, policy->generation, &rows, (void **)&places->rows,
				&places->n_rows);
	if (r == 0)
		r = snapshot_maps_whole(pins, policy->generation, &pages, (void **)&places->pages,
					&places->n_pages);
	if (r == 0 && policy->has_addresses)
		r = read_hosts(pins, policy->generation, places);
	if (r < 0) {
		snapshot_places_free(places);
		return r;
	}
	*ret_places = places;
	return 0;
}

void snapshot_places_free(struct snapshot_places *places)
{
	if (!places)
		return;
	free(places->rows);
	free(places->pages);
	free(places->hosts);
	free(places);
}

static uint32_t listener_in(const struct snapshot_places *places, uint32_t row, uint16_t port)
{
	uint16_t page, listener;

	if (row >= places->n_rows)
		return 0;
	page = places->rows[row].page[STILE_PROTOCOL_TCP][port / STILE_PORTS_PER_PAGE];
	if (page >= places->n_pages)
		return 0;
	listener = places->pages[page].listener[port % STILE_PORTS_PER_PAGE];
	return listener < STILE_LISTENERS_MAX ? listener : 0;
}

uint32_t snapshot_places_at(const struct snapshot_places *places, const uint8_t address[16],
			    uint16_t port)
{
	const struct place_host *host = NULL;

	if (places->n_hosts)
		host = bsearch(address, places->hosts, places->n_hosts, sizeof(*host), compare);
	return listener_in(places, host ? host->row : 0, port);
}

static bool is_anywhere(const struct sockdiag_socket *socket)
{
	static const uint8_t ipv6[16], ipv4[16] = { [10] = 0xff, [11] = 0xff };

	return memcmp(socket->local, socket->ipv6 ? ipv6 : ipv4, 16) == 0;
}

static bool takes(const struct sockdiag_socket *socket, const uint8_t address[16])
{
	return prefix_is_ipv4(address) ? !socket->v6_only : socket->ipv6;
}

/* Calls, for each listener once. */
struct served {
	bool done[STILE_LISTENERS_MAX];
	void (*each)(uint32_t listener, void *context);
	void *context;
};

static void serve(struct served *served, uint32_t listener)
{
	if (listener == 0 || served->done[listener])
		return;
	served->done[listener] = true;
	served->each(listener, served->context);
}

void snapshot_places_served(const struct snapshot_places *places,
			    const struct sockdiag_socket *socket,
			    void (*each)(uint32_t listener, void *context), void *context)
{
	struct served served = { .each = each, .context = context };

	if (!is_anywhere(socket)) {
		serve(&served, snapshot_places_at(places, socket->local, socket->local_port));
		return;
	}
	serve(&served, listener_in(places, 0, socket->local_port));
	for (size_t i = 0; i < places->n_hosts; i++) {
		if (takes(socket, places->hosts[i].address))
			serve(&served,
			      listener_in(places, places->hosts[i].row, socket->local_port));
	}
}
