/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration in words: for every listener what each client may do there, and what the tables
 * take. Long lists are cut: whoever wrote them knows them.
 */
#include <inttypes.h>

#include "cmd_check.h"
#include "names.h"
#include "phrase.h"
#include "table_print.h"
#include "util.h"

#define ITEMS_MAX 8	 /* of a list within a line */
#define CELL_ITEMS_MAX 4 /* of a list within a table */
#define SOURCES_MAX 20	 /* rows of one listener */

/* The table while a listener's rows are added: its name and place stand in the first row only. */
struct rows {
	struct table_print table;
	const struct config_listener *listener;
	bool answers; /* some may be sent */
	bool begun;
	const char *clients; /* NULL: as in the row above */
};

static void add_place(struct rows *rows)
{
	const struct config_listener *listener = rows->listener;
	char text[PREFIX_TEXT_SIZE];
	size_t i;

	table_print_cell(&rows->table, "%s", policy_protocol_names[listener->protocol]);
	if (listener->n_addresses)
		table_print_cell(&rows->table, "%s", "");
	else
		table_print_cell(&rows->table, "every address");
	for (i = 0; i < listener->n_addresses && i < CELL_ITEMS_MAX; i++)
		table_print_item(&rows->table, "%s",
				 prefix_format(&listener->addresses[i].prefix, text));
	if (i < listener->n_addresses)
		table_print_item(&rows->table, "%zu more", listener->n_addresses - i);
	table_print_cell(&rows->table, "%s", listener->n_ports ? "" : "all");
	for (i = 0; i < listener->n_ports && i < CELL_ITEMS_MAX; i++) {
		const struct config_ports *ports = &listener->ports[i];

		if (ports->first == ports->last)
			table_print_item(&rows->table, "%u", ports->first);
		else
			table_print_item(&rows->table, "%u-%u", ports->first, ports->last);
	}
	if (i < listener->n_ports)
		table_print_item(&rows->table, "%zu more", listener->n_ports - i);
}

/* All but the last cell of a row. */
static void begin_row(struct rows *rows)
{
	if (rows->begun) {
		for (int i = 0; i < 4; i++)
			table_print_cell(&rows->table, "%s", "");
	} else {
		table_print_cell(&rows->table, "%s", rows->listener->name.text);
		add_place(rows);
	}
	table_print_cell(&rows->table, "%s", rows->clients ? rows->clients : "");
	rows->begun = true;
	rows->clients = NULL;
}

/* Whether it refuses in the listener's language; each fits its protocol. */
static bool speaks(const struct stile_limiter *limiter, const struct rows *rows)
{
	return limiter->action == STILE_ACTION_REJECT && rows->listener->language;
}

static const char *over_it(const struct stile_limiter *limiter, const struct rows *rows,
			   char text[PHRASE_SIZE])
{
	bool tcp = rows->listener->protocol == STILE_PROTOCOL_TCP;

	if (limiter->action == STILE_ACTION_COUNT)
		return "counted and let through";
	if (limiter->action == STILE_ACTION_DROP ||
	    (!tcp && !speaks(limiter, rows) && limiter->action != STILE_ACTION_RESET))
		return "drop";
	if (!rows->answers)
		return "drop (replies_per_second: 0)";
	if (!tcp && limiter->action == STILE_ACTION_RESET)
		return "ICMP port unreachable";
	if (limiter->action == STILE_ACTION_CLOSE)
		return "close";
	if (!speaks(limiter, rows))
		return "reset";
	snprintf(text, PHRASE_SIZE, "busy, in %s", policy_language_names[rows->listener->language]);
	return text;
}

static void add_judge(const struct stile_limiter *limiter, void *context)
{
	struct rows *rows = context;
	char limit[PHRASE_SIZE], clients[PHRASE_SIZE] = "all together", over[PHRASE_SIZE];

	begin_row(rows);
	if (limiter->keyed)
		snprintf(clients, sizeof(clients), "each IPv4 /%u, IPv6 /%u", limiter->ipv4_prefix,
			 limiter->ipv6_prefix);
	table_print_cell(&rows->table, "%s: %s for %s; over it: %s", limiter->name,
			 phrase_limit(limiter, limit), clients, over_it(limiter, rows, over));
}

static void add_judges(const struct check *check, struct rows *rows,
		       const uint16_t judges[STILE_JUDGES_MAX])
{
	const struct stile_limiter *newcomers = check_new_sources(check, judges);

	if (!judges[0]) {
		begin_row(rows);
		table_print_cell(&rows->table, "no limit");
	}
	check_each_judge(check, judges, add_judge, rows);
	if (newcomers) {
		rows->clients = "new ones of them";
		add_judge(newcomers, rows);
	}
}

