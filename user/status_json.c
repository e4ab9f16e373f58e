/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The status as JSON. Its names are public: those of the metrics, and of the configuration. */
#include <stdbool.h>
#include <stdint.h>

#include <stile/version.h>

#include "labels.h"
#include "names.h"
#include "phrase.h"
#include "reading.h"
#include "status.h"

static void append_name(const char *name, void *array)
{
	reading_append(array, json_string(name));
}

static json_t *limiter_names(const struct stile_policy *policy, const uint16_t *judges)
{
	json_t *names = json_array();

	status_each_limiter(policy, judges, STILE_JUDGES_MAX, append_name, &names);
	return names;
}

static json_t *interfaces_json(const struct status *status)
{
	const struct stile_policy *policy = &status->snapshot->policy;
	json_t *array = json_array();

	for (uint32_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		const struct snapshot_interface *interface = &status->snapshot->interfaces[i];

		if (!*policy->interfaces[i].name)
			continue;
		reading_append(&array,
			       json_pack("{ss, sb, ss, so, ss?}", "interface",
					 policy->interfaces[i].name, "attached",
					 interface->attached, "mode",
					 policy_mode_names[interface->mode], "program_id",
					 interface->attached ? json_integer(interface->program)
							     : json_null(),
					 "rate_limiter_name", status_edge(policy, i)));
	}
	return array;
}

static json_t *ports_json(const struct status *status, uint32_t listener)
{
	json_t *array = json_array();

	for (size_t i = 0; i < status->n_ports; i++) {
		const struct snapshot_ports *ports = &status->ports[i];
		char address[PREFIX_TEXT_SIZE];

		if (ports->listener != listener)
			continue;
		prefix_format_address(ports->address, address);
		reading_append(&array, json_pack("{ss?, si, si}", "address",
						 ports->everywhere ? NULL : address, "first",
						 ports->first, "last", ports->last));
	}
	return array;
}

static json_t *sources_json(const struct status *status, uint32_t listener)
{
	json_t *array = json_array();

	for (size_t i = 0; i < status->n_sources; i++) {
		const struct snapshot_source *source = &status->sources[i];
		char prefix[PREFIX_TEXT_SIZE];

		if (source->listener != listener)
			continue;
		reading_append(&array, json_pack("{ss, so, ss?}", "source",
						 prefix_format(&source->prefix, prefix), "limiters",
						 limiter_names(&status->snapshot->policy,
							       source->policy.judges),
						 "new_sources_limiter",
						 status_new_sources(&status->snapshot->policy,
								    source->policy.judges)));
	}
	return array;
}

/* null: nobody knows it now. */
static json_t *level_json(const struct status *status, uint32_t listener)
{
	int level = snapshot_level(status->snapshot, listener);

	return level < 0 ? json_null() : json_integer(level);
}

/* null: they are not counted. */
static json_t *connections_json(const struct snapshot *snapshot, size_t slot)
{
	const struct snapshot_connections *connections = &snapshot->connections[slot];

	if (!snapshot_counts_connections(snapshot, slot))
		return json_null();
	return json_pack("{sI, sI, sI, sI}", "open", (json_int_t)connections->open, "opened_total",
			 (json_int_t)connections->opened, "overflow_total",
			 (json_int_t)connections->overflow, "recounted_total",
			 (json_int_t)connections->recounted);
}

/* null: nothing is attached, nor to be. */
static json_t *cgroup_json(const struct snapshot_cgroup *cgroup)
{
	if (!*cgroup->path)
		return json_null();
	return json_pack("{ss, sb}", "path", cgroup->path, "attached", cgroup->attached);
}

static json_t *listeners_json(const struct status *status)
{
	const struct stile_policy *policy = &status->snapshot->policy;
	json_t *array = json_array();

	for (uint32_t i = 1; i < STILE_LISTENERS_MAX; i++) {
		const struct stile_listener *listener = &policy->listeners[i];

		if (!*listener->name)
			continue;
		reading_append(&array,
			       json_pack("{ss, ss, so, so, so, so, so, so, so, ss?}", "listener",
					 listener->name, "protocol",
					 policy_protocol_names[listener->protocol], "ports",
					 ports_json(status, i), "limiters",
					 limiter_names(policy, listener->judges), "sources",
					 sources_json(status, i), "service_level",
					 level_json(status, i), "connections",
					 connections_json(status->snapshot, i), "accept_queue",
					 status_queue_json(status->snapshot, i), "prove_sources",
					 status_proofs_json(status->snapshot, i),
					 "new_sources_limiter",
					 status_new_sources(policy, listener->judges)));
	}
	return array;
}

static json_t *keys_json(const struct stile_limiter *limiter)
{
	return limiter->keyed ? json_pack("[s]", "client_ip") : json_array();
}

static json_t *limiter_json(const struct stile_limiter *limiter,
			    const struct snapshot_limiter *counts)
{
	bool tokens = limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET;
	bool places = limiter->algorithm == STILE_ALGORITHM_CONCURRENCY;

	return json_pack(
		"{ss, ss, sI, so, so, so, ss, ss, so, si, si, sI, si, ss, ss, sI, sI}", "limiter",
		limiter->name, "algorithm", policy_algorithm_names[limiter->algorithm], "limit",
		(json_int_t)limiter->limit, "window_seconds",
		places ? json_null() : reading_seconds(limiter->window), "queue",
		places ? json_integer(limiter->queue) : json_null(), "burst",
		tokens ? json_integer((json_int_t)limiter->burst) : json_null(), "unit",
		phrase_unit(limiter), "action", policy_action_names[limiter->action], "keys_by",
		keys_json(limiter), "ipv4_prefix", limiter->ipv4_prefix, "ipv6_prefix",
		limiter->ipv6_prefix, "keys", (json_int_t)counts->keys, "max_keys",
		limiter->max_keys, "max_keys_action", policy_full_names[limiter->full], "hash",
		policy_hash_names[limiter->hash], "evictions_total",
		(json_int_t)counts->stats.evicted, "full_total", (json_int_t)counts->stats.full);
}

