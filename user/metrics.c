/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics page. A series is there from the start, at zero, wherever it can ever count, so that
 * rate() sees its first event; what cannot occur (a verdict with a reason that never leads to it)
 * has none. No label ever holds a client's address.
 */
#include <inttypes.h>

#include <stile/version.h>

#include "labels.h"
#include "metrics.h"
#include "metrics_proofs.h"
#include "names.h"

static void head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Interface names may hold what the format must escape. */
static void label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('"', out);
}

static void render_decisions(const struct snapshot *snapshot, FILE *out)
{
	const char *name = "stile_ratelimit_decisions_total";

	head(out, name, "counter", "What each limiter said of the events at each listener.");
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &snapshot->policy.attachments[i];

		if (at->limiter == 0)
			continue;
		for (size_t d = 0; d < _STILE_DECISION_MAX; d++) {
			fprintf(out, "%s{", name);
			label(out, "limiter", snapshot->policy.limiters[at->limiter].name);
			fputc(',', out);
			label(out, "listener", snapshot->policy.listeners[at->listener].name);
			fprintf(out, ",result=\"%s\"} %llu\n", labels_decision[d],
				snapshot->decisions[i].count[d]);
		}
	}
}

struct limiter_metric {
	const char *name, *type, *help;
	uint64_t (*value)(const struct snapshot *snapshot, size_t slot);
};

static uint64_t limiter_keys(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->limiters[slot].keys;
}

static uint64_t limiter_max_keys(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->policy.limiters[slot].max_keys;
}

static uint64_t limiter_evicted(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->limiters[slot].stats.evicted;
}

static uint64_t limiter_full(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->limiters[slot].stats.full;
}

static void render_limiters(const struct snapshot *snapshot, FILE *out)
{
	static const struct limiter_metric metrics[] = {
		{ "stile_ratelimit_keys", "gauge",
		  "Clients whose bucket differs from that of a new one.", limiter_keys },
		{ "stile_ratelimit_max_keys", "gauge",
		  "Clients that the limiter's table is built for.", limiter_max_keys },
		{ "stile_ratelimit_evictions_total", "counter",
		  "Buckets in use that had to make room for another client.", limiter_evicted },
		{ "stile_ratelimit_full_total", "counter",
		  "New clients that found no room in the limiter's table.", limiter_full },
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		head(out, metrics[i].name, metrics[i].type, metrics[i].help);
		for (size_t slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
			if (!*snapshot->policy.limiters[slot].name)
				continue;
			fprintf(out, "%s{", metrics[i].name);
			label(out, "limiter", snapshot->policy.limiters[slot].name);
			fprintf(out, "} %" PRIu64 "\n", metrics[i].value(snapshot, slot));
		}
	}
}

/* Whether packets can leave with this verdict for this reason. */
static bool occurs(size_t verdict, size_t reason)
{
	switch (reason) {
	case STILE_REASON_BLOCKED:
	case STILE_REASON_BAD_FLAGS:
	case STILE_REASON_TINY_FRAGMENT:
	case STILE_REASON_EXT_HEADER:
	case STILE_REASON_MALFORMED:
	case STILE_REASON_VLAN_TAGS:
	case STILE_REASON_WAITING:
	case STILE_REASON_EVICTING:
	case STILE_REASON_UNPROVEN:
		return verdict == STILE_VERDICT_DROP;
	case STILE_REASON_LIMITED:
	case STILE_REASON_HELD:
	case STILE_REASON_ACCEPT_QUEUE:
	case STILE_REASON_BUSY:
	case STILE_REASON_CHALLENGED:
		return verdict != STILE_VERDICT_PASS;
	case STILE_REASON_FULL:
		return true;
	default:
		return verdict == STILE_VERDICT_PASS;
	}
}

static void render_interface(const struct snapshot *snapshot, size_t slot, const char *name,
			     FILE *out)
{
	const struct stile_packets *packets = &snapshot->interfaces[slot].packets;

	for (size_t v = 0; v < _STILE_VERDICT_MAX; v++) {
		for (size_t r = 0; r < _STILE_REASON_MAX; r++) {
			if (!packets->count[v][r] && !occurs(v, r))
				continue;
			fprintf(out, "%s{", name);
			label(out, "interface", snapshot->policy.interfaces[slot].name);
			fprintf(out, ",verdict=\"%s\",reason=\"%s\"} %llu\n", labels_verdict[v],
				labels_reason[r], packets->count[v][r]);
		}
	}
}