static void add_edges(const struct check *check, struct rows *rows,
		      const struct stile_listener *listener)
{
	const struct stile_policy *kernel = &check->policy->kernel;
	char clients[sizeof("all, on  first") + sizeof(kernel->interfaces[0].name)];

	for (size_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		const uint16_t judges[STILE_JUDGES_MAX] = { listener->edges[i] };

		if (!listener->edges[i])
			continue;
		snprintf(clients, sizeof(clients), "all, on %s first", kernel->interfaces[i].name);
		rows->clients = clients;
		add_judges(check, rows, judges);
	}
}

static void add_queue(const struct config_queue *queue, struct rows *rows)
{
	if (queue->limit) {
		rows->clients = "all";
		begin_row(rows);
		table_print_cell(
			&rows->table,
			queue->in_percent
				? "accept queue %u%% full: who holds and asks most is shed"
				: "%u in the accept queue: who holds and asks most is shed",
			queue->limit);
	}
	if (queue->backlog) {
		begin_row(rows);
		table_print_cell(&rows->table,
				 queue->lowers ? "the service's backlog is made %u"
					       : "the service's backlog is raised to %u",
				 queue->backlog);
	}
}

static void add_listener(const struct check *check, struct rows *rows)
{
	const struct config_listener *in = rows->listener;
	const struct stile_listener *listener = check_listener(check, in->name.text);
	const struct policy_source *sources = check_sources(check, in);
	char text[PREFIX_TEXT_SIZE];
	size_t i;

	add_edges(check, rows, listener);
	rows->clients = in->n_sources ? "all others" : "all";
	add_judges(check, rows, listener->judges);
	for (i = 0; i < in->n_sources && i < SOURCES_MAX; i++) {
		rows->clients = prefix_format(&in->sources[i].prefix.prefix, text);
		add_judges(check, rows, sources[i].value.judges);
	}
	if (i < in->n_sources) {
		begin_row(rows);
		table_print_cell(&rows->table, "and %zu more sources", in->n_sources - i);
	}
	add_queue(&in->queue, rows);
	if (in->proves != STILE_PROVE_NEVER) {
		begin_row(rows);
		table_print_cell(&rows->table, "%s proves its source first, by a SYN cookie",
				 in->proves == STILE_PROVE_ALWAYS ? "each" : "in a flood, each");
	}
}

static int print_listeners(const struct check *check, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false }, { "PROTOCOL", false }, { "ADDRESSES", false },
		{ "PORTS", false },    { "CLIENTS", false },  { "MAY DO", false },
	};
	struct rows rows = { .answers = check->config->replies_per_second > 0 };
	int err = 0;

	table_print_init(&rows.table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < check->config->n_listeners; i++) {
		rows.listener = &check->config->listeners[i];
		rows.begun = false;
		add_listener(check, &rows);
	}
	if (check->config->n_listeners) {
		fputc('\n', out);
		err = table_print_write(&rows.table, out);
	}
	table_print_release(&rows.table);
	return err;
}

static const char *memory(uint64_t bytes, char text[PHRASE_SIZE])
{
	if (bytes < 1048576)
		snprintf(text, PHRASE_SIZE, "%" PRIu64 " KiB", (bytes + 1023) / 1024);
	else
		snprintf(text, PHRASE_SIZE, "%.1f MiB", (double)bytes / 1048576);
	return text;
}

static void add_memory(struct table_print *table, uint64_t bytes)
{
	char text[PHRASE_SIZE];

	table_print_cell(table, "%s", memory(bytes, text));
}

static const char *when_full(const struct stile_limiter *limiter)
{
	if (!limiter->keyed)
		return "";
	switch (limiter->full) {
	case STILE_FULL_ALLOW:
		return "a new client is not limited";
	case STILE_FULL_REJECT:
		return "a new client is refused";
	default:
		return "the one least worth keeping makes room";
	}
}

static int print_limiters(const struct check *check, FILE *out)
{
	static const struct table_print_column columns[] = {
		{ "LIMITER", false }, { "ALGORITHM", false }, { "CLIENTS", true },
		{ "MEMORY", true },   { "WHEN FULL", false },
	};
	struct table_print table;
	uint64_t sum = 0;
	int err = 0;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < check->config->n_limiters; i++) {
		const struct stile_limiter *limiter =
			check_limiter(check, check->config->limiters[i].name.text);
		uint64_t bytes = policy_table_bytes(limiter);

		table_print_cell(&table, "%s", limiter->name);
		table_print_cell(&table, "%s", policy_algorithm_names[limiter->algorithm]);
		table_print_cell(&table, "%u", limiter->max_keys);
		add_memory(&table, bytes);
		table_print_cell(&table, "%s", when_full(limiter));
		sum += bytes;
	}
	if (check->config->n_limiters > 1) {
		table_print_cell(&table, "total");
		for (int i = 0; i < 2; i++)
			table_print_cell(&table, "%s", "");
		add_memory(&table, sum);
		table_print_cell(&table, "%s", "");
	}
	if (table.n_cells) {
		fputc('\n', out);
		err = table_print_write(&table, out);
	}
	table_print_release(&table);
	return err;
}

