/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stile clients: one row a client and limiter. Those whose bucket is as good as new are left out
 * unless asked for: what is left of them says little, least of all when it was written. By open
 * connections, whoever holds one is told of, a limiter's client or not.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "phrase.h"
#include "reading.h"
#include "table_print.h"
#include "util.h"

#define TOP 20

typedef int compare_function(const void *a, const void *b);

struct request {
	const char *limiter; /* NULL: all */
	compare_function *compare;
	size_t top; /* 0: all */
	bool all, json;
};

struct rows {
	struct snapshot_client *clients;
	size_t n, n_shown;
};

static int by_address(const void *a, const void *b)
{
	const struct snapshot_client *left = a, *right = b;
	int order;

	order = memcmp(left->key.address, right->key.address, sizeof(left->key.address));
	return order ? order : (int)left->limiter - (int)right->limiter;
}

static int highest_first(uint64_t left, uint64_t right, const void *a, const void *b)
{
	if (left != right)
		return left > right ? -1 : 1;
	return by_address(a, b);
}

static int by_refused(const void *a, const void *b)
{
	const struct snapshot_client *left = a, *right = b;

	return highest_first(left->refused, right->refused, a, b);
}

static int by_admitted(const void *a, const void *b)
{
	const struct snapshot_client *left = a, *right = b;

	return highest_first(left->admitted, right->admitted, a, b);
}

static int by_open(const void *a, const void *b)
{
	const struct snapshot_client *left = a, *right = b;

	return highest_first(left->open, right->open, a, b);
}

static int by_idle(const void *a, const void *b)
{
	const struct snapshot_client *left = a, *right = b;

	return highest_first(left->idle, right->idle, a, b);
}

static int by_wait(const void *a, const void *b)
{
	const struct snapshot_client *left = a, *right = b;

	return highest_first(left->wait, right->wait, a, b);
}

static const char *const sort_names[] = { "refused", "admitted", "open", "idle",
					  "wait",    "address",	 NULL };
static compare_function *const sort_functions[] = { by_refused, by_admitted, by_open,
						    by_idle,	by_wait,     by_address };

static int parse_sort(const struct command *command, const char *text, struct request *request)
{
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(sort_functions); i++) {
		if (strcmp(text, sort_names[i]) == 0) {
			request->compare = sort_functions[i];
			return COMMAND_DONE;
		}
	}
	nearest = diag_nearest(text, sort_names);
	if (nearest)
		return command_usage(command, "cannot sort by '%s', did you mean '%s'?", text,
				     nearest);
	return command_usage(
		command,
		"cannot sort by '%s', expected refused, admitted, open, idle, wait or address",
		text);
}

static int parse_top(const struct command *command, const char *text, struct request *request)
{
	char *end;
	unsigned long top;

	errno = 0;
	top = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		return command_usage(command, "expected a number of clients, got '%s'", text);
	request->top = top;
	return COMMAND_DONE;
}

static int parse_option(const struct command *command, int option, char **argv,
			struct request *request)
{
	switch (option) {
	case 'l':
		request->limiter = optarg;
		return COMMAND_DONE;
	case 's':
		return parse_sort(command, optarg, request);
	case 't':
		return parse_top(command, optarg, request);
	case 'a':
		request->all = true;
		return COMMAND_DONE;
	case 'j':
		request->json = true;
		return COMMAND_DONE;
	default:
		return command_bad_option(command, option, argv);
	}
}

static bool is_wanted(const struct request *request, const struct snapshot_client *client)
{
	return request->all || client->live || (request->compare == by_open && client->open);
}

/* Leaves the clients that were asked for, in order. */
static void arrange(const struct request *request, struct rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (is_wanted(request, &rows->clients[i]))
			rows->clients[n++] = rows->clients[i];
	}
	rows->n = n;
	rows->n_shown = request->top && request->top < n ? request->top : n;
	if (n)
		qsort(rows->clients, n, sizeof(*rows->clients), request->compare);
}

static const char *client_name(const struct snapshot *snapshot,
			       const struct snapshot_client *client, char text[PREFIX_TEXT_SIZE])
{
	if (client->limiter && !snapshot->policy.limiters[client->limiter].keyed)
		return "all";
	return prefix_format(&client->key, text);
}

static void print_open(const struct snapshot_client *client, struct table_print *table)
{
	if (client->open_unknown)
		table_print_cell(table, "?");
	else
		table_print_cell(table, "%" PRIu64, client->open);
}

/* One that only holds connections: nothing else is known of it. */
static void print_holder(const struct snapshot_client *client, struct table_print *table)
{
	char address[PREFIX_TEXT_SIZE];

	table_print_cell(table, "%s", prefix_format(&client->key, address));
	for (int i = 0; i < 3; i++)
		table_print_cell(table, "-");
	print_open(client, table);
	for (int i = 0; i < 2; i++)
		table_print_cell(table, "-");
}

