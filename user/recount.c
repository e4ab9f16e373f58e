/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients are sorted and not hashed: so are the lists that they are looked up from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/holder.h"
#include "recount.h"

int64_t recount_excess(const struct recount_window *window, uint64_t found)
{
	const struct stile_connections *before = &window->before, *after = &window->after;
	uint64_t came = after->opened + after->seeded - before->opened - before->seeded;
	uint64_t went = after->closed - before->closed;
	int64_t counted =
		(int64_t)(before->opened + before->seeded - before->closed) - window->lost;
	/* A socket that came may be listed or not, and so may one that went. */
	int64_t least = counted - (int64_t)found - (int64_t)went;
	int64_t most = counted - (int64_t)found + (int64_t)came;

	if (least > 0)
		return least;
	return most < 0 ? most : 0;
}

bool recount_is_quiet(const struct recount_window windows[STILE_LISTENERS_MAX])
{
	for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (memcmp(&windows[slot].before, &windows[slot].after,
			   sizeof(windows[slot].before)) != 0)
			return false;
	}
	return true;
}

static int compare_clients(const void *a, const void *b)
{
	const struct recount_client *left = a, *right = b;

	return memcmp(&left->key, &right->key, sizeof(left->key));
}

static struct recount_client client_of(const struct stile_socket *note)
{
	struct recount_client client = { .found = 1 };
	struct address address;

	memcpy(&address, note->address, sizeof(address));
	holder_key(&address, note->serial, &client.key);
	return client;
}

int recount_clients(const struct stile_socket *notes, size_t n, uint32_t holders,
		    struct recount_client **ret_clients, size_t *ret_n)
{
	struct recount_client *clients = calloc(n + 1, sizeof(*clients));
	size_t counted = 0, merged = 0;

	if (!clients)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (notes[i].serial && notes[i].holders == holders)
			clients[counted++] = client_of(&notes[i]);
	}
	qsort(clients, counted, sizeof(*clients), compare_clients);
	for (size_t i = 0; i < counted; i++) {
		if (merged && compare_clients(&clients[merged - 1], &clients[i]) == 0)
			clients[merged - 1].found++;
		else
			clients[merged++] = clients[i];
	}
	*ret_clients = clients;
	*ret_n = merged;
	return 0;
}

uint64_t recount_found(const struct recount_client *clients, size_t n,
		       const struct stile_holder_key *key)
{
	const struct recount_client wanted = { .key = *key };
	const struct recount_client *client =
		n ? bsearch(&wanted, clients, n, sizeof(*clients), compare_clients) : NULL;

	return client ? client->found : 0;
}
