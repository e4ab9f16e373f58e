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
	enum stile_protocol protocol;
	bool all;     /* the listener names no ports */
	size_t order; /* of the file */
	uint16_t first, last;
	struct place place;
};

struct canvas {
	struct policy_build *build;
	struct claim *claims; /* sorted by what one coat of paint takes */
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

static void claim_add(struct canvas *canvas, const struct claim *claim)
{
	canvas->claims[canvas->n_claims] = *claim;
	canvas->claims[canvas->n_claims].order = canvas->n_claims;
	canvas->n_claims++;
}

static void claim_address(struct canvas *canvas, size_t index, const uint8_t *address)
{
	const struct config_listener *listener = &canvas->build->config->listeners[index];
	struct claim claim = {
		.listener = index,
		.address = address,
		.protocol = listener->protocol,
	};

	if (!listener->n_ports) {
		claim.all = true;
		claim.last = PORTS - 1;
		claim.place = listener->name.place;
		claim_add(canvas, &claim);
	}
	for (size_t i = 0; i < listener->n_ports; i++) {
		claim.first = listener->ports[i].first;
		claim.last = listener->ports[i].last;
		claim.place = listener->ports[i].place;
		claim_add(canvas, &claim);
	}
}

static int compare_addresses(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct stile_host));
}

/* By what one coat of paint takes: 0 where both are of the same. */
static int compare_coats(const struct claim *a, const struct claim *b)
{
	if (!a->address || !b->address) {
		if (a->address || b->address)
			return a->address ? 1 : -1;
	} else if (compare_addresses(a->address, b->address) != 0) {
		return compare_addresses(a->address, b->address);
	}
	if (a->protocol != b->protocol)
		return a->protocol < b->protocol ? -1 : 1;
	return a->all - b->all;
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *one = a, *other = b;
	int order = compare_coats(one, other);

	return order ? order : one->order < other->order ? -1 : one->order > other->order;
}

/* Whether where @listener stands is not known, and not only one place of several. */
static bool is_unsure(const struct config_listener *listener)
{
	return listener->unsure & CONFIG_PROTOCOL ||
	       (listener->unsure & CONFIG_ADDRESSES && !listener->n_addresses) ||
	       (listener->unsure & CONFIG_PORTS && !listener->n_ports);
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

		if (is_unsure(listener))
			continue;
		if (!listener->n_addresses)
			claim_address(canvas, i, NULL);
		for (size_t j = 0; j < listener->n_addresses; j++)
			claim_address(canvas, i, listener->addresses[j].prefix.address);
	}
	qsort(canvas->claims, canvas->n_claims, sizeof(*canvas->claims), compare_claims);
	return 0;
}

static void report_conflict(const struct canvas *canvas, const struct claim *claim,
			    const struct claim *owner, unsigned int port)
{
	const struct config_listener *listeners = canvas->build->config->listeners;
	const char *protocol = policy_protocol_names[claim->protocol];
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

/* The first claim of @coat, or where it would be. */
static size_t coat_begin(const struct canvas *canvas, const struct claim *coat)
{
	size_t low = 0, high = canvas->n_claims;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_coats(&canvas->claims[middle], coat) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void paint(struct canvas *canvas, const struct claim *coat, uint16_t row[PORTS])
{
	memset(canvas->owner, 0, sizeof(canvas->owner));
	for (size_t i = coat_begin(canvas, coat);
	     i < canvas->n_claims && compare_coats(&canvas->claims[i], coat) == 0; i++)
		paint_claim(canvas, i, row);
}

/* Paints all of @address (NULL: every one) over what is in @row. */
static void paint_row(struct canvas *canvas, enum stile_protocol protocol, const uint8_t *address,
		      uint16_t row[PORTS])
{
	struct claim coat = { .address = address, .protocol = protocol, .all = true };

	paint(canvas, &coat, row);
	coat.all = false;
	paint(canvas, &coat, row);
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

/* The addresses that claims name, each once, in *ret_hosts. */
static int collect_hosts(const struct canvas *canvas, struct stile_host **ret_hosts,
			 size_t *ret_n_hosts)
{
	struct stile_host *hosts = calloc(canvas->n_claims + 1, sizeof(*hosts));
	size_t n = 0;

	if (!hosts)
		return -ENOMEM;
	for (size_t i = 0; i < canvas->n_claims; i++) {
		const uint8_t *address = canvas->claims[i].address; /* they are sorted */

		if (address && (n == 0 || compare_addresses(address, &hosts[n - 1]) != 0))
			memcpy(hosts[n++].address, address, sizeof(hosts->address));
	}
	*ret_hosts = hosts;
	*ret_n_hosts = n;
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
	if (!build->diag->n_errors)
		policy_warn_shadows(build);
	return 0;
}