static void add_prefixes(struct table_print *table, const char *name,
			 const struct config_prefix *prefixes, size_t n)
{
	char text[PREFIX_TEXT_SIZE];
	size_t i;

	table_print_cell(table, "%s", name);
	table_print_cell(table, "%s", n ? "" : "none");
	for (i = 0; i < n && i < ITEMS_MAX; i++)
		table_print_item(table, "%s", prefix_format(&prefixes[i].prefix, text));
	if (i < n)
		table_print_item(table, "%zu more", n - i);
}

static void add_watchdog(struct table_print *table, const struct config_watchdog *watchdog)
{
	char after[PHRASE_SIZE];

	if (watchdog->then == STILE_WATCHDOG_KEEP)
		return;
	table_print_cell(table, "watchdog");
	table_print_cell(table, "%s once the daemon has been silent for %s",
			 watchdog->then == STILE_WATCHDOG_PASS
				 ? "everything passes"
				 : "what is over a limit is counted and let through",
			 phrase_duration(watchdog->after, after));
}

static void add_sessions(struct table_print *table, const struct check *check)
{
	const struct stile_policy *policy = &check->policy->kernel;

	if (!policy->flow_sets)
		return;
	table_print_cell(table, "sessions");
	table_print_cell(table, "up to %u on udp, %.1f MiB", policy->max_sessions,
			 (double)policy_session_bytes(check->policy) / 1048576);
}

/* Only where there are any. */
static void add_agents(struct table_print *table, const struct config *config)
{
	size_t n = 0;

	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		if (!listener->level.agent_host)
			continue;
		if (n++ == 0) {
			table_print_cell(table, "agent-checks");
			table_print_cell(table, "%s", "");
		}
		if (n <= ITEMS_MAX)
			table_print_item(table, "%s at %s, port %u", listener->name.text,
					 listener->level.agent_host, listener->level.agent_port);
	}
	if (n > ITEMS_MAX)
		table_print_item(table, "%zu more", n - ITEMS_MAX);
}

static int print_settings(const struct check *check, FILE *out)
{
	static const struct table_print_column columns[] = { { NULL, false }, { "", false } };
	const struct config *config = check->config;
	char all[PHRASE_SIZE], each[PHRASE_SIZE];
	struct table_print table;
	int err;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	table_print_cell(&table, "interfaces");
	table_print_cell(&table, "%s",
			 config->n_interfaces ? "" : "those that carry a default route");
	for (size_t i = 0; i < config->n_interfaces; i++)
		table_print_item(&table, "%s (%s)", config->interfaces[i].name.text,
				 policy_mode_names[config->interfaces[i].mode]);
	add_prefixes(&table, "trusted", config->trusted, config->n_trusted);
	add_prefixes(&table, "blocked", config->blocked, config->n_blocked);
	table_print_cell(&table, "metrics");
	if (config->metrics_host)
		table_print_cell(&table, "%s, port %u", config->metrics_host, config->metrics_port);
	else
		table_print_cell(&table, "none");
	add_agents(&table, config);
	table_print_cell(&table, "on stop");
	table_print_cell(&table, config->keep_on_stop ? "protection stays in force" : "detach");
	table_print_cell(&table, "answers");
	if (config->replies_per_second)
		table_print_cell(&table, "up to %u a second", config->replies_per_second);
	else
		table_print_cell(&table, "none");
	add_watchdog(&table, &config->watchdog);
	add_sessions(&table, check);
	table_print_cell(&table, "memory");
	table_print_cell(&table, "%s for all maps, and %s for each CPU",
			 memory(policy_map_bytes(check->policy), all),
			 memory(policy_map_bytes_per_cpu(), each));
	err = table_print_write(&table, out);
	table_print_release(&table);
	return err;
}

int check_print_text(const struct check *check, FILE *out)
{
	int err;

	if (check->defaults)
		fputs("no configuration file: the safe defaults hold\n\n", out);
	else
		fprintf(out, "%s: no mistakes\n\n", check->diag->file);
	err = print_settings(check, out);
	if (!err)
		err = print_listeners(check, out);
	if (!err)
		err = print_limiters(check, out);
	return err;
}
