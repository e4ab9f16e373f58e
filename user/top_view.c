/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which clients are shown, in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util.h"

const char *const top_sort_names[_TOP_SORT_MAX + 1] = {
	[TOP_BY_REFUSING] = "refusing", [TOP_BY_ADMITTING] = "admitting",
	[TOP_BY_REFUSED] = "refused",	[TOP_BY_ADMITTED] = "admitted",
	[TOP_BY_OPEN] = "open",		[TOP_BY_WAIT] = "wait",
	[TOP_BY_ADDRESS] = "address",
};

const char *top_client_name(const struct top_frame *frame, const struct snapshot_client *client,
			    char text[PREFIX_TEXT_SIZE])
{
	if (!frame->snapshot->policy.limiters[client->limiter].keyed)
		return "all";
	return prefix_format(&client->key, text);
}

static double weight(const struct top_view *view, const struct top_frame *frame, size_t i)
{
	const struct snapshot_client *client = &frame->clients[i];

	switch (view->sort) {
	case TOP_BY_REFUSING:
		return frame->rates[i].shed;
	case TOP_BY_ADMITTING:
		return frame->rates[i].admitted;
	case TOP_BY_REFUSED:
		return (double)client->refused;
	case TOP_BY_ADMITTED:
		return (double)client->admitted;
	case TOP_BY_OPEN:
		return (double)client->open;
	case TOP_BY_WAIT:
		return (double)client->wait;
	default:
		return 0;
	}
}

/* A client with what it is put in order by. */
struct ranked {
	double weight;
	uint64_t refused, admitted; /* where the weights are the same */
	struct prefix key;
	size_t place;
};

static int higher_first(uint64_t left, uint64_t right)
{
	return left == right ? 0 : left > right ? -1 : 1;
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	int order;

	if (left->weight > right->weight)
		return -1;
	if (left->weight < right->weight)
		return 1;
	order = higher_first(left->refused, right->refused);
	if (order == 0)
		order = higher_first(left->admitted, right->admitted);
	if (order == 0)
		order = memcmp(left->key.address, right->key.address, sizeof(left->key.address));
	return order ? order : left->place < right->place ? -1 : 1;
}

static bool is_wanted(const struct top_view *view, const struct top_frame *frame,
		      const struct snapshot_client *client)
{
	char text[PREFIX_TEXT_SIZE];

	return !*view->filter || strstr(top_client_name(frame, client, text), view->filter) ||
	       strstr(frame->snapshot->policy.limiters[client->limiter].name, view->filter);
}

/* The first of those that were looked at so far, and room for as many more. */
struct ranking {
	struct ranked first[2 * TOP_CLIENTS];
	size_t n, total;
	bool full; /* the last of the first TOP_CLIENTS is known */
};

static void put_in_order(struct ranking *ranking)
{
	if (ranking->n)
		qsort(ranking->first, ranking->n, sizeof(*ranking->first), compare_ranked);
	ranking->full = ranking->n >= TOP_CLIENTS;
	if (ranking->full)
		ranking->n = TOP_CLIENTS;
}

static void put(struct ranking *ranking, const struct ranked *ranked)
{
	if (ranking->full && compare_ranked(ranked, &ranking->first[TOP_CLIENTS - 1]) > 0)
		return;
	ranking->first[ranking->n++] = *ranked;
	if (ranking->n == ARRAY_SIZE(ranking->first))
		put_in_order(ranking);
}

/* To put a million of them in order took half a second; nobody looks at more than the first. */
static void rank(const struct top_view *view, const struct top_frame *frame,
		 struct ranking *ranking)
{
	bool by_address = view->sort == TOP_BY_ADDRESS;

	for (size_t i = 0; i < frame->n_clients; i++) {
		const struct snapshot_client *client = &frame->clients[i];
		struct ranked ranked = { .weight = weight(view, frame, i),
					 .refused = by_address ? 0 : client->refused,
					 .admitted = by_address ? 0 : client->admitted,
					 .key = client->key,
					 .place = i };

		if (!is_wanted(view, frame, client))
			continue;
		ranking->total++;
		put(ranking, &ranked);
	}
	put_in_order(ranking);
}

static bool is_selected(const struct top_view *view, const struct snapshot_client *client)
{
	return view->selected.limiter == client->limiter &&
	       memcmp(&view->selected.key, &client->key, sizeof(client->key)) == 0;
}

int top_view_clients(const struct top_view *view, const struct top_frame *frame,
		     struct top_shown *ret_shown)
{
	autofree struct ranking *ranking = calloc(1, sizeof(*ranking));
	size_t *places = calloc(TOP_CLIENTS, sizeof(*places));
	size_t selected;

	if (!ranking || !places) {
		free(places);
		return -ENOMEM;
	}
	rank(view, frame, ranking);
	selected = ranking->n;
	for (size_t i = 0; i < ranking->n; i++) {
		places[i] = ranking->first[i].place;
		if (view->selecting && is_selected(view, &frame->clients[places[i]]))
			selected = i;
	}
	*ret_shown = (struct top_shown){ places, ranking->n, ranking->total, selected };
	return 0;
}
