/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses and ports, flattened: a packet finds its listener by two lookups in arrays, because
 * every row is painted here, from the least specific claim to the most:
 *
 *   1. every port at every address   2. a port at every address
 *   3. every port of an address      4. a port of an address
 *
 * Two listeners that claim the same in one of these are a mistake.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy_build.h"
#include "util.h"

#define PORTS 65536

/* A run of ports that a listener wants at one address, or at every one. */
struct claim {
	size_t listener;	/* in the configuration */
	const uint8_t *address; /* NULL: every one */
	bool all;		/* the listener names no ports */
	uint16_t first, last;
	struct place place;
};

/* What one coat of paint is for. */
struct coat {
	enum stile_protocol protocol;
	const uint8_t *address;
	bool all;
};

struct canvas {
	struct policy_build *build;
	struct claim *claims;
	size_t n_claims;
	struct policy_pages *pages;
	uint16_t everywhere[_STILE_PROTOCOL_MAX][PORTS]; /* listener slots; row 0 */
	uint16_t row[PORTS];
	uint32_t owner[PORTS]; /* index of the claim in this coat, plus one */
};

static void canvas_release(struct canvas **canvas)
{
	if (!*canvas)
		return;
	policy_pages_free((*canvas)->pages);
	free((*canvas)->claims);
	free(*canvas);
}

static void claim_address(struct canvas *canvas, size_t index, const uint8_t *address)
{
	const struct config_listener *listener = &canvas->build->config->listeners[index];
	struct claim claim = { .listener = index, .address = address };

	if (!listener->n_ports) {
		claim.all = true;
		claim.last = PORTS - 1;
		claim.place = listener->name.place;
		canvas->claims[canvas->n_claims++] = claim;
	}
	for (size_t i = 0; i < listener->n_ports; i++) {
		claim.first = listener->ports[i].first;
		claim.last = listener->ports[i].last;
		claim.place = listener->ports[i].place;
		canvas->claims[canvas->n_claims++] = claim;
	}
}

static int collect_claims(struct canvas *canvas)
{
	const struct config *config = canvas->build->config;
	size_t n = 0;

	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		n += (listener->n_addresses ? listener->n_addresses : 1) *
		     (listener->n_ports ? listener->n_ports : 1);
	}
	canvas->claims = calloc(n + 1, sizeof(*canvas->claims));
	if (!canvas->claims)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		if (listener->flawed)
			continue; /* its ports or its protocol may be what is wrong */
		if (!listener->n_addresses)
			claim_address(canvas, i, NULL);
		for (size_t j = 0; j < listener->n_addresses; j++)
			claim_address(canvas, i, listener->addresses[j].prefix.address);
	}
	return 0;
}

static bool coat_covers(const struct canvas *canvas, const struct coat *coat,
			const struct claim *claim)
{
	if (claim->all != coat->all ||
	    canvas->build->config->listeners[claim->listener].protocol != coat->protocol)
		return false;
	if (!claim->address || !coat->address)
		return claim->address == coat->address;
	return memcmp(claim->address, coat->address, 16) == 0;
}

static void report_conflict(const struct canvas *canvas, const struct claim *claim,
			    const struct claim *owner, unsigned int port)
{
	const struct config_listener *listeners = canvas->build->config->listeners;
	const char *protocol = policy_protocol_names[listeners[claim->listener].protocol];
	char ports[32], address[PREFIX_TEXT_SIZE] = "";

	if (claim->all)
		snprintf(ports, sizeof(ports), "every %s port", protocol);
	else
		snprintf(ports, sizeof(ports), "%s port %u", protocol, port);
	if (claim->address)
		prefix_format_address(claim->address, address);
	diag_error(canvas->build->diag, claim->place,
		   "listener '%s' claims %s%s%s, which listener '%s' (line %u) has already",
		   listeners[claim->listener].name.text, ports, claim->address ? " of " : "",
		   address, listeners[owner->listener].name.text, owner->place.line);
}

static void paint_claim(struct canvas *canvas, size_t index, uint16_t row[PORTS])
{
	const struct claim *claim = &canvas->claims[index];
	bool reported = false;

	for (unsigned int port = claim->first; port <= claim->last; port++) {
		uint32_t owner = canvas->owner[port];

		if (owner && canvas->claims[owner - 1].listener != claim->listener) {
			if (!reported)
				report_conflict(canvas, claim, &canvas->claims[owner - 1], port);
			reported = true;
			continue;
		}
		canvas->owner[port] = (uint32_t)index + 1;
		row[port] = canvas->build->listeners[claim->listener];
	}
}

