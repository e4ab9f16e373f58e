/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A frame as JSON. */
#include <stdlib.h>

#include "labels.h"
#include "names.h"
#include "top.h"

#define CLIENTS 20

/* Before there is a second snapshot no rate is known: null. */
static json_t *rate_json(const struct top_frame *frame, double rate)
{
	return frame->seconds > 0 ? json_real(rate) : json_null();
}

static void append(json_t *array, json_t *value)
{
	(void)json_array_append_new(array, value); /* out of memory: one fewer */
}

static json_t *interfaces_json(const struct top_frame *frame)
{
	json_t *array = json_array();

	for (size_t i = 0; i < frame->n_interfaces; i++) {
		const struct top_interface *interface = &frame->interfaces[i];
		const struct snapshot_interface *of = &frame->snapshot->interfaces[interface->slot];
		json_t *packets = json_object();

		for (size_t v = 0; v < _STILE_VERDICT_MAX; v++)
			(void)json_object_set_new(packets, labels_verdict[v],
						  rate_json(frame, interface->packets[v]));
		append(array,
		       json_pack("{ss, sb, ss, so}", "interface", interface->name, "attached",
				 of->attached, "mode", policy_mode_names[of->mode],
				 "packets_per_second", packets));
	}
	return array;
}

static json_t *flow_json(const struct top_frame *frame, const struct top_flow *flow)
{
	const struct snapshot *snapshot = frame->snapshot;
	const struct snapshot_queue *queue = &snapshot->queues[flow->slot];
	bool counts = snapshot_counts_connections(snapshot, flow->slot);
	int level = snapshot_level(snapshot, flow->slot);

	return json_pack("{ss, ss?, sI, sI, so, so, so, so, so, so, sb, sb}", "listener",
			 flow->listener, "limiter", flow->limiter, "admitted",
			 (json_int_t)flow->admitted, "shed", (json_int_t)flow->shed,
			 "admitted_per_second", rate_json(frame, flow->rate.admitted),
			 "shed_per_second", rate_json(frame, flow->rate.shed), "open",
			 counts ? json_integer((json_int_t)snapshot->connections[flow->slot].open)
				: json_null(),
			 "queue_length",
			 queue->sockets ? json_integer((json_int_t)queue->length) : json_null(),
			 "queue_backlog",
			 queue->sockets ? json_integer((json_int_t)queue->backlog) : json_null(),
			 "service_level", level < 0 ? json_null() : json_integer(level), "proves",
			 snapshot_proves(snapshot, flow->slot), "proves_now",
			 snapshot_proves_now(snapshot, flow->slot));
}

static json_t *flows_json(const struct top_frame *frame)
{
	json_t *array = json_array();

	for (size_t i = 0; i < frame->n_flows; i++)
		append(array, flow_json(frame, &frame->flows[i]));
	return array;
}

static json_t *clients_json(const struct top_frame *frame, const struct top_shown *shown)
{
	char text[PREFIX_TEXT_SIZE];
	json_t *array = json_array();

	for (size_t i = 0; i < shown->n && i < CLIENTS; i++) {
		const struct snapshot_client *client = &frame->clients[shown->places[i]];
		const struct top_rate *rate = &frame->rates[shown->places[i]];

		append(array,
		       json_pack("{ss, ss, sI, sI, so, so, so, sf}", "address",
				 top_client_name(frame, client, text), "limiter",
				 frame->snapshot->policy.limiters[client->limiter].name, "admitted",
				 (json_int_t)client->admitted, "refused",
				 (json_int_t)client->refused, "admitted_per_second",
				 rate_json(frame, rate->admitted), "refused_per_second",
				 rate_json(frame, rate->shed), "open",
				 client->open_unknown ? json_null()
						      : json_integer((json_int_t)client->open),
				 "wait_seconds", (double)client->wait / 1e9));
	}
	return array;
}

json_t *top_json(const struct top_view *view, const struct top_frame *frame)
{
	const struct snapshot *snapshot = frame->snapshot;
	struct top_shown shown;
	json_t *json;

	if (top_view_clients(view, frame, &shown) < 0)
		return NULL;
	json = json_pack(
		"{ss, sf, sI, sb, sb, sf, so, so, so, sI}", "instance", view->instance, "seconds",
		frame->seconds, "generation", (json_int_t)snapshot->policy.generation, "enabled",
		snapshot->policy.enabled, "daemon_alive", snapshot->silence <= TOP_SILENT_NS,
		"daemon_silent_seconds", (double)snapshot->silence / 1e9, "interfaces",
		interfaces_json(frame), "flows", flows_json(frame), "clients",
		clients_json(frame, &shown), "clients_total", (json_int_t)shown.total);
	free(shown.places);
	return json;
}