static void render_packets(const struct snapshot *snapshot, FILE *out)
{
	const char *name = "stile_packets_total";

	head(out, name, "counter", "Packets by what became of them, and why.");
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		if (*snapshot->policy.interfaces[slot].name)
			render_interface(snapshot, slot, name, out);
	}
}

static void render_sessions(const struct snapshot *snapshot, FILE *out)
{
	const struct snapshot_sessions *sessions = &snapshot->sessions;

	head(out, "stile_sessions", "gauge", "Sessions on udp that limiters know of.");
	fprintf(out, "stile_sessions{state=\"open\"} %" PRIu64 "\n", sessions->open);
	fprintf(out, "stile_sessions{state=\"held\"} %" PRIu64 "\n", sessions->held);
	head(out, "stile_sessions_evictions_total", "counter",
	     "Sessions that had to make room for another.");
	fprintf(out, "stile_sessions_evictions_total %llu\n", sessions->stats.evicted);
	head(out, "stile_sessions_full_total", "counter",
	     "Sessions that found no room: judged again with each datagram.");
	fprintf(out, "stile_sessions_full_total %llu\n", sessions->stats.full);
}

struct listener_metric {
	const char *name, *type, *help;
	uint64_t (*value)(const struct snapshot *snapshot, size_t slot);
};

static uint64_t listener_open(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->connections[slot].open;
}

static uint64_t listener_opened(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->connections[slot].opened;
}

static uint64_t listener_overflow(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->connections[slot].overflow;
}

static uint64_t listener_recounted(const struct snapshot *snapshot, size_t slot)
{
	return snapshot->connections[slot].recounted;
}

static void render_connections(const struct snapshot *snapshot, FILE *out)
{
	static const struct listener_metric metrics[] = {
		{ "stile_connections", "gauge", "Open TCP connections.", listener_open },
		{ "stile_connections_opened_total", "counter",
		  "TCP connections that were established.", listener_opened },
		{ "stile_connections_overflow_total", "counter",
		  "TCP connections whose client is not counted: max_clients was reached.",
		  listener_overflow },
		{ "stile_connections_recounted_total", "counter",
		  "Times that a count of connections had to be put right.", listener_recounted },
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		head(out, metrics[i].name, metrics[i].type, metrics[i].help);
		for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
			if (!snapshot_counts_connections(snapshot, slot))
				continue;
			fprintf(out, "%s{", metrics[i].name);
			label(out, "listener", snapshot->policy.listeners[slot].name);
			fprintf(out, "} %" PRIu64 "\n", metrics[i].value(snapshot, slot));
		}
	}
}

/* Of listeners that sockets listen for now: one that is down has none, and no zeros either. */
static void render_queue(const struct snapshot *snapshot, const char *name, const char *help,
			 uint64_t (*value)(const struct snapshot_queue *queue), FILE *out)
{
	head(out, name, "gauge", help);
	for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (!*snapshot->policy.listeners[slot].name || !snapshot->queues[slot].sockets)
			continue;
		fprintf(out, "%s{listener=\"%s\"} %" PRIu64 "\n", name,
			snapshot->policy.listeners[slot].name, value(&snapshot->queues[slot]));
	}
}

static uint64_t queue_length(const struct snapshot_queue *queue)
{
	return queue->length;
}

static uint64_t queue_backlog(const struct snapshot_queue *queue)
{
	return queue->backlog;
}

static uint64_t queue_in_flight(const struct snapshot_queue *queue)
{
	return queue->in_flight;
}

static void render_queues(const struct snapshot *snapshot, FILE *out)
{
	if (!snapshot->has_queues)
		return;
	render_queue(snapshot, "stile_accept_queue_length",
		     "Connections that the service has not accepted yet.", queue_length, out);
	render_queue(snapshot, "stile_accept_queue_limit",
		     "The backlog of the service's sockets: the queue takes one more.",
		     queue_backlog, out);
	render_queue(snapshot, "stile_connections_in_flight",
		     "Handshakes that the client has not completed yet.", queue_in_flight, out);
}