static void paint(struct canvas *canvas, const struct coat *coat, uint16_t row[PORTS])
{
	memset(canvas->owner, 0, sizeof(canvas->owner));
	for (size_t i = 0; i < canvas->n_claims; i++)
		if (coat_covers(canvas, coat, &canvas->claims[i]))
			paint_claim(canvas, i, row);
}

/* Paints all of @address (NULL: every one) over what is in @row. */
static void paint_row(struct canvas *canvas, enum stile_protocol protocol, const uint8_t *address,
		      uint16_t row[PORTS])
{
	paint(canvas, &(struct coat){ protocol, address, true }, row);
	paint(canvas, &(struct coat){ protocol, address, false }, row);
}

static int cut(struct canvas *canvas, const uint16_t row[PORTS],
	       uint16_t ret_pages[STILE_PORTS_PER_PAGE])
{
	int result;

	for (size_t i = 0; i < PORTS / STILE_PORTS_PER_PAGE; i++) {
		result = policy_pages_find(canvas->pages, row + i * STILE_PORTS_PER_PAGE,
					   &ret_pages[i]);
		if (result < 0)
			return result;
	}
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct stile_host));
}

/* The addresses that claims name, each once, in *ret_hosts. */
static int collect_hosts(const struct canvas *canvas, struct stile_host **ret_hosts,
			 size_t *ret_n_hosts)
{
	struct stile_host *hosts = calloc(canvas->n_claims + 1, sizeof(*hosts));
	size_t n = 0, n_distinct = 0;

	if (!hosts)
		return -ENOMEM;
	for (size_t i = 0; i < canvas->n_claims; i++)
		if (canvas->claims[i].address)
			memcpy(hosts[n++].address, canvas->claims[i].address, 16);
	qsort(hosts, n, sizeof(*hosts), compare_addresses);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare_addresses(&hosts[i], &hosts[n_distinct - 1]) != 0)
			hosts[n_distinct++] = hosts[i];
	*ret_hosts = hosts;
	*ret_n_hosts = n_distinct;
	return 0;
}

static int build_everywhere(struct canvas *canvas)
{
	int result;

	for (unsigned int protocol = 0; protocol < _STILE_PROTOCOL_MAX; protocol++) {
		paint_row(canvas, protocol, NULL, canvas->everywhere[protocol]);
		result = cut(canvas, canvas->everywhere[protocol],
			     canvas->build->policy->ports[0].page[protocol]);
		if (result < 0)
			return result;
	}
	return 0;
}

static int build_host(struct canvas *canvas, const struct stile_host *host)
{
	struct policy *policy = canvas->build->policy;
	struct stile_ports *ports = &policy->ports[policy->n_ports];
	int result;

	for (unsigned int protocol = 0; protocol < _STILE_PROTOCOL_MAX; protocol++) {
		memcpy(canvas->row, canvas->everywhere[protocol], sizeof(canvas->row));
		paint_row(canvas, protocol, host->address, canvas->row);
		result = cut(canvas, canvas->row, ports->page[protocol]);
		if (result < 0)
			return result;
	}
	policy->hosts[policy->n_hosts].host = *host;
	policy->hosts[policy->n_hosts++].row = (uint32_t)policy->n_ports++;
	return 0;
}

static int build_rows(struct canvas *canvas, const struct stile_host *hosts, size_t n_hosts)
{
	struct policy *policy = canvas->build->policy;
	int result;

	policy->ports = calloc(n_hosts + 1, sizeof(*policy->ports));
	policy->hosts = calloc(n_hosts + 1, sizeof(*policy->hosts));
	if (!policy->ports || !policy->hosts)
		return -ENOMEM;
	policy->n_ports = 1;
	policy->kernel.has_addresses = n_hosts > 0;
	result = build_everywhere(canvas);
	for (size_t i = 0; i < n_hosts && result == 0; i++)
		result = build_host(canvas, &hosts[i]);
	return result;
}

int policy_build_ports(struct policy_build *build)
{
	struct canvas *canvas __attribute__((cleanup(canvas_release))) = calloc(1, sizeof(*canvas));
	autofree struct stile_host *hosts = NULL;
	size_t n_hosts;
	int result;

	if (!canvas)
		return -ENOMEM;
	canvas->build = build;
	if (collect_claims(canvas) < 0 || collect_hosts(canvas, &hosts, &n_hosts) < 0 ||
	    policy_pages_create(&canvas->pages) < 0)
		return -ENOMEM;
	result = build_rows(canvas, hosts, n_hosts);
	if (result == -ENOSPC) {
		diag_error(build->diag, (struct place){ 0 },
			   "the ports of the listeners' addresses differ too much from each other: "
			   "write fewer addresses, or ranges of ports that they share");
		return 0;
	}
	if (result < 0)
		return result;
	build->policy->pages = policy_pages_take(canvas->pages, &build->policy->n_pages);
	return 0;
}