static json_t *limiters_json(const struct snapshot *snapshot)
{
	json_t *array = json_array();

	for (size_t i = 1; i < STILE_LIMITERS_MAX; i++) {
		if (*snapshot->policy.limiters[i].name)
			reading_append(&array, limiter_json(&snapshot->policy.limiters[i],
							    &snapshot->limiters[i]));
	}
	return array;
}

/* An object of counts: those of @labels. */
static json_t *counts_json(const char *const *labels, const __u64 *counts, size_t n)
{
	json_t *object = json_object();
	int r = object ? 0 : -1;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = json_object_set_new(object, labels[i], json_integer((json_int_t)counts[i]));
	if (r < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *decisions_json(const struct snapshot *snapshot)
{
	const struct stile_policy *policy = &snapshot->policy;
	json_t *array = json_array();

	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &policy->attachments[i];

		if (!at->limiter)
			continue;
		reading_append(&array,
			       json_pack("{ss, ss, so}", "limiter",
					 policy->limiters[at->limiter].name, "listener",
					 policy->listeners[at->listener].name, "decisions",
					 counts_json(labels_decision, snapshot->decisions[i].count,
						     _STILE_DECISION_MAX)));
	}
	return array;
}

static void append_packets(json_t **array, const char *name, const struct stile_packets *packets)
{
	for (size_t v = 0; v < _STILE_VERDICT_MAX; v++) {
		for (size_t r = 0; r < _STILE_REASON_MAX; r++) {
			if (!packets->count[v][r])
				continue;
			reading_append(array,
				       json_pack("{ss, ss, ss, sI}", "interface", name, "verdict",
						 labels_verdict[v], "reason", labels_reason[r],
						 "packets", (json_int_t)packets->count[v][r]));
		}
	}
}

static json_t *packets_json(const struct snapshot *snapshot)
{
	json_t *array = json_array();

	for (size_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		if (*snapshot->policy.interfaces[i].name)
			append_packets(&array, snapshot->policy.interfaces[i].name,
				       &snapshot->interfaces[i].packets);
	}
	return array;
}

static json_t *list_json(const struct snapshot_listed *listed, size_t n, uint64_t now)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++) {
		uint64_t expires = listed[i].entry.expires;
		char prefix[PREFIX_TEXT_SIZE];

		reading_append(&array,
			       json_pack("{ss, ss, so}", "prefix",
					 prefix_format(&listed[i].prefix, prefix), "by",
					 listed[i].entry.by_hand ? "hand" : "file",
					 "expires_seconds",
					 expires ? reading_seconds(expires - now) : json_null()));
	}
	return array;
}

/* null: no limiter counts any. */
static json_t *sessions_json(const struct snapshot *snapshot)
{
	const struct snapshot_sessions *sessions = &snapshot->sessions;

	if (!snapshot->policy.flow_sets)
		return json_null();
	return json_pack("{sI, sI, sI, sI, sI}", "open", (json_int_t)sessions->open, "held",
			 (json_int_t)sessions->held, "max_sessions",
			 (json_int_t)snapshot->policy.max_sessions, "evictions_total",
			 (json_int_t)sessions->stats.evicted, "full_total",
			 (json_int_t)sessions->stats.full);
}

json_t *status_json(const struct status *status)
{
	const struct snapshot *snapshot = status->snapshot;
	char since[sizeof("2000-01-01T00:00:00Z")] = "";
	struct tm utc;

	if (gmtime_r(&status->since, &utc))
		strftime(since, sizeof(since), "%FT%TZ", &utc);
	return json_pack(
		"{ss, ss, sb, sI, ss, so, s{ss, so, so, sb}, so, so, so, so, so, so, so, so, so, "
		"so}",
		"version", STILE_VERSION, "instance", status->instance, "enabled",
		snapshot->policy.enabled, "generation", (json_int_t)snapshot->policy.generation,
		"since", since, "uptime_seconds", reading_seconds(status->uptime), "watchdog",
		"then", policy_watchdog_names[snapshot->policy.watchdog], "after_seconds",
		reading_seconds(snapshot->policy.watchdog_after), "silence_seconds",
		reading_seconds(snapshot->silence), "bites", snapshot_is_unattended(snapshot),
		"interfaces", interfaces_json(status), "cgroup", cgroup_json(&snapshot->cgroup),
		"listeners", listeners_json(status), "limiters", limiters_json(snapshot),
		"decisions", decisions_json(snapshot), "packets", packets_json(snapshot),
		"sessions", sessions_json(snapshot), "replies",
		counts_json(labels_reply, snapshot->replies.count, _STILE_REPLY_MAX), "trusted",
		list_json(snapshot->trusted, snapshot->n_trusted, snapshot->now), "blocked",
		list_json(snapshot->blocked, snapshot->n_blocked, snapshot->now));
}