static void print_client(const struct snapshot *snapshot, const struct snapshot_client *client,
			 struct table_print *table)
{
	char address[PREFIX_TEXT_SIZE], idle[PHRASE_SIZE], wait[PHRASE_SIZE];

	if (client->limiter == 0) {
		print_holder(client, table);
		return;
	}
	table_print_cell(table, "%s", client_name(snapshot, client, address));
	table_print_cell(table, "%s", snapshot->policy.limiters[client->limiter].name);
	table_print_cell(table, "%s%" PRIu64, client->admitted_exact ? "" : "~", client->admitted);
	table_print_cell(table, "%s%" PRIu64, client->refused_exact ? "" : "~", client->refused);
	print_open(client, table);
	/* The word that says when wraps around, but not while the bucket is live. */
	table_print_cell(table, "%s%s",
			 client->live ? "" : ">= ", phrase_duration(client->idle, idle));
	table_print_cell(table, "%s", client->wait ? phrase_duration(client->wait, wait) : "-");
}

static int print_text(const struct snapshot *snapshot, const struct rows *rows)
{
	static const struct table_print_column columns[] = {
		{ "ADDRESS", false }, { "LIMITER", false }, { "ADMITTED", true },
		{ "REFUSED", true },  { "OPEN", true },	    { "LAST-SEEN", true },
		{ "WAIT", true },
	};
	struct table_print table;
	int r;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < rows->n_shown; i++)
		print_client(snapshot, &rows->clients[i], &table);
	r = table_print_write(&table, stdout);
	table_print_release(&table);
	if (r < 0)
		return command_failed("list clients: %s", strerror(-r));
	printf("%zu of %zu\n", rows->n_shown, rows->n);
	return COMMAND_DONE;
}

/* null: the limiter counts no places. */
static json_t *places_json(const struct stile_limiter *limiter, uint32_t n)
{
	return limiter->algorithm == STILE_ALGORITHM_CONCURRENCY ? json_integer(n) : json_null();
}

/* null: it may hold some that could not be counted. */
static json_t *open_json(const struct snapshot_client *client)
{
	return client->open_unknown ? json_null() : json_integer((json_int_t)client->open);
}

static json_t *client_json(const struct snapshot *snapshot, const struct snapshot_client *client)
{
	const struct stile_limiter *limiter = &snapshot->policy.limiters[client->limiter];
	char address[PREFIX_TEXT_SIZE];

	return json_pack("{ss, ss?, sI, sI, sb, sI, sb, so, so, so, so, so, sb}", "address",
			 client_name(snapshot, client, address), "limiter",
			 client->limiter ? limiter->name : NULL, "used", (json_int_t)client->used,
			 "admitted", (json_int_t)client->admitted, "admitted_exact",
			 client->admitted_exact, "refused", (json_int_t)client->refused,
			 "refused_exact", client->refused_exact, "open", open_json(client),
			 "in_flight", places_json(limiter, client->in_flight), "waiting",
			 places_json(limiter, client->waiting), "idle_seconds",
			 reading_seconds(client->idle), "wait_seconds",
			 reading_seconds(client->wait), "live", client->live);
}

static int print_json(const struct snapshot *snapshot, const struct rows *rows)
{
	json_t *clients = json_array();

	for (size_t i = 0; clients && i < rows->n_shown; i++)
		reading_append(&clients, client_json(snapshot, &rows->clients[i]));
	return reading_print_json(json_pack("{so, sI, sI}", "clients", clients, "shown",
					    (json_int_t)rows->n_shown, "total",
					    (json_int_t)rows->n));
}

static int list_clients(const struct pins *pins, const struct request *request)
{
	autofree struct snapshot_client *clients = NULL;
	autosnapshot struct snapshot *snapshot = NULL;
	struct rows rows = { 0 };
	uint32_t limiter = 0;
	int r;

	r = reading_take(pins, &snapshot);
	if (r == COMMAND_DONE && request->limiter)
		r = reading_limiter(&snapshot->policy, request->limiter, &limiter);
	if (r != COMMAND_DONE)
		return r;
	r = snapshot_clients(pins, snapshot, limiter, &clients, &rows.n);
	if (r == 0)
		r = snapshot_holders_fill(pins, snapshot, request->compare == by_open && !limiter,
					  &clients, &rows.n);
	if (r < 0)
		return reading_failed(pins, r);
	rows.clients = clients;
	arrange(request, &rows);
	return request->json ? print_json(snapshot, &rows) : print_text(snapshot, &rows);
}

int cmd_clients(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "limiter", required_argument, NULL, 'l' },
		{ "sort", required_argument, NULL, 's' },
		{ "top", required_argument, NULL, 't' },
		{ "all", no_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct request request = { .compare = by_refused, .top = TOP };
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		r = parse_option(command, option, argv, &request);
		if (r != COMMAND_DONE)
			return r;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	return list_clients(pins, &request);
}
