/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The status as text: a table for each thing that there is, and none for what there is not. Counts
 * of zero are left out where they would only hide the others.
 */
#include <inttypes.h>
#include <string.h>

#include <stile/version.h>

#include "labels.h"
#include "names.h"
#include "phrase.h"
#include "status.h"
#include "table_print.h"
#include "util.h"

static void add_name(const char *name, void *table)
{
	table_print_item(table, "%s", name);
}

static void add_limiters(const struct stile_policy *policy, const uint16_t *judges,
			 struct table_print *table)
{
	const char *newcomers = status_new_sources(policy, judges);

	status_each_limiter(policy, judges, STILE_JUDGES_MAX, add_name, table);
	if (newcomers)
		table_print_item(table, "%s (new ones)", newcomers);
}

int status_print_finish(struct table_print *table, FILE *out)
{
	int r = 0;

	if (table->n_cells || table->failed) {
		fputc('\n', out);
		r = table_print_write(table, out);
	}
	table_print_release(table);
	return r;
}

static void print_head(const struct status *status, FILE *out)
{
	const struct stile_policy *policy = &status->snapshot->policy;
	char since[sizeof("2000-01-01 00:00:00")] = "", uptime[PHRASE_SIZE];
	struct tm local;

	if (localtime_r(&status->since, &local))
		strftime(since, sizeof(since), "%F %T", &local);
	if (snapshot_is_unattended(status->snapshot))
		fprintf(out, "THE DAEMON HAS BEEN SILENT for %s: by the watchdog, %s\n",
			phrase_duration(status->snapshot->silence, uptime),
			policy->watchdog == STILE_WATCHDOG_PASS
				? "everything passes"
				: "what is over a limit is counted and let through");
	fprintf(out, "stile %s, instance %s: %s since %s (%s), generation %llu\n", STILE_VERSION,
		status->instance,
		policy->enabled ? "protecting" : "switched off by enabled: false, in place", since,
		phrase_duration(status->uptime, uptime), policy->generation);
}

/* The mode, unless nobody came to note it. */
static const char *attached_text(const struct snapshot_interface *interface)
{
	if (!interface->attached)
		return "no";
	return interface->mode == STILE_MODE_AUTO ? "yes" : policy_mode_names[interface->mode];
}

static int print_interfaces(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "INTERFACE", false },
		{ "ATTACHED", false },
		{ "PROGRAM", true },
		{ "LIMITER", false },
	};
	const struct stile_policy *policy = &status->snapshot->policy;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		const struct snapshot_interface *interface = &status->snapshot->interfaces[i];
		const char *edge = status_edge(policy, i);

		if (!*policy->interfaces[i].name)
			continue;
		table_print_cell(&table, "%s", policy->interfaces[i].name);
		table_print_cell(&table, "%s", attached_text(interface));
		if (interface->attached)
			table_print_cell(&table, "%" PRIu32, interface->program);
		else
			table_print_cell(&table, "-");
		table_print_cell(&table, "%s", edge ? edge : "-");
	}
	return status_print_finish(&table, out);
}

static void add_range(const struct snapshot_ports *ports, struct table_print *table)
{
	if (ports->first <= 1 && ports->last == UINT16_MAX)
		table_print_item(table, "all");
	else if (ports->first == ports->last)
		table_print_item(table, "%u", ports->first);
	else
		table_print_item(table, "%u-%u", ports->first, ports->last);
}

static bool same_place(const struct snapshot_ports *a, const struct snapshot_ports *b)
{
	return a->listener == b->listener && a->everywhere == b->everywhere &&
	       memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* One row: the runs of ports from @first on that are of one listener at one address. */
static size_t add_place(const struct status *status, size_t first, struct table_print *table)
{
	const struct snapshot_ports *ports = &status->ports[first];
	const struct stile_policy *policy = &status->snapshot->policy;
	const struct stile_listener *listener = &policy->listeners[ports->listener];
	char address[PREFIX_TEXT_SIZE];
	size_t i;

	table_print_cell(table, "%s", listener->name);
	table_print_cell(table, "%s", policy_protocol_names[listener->protocol]);
	table_print_cell(table, "%s",
			 ports->everywhere ? "every"
					   : prefix_format_address(ports->address, address));
	table_print_cell(table, "%s", "");
	for (i = first; i < status->n_ports && same_place(ports, &status->ports[i]); i++)
		add_range(&status->ports[i], table);
	table_print_cell(table, "%s", listener->judges[0] ? "" : "-");
	add_limiters(policy, listener->judges, table);
	return i;
}

static int print_listeners(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false }, { "PROTOCOL", false }, { "ADDRESS", false },
		{ "PORTS", false },    { "LIMITERS", false },
	};
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < status->n_ports;)
		i = add_place(status, i, &table);
	return status_print_finish(&table, out);
}

static int print_sources(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false },
		{ "SOURCE", false },
		{ "LIMITERS", false },
	};
	const struct stile_policy *policy = &status->snapshot->policy;
	char prefix[PREFIX_TEXT_SIZE];
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < status->n_sources; i++) {
		const struct snapshot_source *source = &status->sources[i];

		table_print_cell(&table, "%s", policy->listeners[source->listener].name);
		table_print_cell(&table, "%s", prefix_format(&source->prefix, prefix));
		table_print_cell(&table, "%s", source->policy.judges[0] ? "" : "none");
		add_limiters(policy, source->policy.judges, &table);
	}
	return status_print_finish(&table, out);
}

