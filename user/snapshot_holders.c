/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many connections clients hold. What a word means is asked of the kernel side's own code. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "../bpf/holder.h"
#include "snapshot.h"
#include "snapshot_maps.h"
#include "util.h"

static const struct snapshot_shape shape = { "holders", sizeof(struct stile_holder_key),
					     sizeof(struct stile_holder) };

int snapshot_held(const struct pins *pins, const struct snapshot *snapshot,
		  const struct snapshot_event *event, uint64_t *ret_open)
{
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	struct stile_holder_key key;
	struct stile_holder holder;
	struct address client;
	int r;

	if (fd < 0)
		return fd;
	memcpy(&client, event->address, sizeof(client));
	holder_key(&client, snapshot->policy.listeners[event->listener].serial, &key);
	r = bpf_map_lookup_elem(fd, &key, &holder);
	*ret_open = r == 0 ? holder_open(holder.state) : 0;
	return r == -ENOENT ? 0 : r;
}

struct holding {
	struct stile_holder_key key;
	uint64_t open;
	bool told; /* with some client of a limiter */
};

static int compare(const void *a, const void *b)
{
	const struct holding *left = a, *right = b;

	return memcmp(left->key.address, right->key.address, sizeof(left->key.address));
}

static struct holding *sorted(const struct snapshot_pairs *pairs)
{
	const struct stile_holder_key *keys = (const void *)pairs->keys;
	const struct stile_holder *holders = (const void *)pairs->values;
	struct holding *holdings = calloc(pairs->n + 1, sizeof(*holdings));

	for (size_t i = 0; holdings && i < pairs->n; i++)
		holdings[i] = (struct holding){ keys[i], holder_open(holders[i].state), false };
	if (holdings)
		qsort(holdings, pairs->n, sizeof(*holdings), compare);
	return holdings;
}

/* Whether the listener of that serial is one that @limiter judges. */
static bool judges(const struct stile_policy *policy, uint32_t limiter, uint32_t serial)
{
	for (size_t slot = 1; slot < STILE_ATTACHMENTS_MAX; slot++) {
		const struct stile_attachment *at = &policy->attachments[slot];

		if (at->limiter == limiter && policy->listeners[at->listener].serial == serial)
			return true;
	}
	return false;
}

/* The first that is not before @address. */
static size_t first_of(const struct holding *holdings, size_t n, const uint8_t address[16])
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(holdings[middle].key.address, address, 16) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of a longer IPv6 prefix nothing is known but what STILE_HOLDER_IPV6_PREFIX bits of it hold. */
static struct prefix known_part(const struct prefix *key)
{
	struct prefix part = *key;
	struct address address;

	memcpy(&address, key->address, sizeof(address));
	if (part.bits > STILE_HOLDER_IPV6_PREFIX && !address_is_ipv4(&address)) {
		part.bits = STILE_HOLDER_IPV6_PREFIX;
		prefix_mask(part.address, part.bits);
	}
	return part;
}

/* Whether connections of a listener that @limiter judges were not counted by client. */
static bool has_overflow(const struct snapshot *snapshot, uint32_t limiter)
{
	for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (snapshot->connections[slot].overflow &&
		    judges(&snapshot->policy, limiter, snapshot->policy.listeners[slot].serial))
			return true;
	}
	return false;
}

static void count(const struct snapshot *snapshot, struct holding *holdings, size_t n,
		  struct snapshot_client *client)
{
	const struct prefix key = known_part(&client->key);

	client->open = 0;
	for (size_t i = first_of(holdings, n, key.address); i < n; i++) {
		uint8_t masked[16];

		memcpy(masked, holdings[i].key.address, sizeof(masked));
		prefix_mask(masked, key.bits);
		if (memcmp(masked, key.address, sizeof(masked)) != 0)
			break;
		if (!judges(&snapshot->policy, client->limiter, holdings[i].key.listener))
			continue;
		client->open += holdings[i].open;
		holdings[i].told = true;
	}
}

/* As holder_key() keeps it. */
static struct prefix holder_prefix(const struct stile_holder_key *key)
{
	struct prefix prefix = { .bits = 128 };
	struct address address;

	memcpy(&address, key->address, sizeof(address));
	memcpy(prefix.address, key->address, sizeof(prefix.address));
	if (!address_is_ipv4(&address))
		prefix.bits = STILE_HOLDER_IPV6_PREFIX;
	return prefix;
}

/* Who is no limiter's client: they are in the order of their addresses, a client at a time. */
static size_t append(const struct holding *holdings, size_t n, struct snapshot_client *clients)
{
	struct snapshot_client *last = NULL;
	size_t n_clients = 0;

	for (size_t i = 0; i < n; i++) {
		const struct prefix key = holder_prefix(&holdings[i].key);

		if (holdings[i].told || holdings[i].open == 0)
			continue;
		if (!last || memcmp(last->key.address, key.address, sizeof(key.address)) != 0) {
			last = &clients[n_clients++];
			*last = (struct snapshot_client){ .key = key };
		}
		last->open += holdings[i].open;
	}
	return n_clients;
}

static int append_rest(const struct holding *holdings, size_t n, struct snapshot_client **clients,
		       size_t *n_clients)
{
	struct snapshot_client *more = reallocarray(*clients, *n_clients + n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	*clients = more;
	*n_clients += append(holdings, n, more + *n_clients);
	return 0;
}

static void count_all(const struct snapshot *snapshot, struct holding *holdings, size_t n,
		      struct snapshot_client *clients, size_t n_clients)
{
	bool overflow[STILE_LIMITERS_MAX];

	for (uint32_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		overflow[slot] = slot && has_overflow(snapshot, slot);
	for (size_t i = 0; i < n_clients; i++) {
		count(snapshot, holdings, n, &clients[i]);
		clients[i].open_unknown = clients[i].open == 0 && overflow[clients[i].limiter];
	}
}

int snapshot_holders_fill(const struct pins *pins, const struct snapshot *snapshot, bool rest,
			  struct snapshot_client **clients, size_t *n_clients)
{
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	autofree struct holding *holdings = NULL;
	struct snapshot_pairs pairs;
	int r = fd < 0 ? fd : snapshot_maps_pairs(fd, &shape, &pairs);

	if (r < 0)
		return r;
	holdings = sorted(&pairs);
	if (holdings)
		count_all(snapshot, holdings, pairs.n, *clients, *n_clients);
	r = !holdings ? -ENOMEM : rest ? append_rest(holdings, pairs.n, clients, n_clients) : 0;
	snapshot_maps_pairs_release(&pairs);
	return r;
}