static void render_replies(const struct snapshot *snapshot, FILE *out)
{
	head(out, "stile_replies_total", "counter", "Answers given in the service's place.");
	for (size_t i = 0; i < _STILE_REPLY_MAX; i++)
		fprintf(out, "stile_replies_total{kind=\"%s\"} %llu\n", labels_reply[i],
			snapshot->replies.count[i]);
}

static void render_levels(const struct snapshot *snapshot, FILE *out)
{
	const char *name = "stile_service_level";

	head(out, name, "gauge",
	     "How much more the service can take: from 255, all, to 0, nothing.");
	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		int level = snapshot_level(snapshot, slot);

		if (!*snapshot->policy.listeners[slot].name || level < 0)
			continue;
		fprintf(out, "%s{", name);
		label(out, "listener", snapshot->policy.listeners[slot].name);
		fprintf(out, "} %d\n", level);
	}
}

static void render_attached(const struct snapshot *snapshot, FILE *out)
{
	const char *name = "stile_attached";

	head(out, name, "gauge", "Whether the interface's packets go through Stile.");
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		const struct snapshot_interface *interface = &snapshot->interfaces[slot];

		if (!*snapshot->policy.interfaces[slot].name)
			continue;
		fprintf(out, "%s{", name);
		label(out, "interface", snapshot->policy.interfaces[slot].name);
		fprintf(out, ",mode=\"%s\"} %d\n", policy_mode_names[interface->mode],
			interface->attached);
	}
}

static void render_shedding(const struct snapshot *snapshot, const struct metrics_daemon *daemon,
			    FILE *out)
{
	const char *name = "stile_shedding";

	head(out, name, "gauge", "Whether the limiter refuses clients of the listener now.");
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &snapshot->policy.attachments[i];

		if (at->limiter == 0)
			continue;
		fprintf(out, "%s{", name);
		label(out, "limiter", snapshot->policy.limiters[at->limiter].name);
		fputc(',', out);
		label(out, "listener", snapshot->policy.listeners[at->listener].name);
		fprintf(out, "} %d\n", daemon->shedding[i]);
	}
}

/* Of listeners that evict alone. */
static void render_evicted(const struct snapshot *snapshot, const struct metrics_daemon *daemon,
			   FILE *out)
{
	const char *name = "stile_connections_evicted_total";

	head(out, name, "counter", "Idle connections closed in favour of their client's new one.");
	for (size_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		const struct stile_listener *listener = &snapshot->policy.listeners[slot];

		if (!*listener->name ||
		    (!(listener->places & STILE_PLACES_EVICTED) && !daemon->evicted[slot]))
			continue;
		fprintf(out, "%s{", name);
		label(out, "listener", listener->name);
		fprintf(out, "} %" PRIu64 "\n", daemon->evicted[slot]);
	}
}

static void render_daemon(const struct metrics_daemon *daemon, FILE *out)
{
	head(out, "stile_config_reloads_total", "counter", "Reloads of the configuration.");
	fprintf(out, "stile_config_reloads_total{result=\"ok\"} %" PRIu64 "\n", daemon->reloads_ok);
	fprintf(out, "stile_config_reloads_total{result=\"failed\"} %" PRIu64 "\n",
		daemon->reloads_failed);
	head(out, "stile_config_last_reload_successful", "gauge",
	     "Whether the configuration in force is the one that was last asked for.");
	fprintf(out, "stile_config_last_reload_successful %d\n", daemon->last_reload_ok);
}

void metrics_render(const struct snapshot *snapshot, const struct metrics_daemon *daemon, FILE *out)
{
	head(out, "stile_build_info", "gauge", "The version that answers here.");
	fprintf(out, "stile_build_info{version=\"%s\"} 1\n", STILE_VERSION);
	render_attached(snapshot, out);
	render_decisions(snapshot, out);
	render_limiters(snapshot, out);
	render_levels(snapshot, out);
	render_sessions(snapshot, out);
	render_connections(snapshot, out);
	render_queues(snapshot, out);
	metrics_proofs_render(snapshot, out);
	render_packets(snapshot, out);
	render_replies(snapshot, out);
	if (daemon)
		render_daemon(daemon, out);
	if (daemon)
		render_shedding(snapshot, daemon, out);
	if (daemon)
		render_evicted(snapshot, daemon, out);
}
