/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The listeners' own policies for client prefixes, read from their trie. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
#include "snapshot_maps.h"
#include "util.h"

#define LISTENER_BITS 32 /* of a key, before those of the address */

static int compare(const void *a, const void *b)
{
	const struct snapshot_source *left = a, *right = b;
	int order;

	if (left->listener != right->listener)
		return left->listener < right->listener ? -1 : 1;
	order = memcmp(left->prefix.address, right->prefix.address, sizeof(left->prefix.address));
	return order ? order : (int)left->prefix.bits - (int)right->prefix.bits;
}

int snapshot_read_sources(const struct pins *pins, const struct snapshot *snapshot,
			  struct snapshot_source **ret_sources, size_t *ret_n_sources)
{
	const struct snapshot_shape shape = { "sources", sizeof(struct stile_source_key),
					      sizeof(struct stile_source) };
	autofd int fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	struct snapshot_source *sources;
	struct snapshot_pairs pairs;
	size_t n = 0;
	int r;

	r = fd < 0 ? fd : snapshot_maps_pairs(fd, &shape, &pairs);
	if (r < 0)
		return r;
	sources = calloc(pairs.n + 1, sizeof(*sources));
	for (size_t i = 0; sources && i < pairs.n; i++) {
		struct snapshot_source *source = &sources[n];
		struct stile_source_key key;

		memcpy(&key, pairs.keys + i * sizeof(key), sizeof(key));
		if (key.bits < LISTENER_BITS || key.listener >= STILE_LISTENERS_MAX)
			continue;
		source->listener = key.listener;
		source->prefix.bits = (uint8_t)(key.bits - LISTENER_BITS);
		memcpy(source->prefix.address, key.address, sizeof(key.address));
		memcpy(&source->policy, pairs.values + i * sizeof(source->policy),
		       sizeof(source->policy));
		n++;
	}
	snapshot_maps_pairs_release(&pairs);
	if (!sources)
		return -ENOMEM;
	qsort(sources, n, sizeof(*sources), compare);
	*ret_sources = sources;
	*ret_n_sources = n;
	return 0;
}