static void add_limiter(const struct status *status, uint32_t slot, struct table_print *table)
{
	const struct stile_limiter *limiter = &status->snapshot->policy.limiters[slot];
	const struct snapshot_limiter *counts = &status->snapshot->limiters[slot];
	char text[PHRASE_SIZE];

	table_print_cell(table, "%s", limiter->name);
	table_print_cell(table, "%s", phrase_limit(limiter, text));
	table_print_cell(table, "%s", policy_algorithm_names[limiter->algorithm]);
	table_print_cell(table, "%s", phrase_keys(limiter, text));
	table_print_cell(table, "%s", policy_action_names[limiter->action]);
	table_print_cell(table, "%" PRIu64 " of %u", counts->keys, limiter->max_keys);
	table_print_cell(table, "%s", policy_full_names[limiter->full]);
	table_print_cell(table, "%llu", counts->stats.evicted);
	table_print_cell(table, "%llu", counts->stats.full);
}

static int print_limiters(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LIMITER", false },	{ "LIMIT", false },  { "ALGORITHM", false },
		{ "CLIENT", false },	{ "ACTION", false }, { "KEYS", true },
		{ "WHEN-FULL", false }, { "EVICTED", true }, { "FULL", true },
	};
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
		if (*status->snapshot->policy.limiters[slot].name)
			add_limiter(status, slot, &table);
	}
	return status_print_finish(&table, out);
}

static int print_sessions(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "SESSIONS", true }, { "HELD", true },	    { "MAX", true },
		{ "EVICTED", true },  { "NOT-HELD", true },
	};
	const struct snapshot_sessions *sessions = &status->snapshot->sessions;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	if (status->snapshot->policy.flow_sets) {
		table_print_cell(&table, "%" PRIu64, sessions->open);
		table_print_cell(&table, "%" PRIu64, sessions->held);
		table_print_cell(&table, "%u", status->snapshot->policy.max_sessions);
		table_print_cell(&table, "%llu", sessions->stats.evicted);
		table_print_cell(&table, "%llu", sessions->stats.full);
	}
	return status_print_finish(&table, out);
}

static int print_decisions(const struct status *status, FILE *out)
{
	struct table_print_column columns[2 + _STILE_DECISION_MAX] = { { "LISTENER", false },
								       { "LIMITER", false } };
	const struct stile_policy *policy = &status->snapshot->policy;
	struct table_print table;

	for (size_t d = 0; d < _STILE_DECISION_MAX; d++)
		columns[2 + d] = (struct table_print_column){ labels_decision[d], true };
	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct stile_attachment *at = &policy->attachments[i];

		if (!at->limiter)
			continue;
		table_print_cell(&table, "%s", policy->listeners[at->listener].name);
		table_print_cell(&table, "%s", policy->limiters[at->limiter].name);
		for (size_t d = 0; d < _STILE_DECISION_MAX; d++)
			table_print_cell(&table, "%llu", status->snapshot->decisions[i].count[d]);
	}
	return status_print_finish(&table, out);
}

static void add_packets(const struct status *status, uint32_t slot, struct table_print *table)
{
	const struct stile_packets *packets = &status->snapshot->interfaces[slot].packets;

	for (size_t v = 0; v < _STILE_VERDICT_MAX; v++) {
		for (size_t r = 0; r < _STILE_REASON_MAX; r++) {
			if (!packets->count[v][r])
				continue;
			table_print_cell(table, "%s",
					 status->snapshot->policy.interfaces[slot].name);
			table_print_cell(table, "%s", labels_verdict[v]);
			table_print_cell(table, "%s", labels_reason[r]);
			table_print_cell(table, "%llu", packets->count[v][r]);
			table_print_cell(table, "%s", labels_reason_text[r]);
		}
	}
}

static int print_packets(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "INTERFACE", false }, { "VERDICT", false }, { "REASON", false },
		{ "PACKETS", true },	{ "", false },
	};
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		if (*status->snapshot->policy.interfaces[i].name)
			add_packets(status, i, &table);
	}
	return status_print_finish(&table, out);
}

static int print_replies(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "REPLY", false },
		{ "COUNT", true },
	};
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < _STILE_REPLY_MAX; i++) {
		if (!status->snapshot->replies.count[i])
			continue;
		table_print_cell(&table, "%s", labels_reply[i]);
		table_print_cell(&table, "%llu", status->snapshot->replies.count[i]);
	}
	return status_print_finish(&table, out);
}

static void add_list(const struct status *status, const char *list,
		     const struct snapshot_listed *listed, size_t n, struct table_print *table)
{
	char prefix[PREFIX_TEXT_SIZE], left[PHRASE_SIZE];

	for (size_t i = 0; i < n; i++) {
		uint64_t expires = listed[i].entry.expires;

		table_print_cell(table, "%s", list);
		table_print_cell(table, "%s", prefix_format(&listed[i].prefix, prefix));
		table_print_cell(table, "%s", listed[i].entry.by_hand ? "hand" : "file");
		table_print_cell(table, "%s",
				 expires ? phrase_duration(expires - status->snapshot->now, left)
					 : "-");
	}
}

static int print_lists(const struct status *status, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LIST", false },
		{ "PREFIX", false },
		{ "BY", false },
		{ "LEFT", true },
	};
	const struct snapshot *snapshot = status->snapshot;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	add_list(status, "blocked", snapshot->blocked, snapshot->n_blocked, &table);
	add_list(status, "trusted", snapshot->trusted, snapshot->n_trusted, &table);
	return status_print_finish(&table, out);
}

int status_print(const struct status *status, FILE *out)
{
	static int (*const parts[])(const struct status *status, FILE *out) = {
		print_interfaces,    print_listeners,
		status_print_load,   status_print_connections,
		status_print_queues, status_print_proofs,
		print_sources,	     print_limiters,
		print_sessions,	     print_lists,
		print_decisions,     print_packets,
		print_replies,
	};
	int r = 0;

	print_head(status, out);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++)
		r = parts[i](status, out);
	return r;
}
