/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one listener web with the one limiter per-client, on eth0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "top_frames.h"

struct snapshot *snapshot_at(uint64_t seconds)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct stile_policy *policy = &snapshot->policy;

	snapshot->now = seconds * SECOND;
	policy->enabled = 1;
	policy->generation = 3;
	policy->connections = 1;
	strcpy(policy->interfaces[0].name, "eth0");
	strcpy(policy->limiters[SLOT_PER_CLIENT].name, "per-client");
	policy->limiters[SLOT_PER_CLIENT].keyed = 1;
	policy->limiters[SLOT_PER_CLIENT].full = STILE_FULL_REJECT;
	strcpy(policy->listeners[SLOT_WEB].name, "web");
	policy->listeners[SLOT_WEB].protocol = STILE_PROTOCOL_TCP;
	policy->attachments[1] = (struct stile_attachment){ SLOT_PER_CLIENT, SLOT_WEB, 0, 0, 0 };
	snapshot->interfaces[0].attached = true;
	snapshot->interfaces[0].mode = STILE_MODE_NATIVE;
	return snapshot;
}

struct snapshot_client *clients_with(size_t n, uint64_t admitted, uint64_t refused)
{
	struct snapshot_client *clients = calloc(n + 1, sizeof(*clients));

	for (size_t i = 0; i < n; i++) {
		char text[PREFIX_TEXT_SIZE];

		snprintf(text, sizeof(text), "192.0.2.%zu", i + 1);
		CHECK_EQ("an address", prefix_parse(text, &clients[i].key), 0);
		clients[i].limiter = SLOT_PER_CLIENT;
		clients[i].live = true;
		clients[i].admitted = admitted * (i + 1);
		clients[i].refused = refused * (i + 1);
	}
	return clients;
}

void decide(struct snapshot *snapshot, uint64_t allowed, uint64_t limited)
{
	snapshot->decisions[1].count[STILE_DECISION_ALLOWED] = allowed;
	snapshot->decisions[1].count[STILE_DECISION_LIMITED] = limited;
}

struct top_frame *second_frame(size_t n_clients)
{
	struct snapshot *first = snapshot_at(10), *second = snapshot_at(12);
	struct top_frame *before, *frame;

	decide(first, 100, 1000);
	decide(second, 120, 1300);
	before = top_frame_new(NULL, first, clients_with(n_clients, 1, 10), n_clients);
	frame = top_frame_new(before, second, clients_with(n_clients, 5, 70), n_clients);
	top_frame_free(before);
	return frame;
}

struct top_view view_of(unsigned int columns, unsigned int lines)
{
	return (struct top_view){
		.instance = "main", .columns = columns, .lines = lines, .interactive = true
	};
}
