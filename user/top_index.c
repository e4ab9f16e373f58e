/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open addressing, at most half full: to sort a million clients once a second took most of it. Keys
 * are others' to choose, but a long run of collisions only makes a screen late.
 */
#include <stdlib.h>
#include <string.h>

#include "top_index.h"

static size_t room_of(size_t n_clients)
{
	size_t room = 2;

	while (room < 2 * n_clients + 1)
		room *= 2;
	return room;
}

static size_t place_of(const struct snapshot_client *client, size_t room)
{
	uint64_t halves[2], hash;

	memcpy(halves, client->key.address, sizeof(halves));
	hash = (halves[0] ^ client->limiter) * 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ hash >> 32 ^ halves[1]) * 0xd6e8feb86659fd93ULL;
	return (size_t)(hash ^ hash >> 32) & (room - 1);
}

static bool is_same(const struct snapshot_client *a, const struct snapshot_client *b)
{
	return a->limiter == b->limiter && memcmp(&a->key, &b->key, sizeof(a->key)) == 0;
}

uint32_t *top_index_new(const struct snapshot_client *clients, size_t n_clients)
{
	size_t room = room_of(n_clients);
	uint32_t *index = calloc(room, sizeof(*index)); /* 0: empty; otherwise a place + 1 */

	for (size_t i = 0; index && i < n_clients; i++) {
		size_t at = place_of(&clients[i], room);

		while (index[at])
			at = (at + 1) & (room - 1);
		index[at] = (uint32_t)i + 1;
	}
	return index;
}

const struct snapshot_client *top_index_find(const uint32_t *index,
					     const struct snapshot_client *clients,
					     size_t n_clients, const struct snapshot_client *wanted)
{
	size_t room = room_of(n_clients);

	for (size_t at = place_of(wanted, room); index[at]; at = (at + 1) & (room - 1)) {
		if (is_same(&clients[index[at] - 1], wanted))
			return &clients[index[at] - 1];
	}
	return NULL;
}
