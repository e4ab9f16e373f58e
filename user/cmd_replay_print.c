/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The result of a replay, and what it cannot know. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd_replay.h"
#include "labels.h"
#include "reading.h"
#include "table_print.h"
#include "util.h"

static const char *const unknown[] = {
	"how clients would have gone on after another answer than the captured one",
	"which connections were open: limiters with algorithm: concurrency refuse nobody here",
	"how full accept queues were: accept_queue_limit refuses nobody",
	"which sources prove themselves: prove_sources is off, and every SYN counts",
	"which SYNs repeat one that was admitted, and are free: they are judged again",
};

static int by_refused(const void *a, const void *b)
{
	const struct replay_client *left = a, *right = b;

	if (left->refused != right->refused)
		return left->refused > right->refused ? -1 : 1;
	if (left->counted != right->counted)
		return left->counted > right->counted ? -1 : 1;
	if (left->admitted != right->admitted)
		return left->admitted > right->admitted ? -1 : 1;
	if (left->listener != right->listener)
		return left->listener < right->listener ? -1 : 1;
	return memcmp(left->address, right->address, sizeof(left->address));
}

static bool is_shown(const struct stile_policy *policy, size_t slot)
{
	const struct stile_attachment *attachment = &policy->attachments[slot];

	return attachment->limiter &&
	       policy->limiters[attachment->limiter].algorithm != STILE_ALGORITHM_CONCURRENCY;
}

static int print_limiters(const struct replay *replay, const struct stile_policy *policy)
{
	static const struct table_print_column columns[] = {
		{ "LISTENER", false }, { "LIMITER", false }, { "ALLOWED", true },
		{ "LIMITED", true },   { "COUNTED", true },  { "EXEMPT", true },
		{ "FULL", true },
	};
	struct table_print table;
	int r;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t slot = 1; slot < STILE_ATTACHMENTS_MAX; slot++) {
		const struct stile_attachment *attachment = &policy->attachments[slot];

		if (!is_shown(policy, slot))
			continue;
		table_print_cell(&table, "%s", policy->listeners[attachment->listener].name);
		table_print_cell(&table, "%s", policy->limiters[attachment->limiter].name);
		for (size_t i = 0; i < _STILE_DECISION_MAX; i++)
			table_print_cell(&table, "%llu",
					 (unsigned long long)replay->decisions[slot].count[i]);
	}
	r = table_print_write(&table, stdout);
	table_print_release(&table);
	return r;
}

static int print_clients(const struct replay *replay, const struct stile_policy *policy,
			 size_t n_shown)
{
	static const struct table_print_column columns[] = {
		{ "ADDRESS", false }, { "LISTENER", false }, { "ADMITTED", true },
		{ "COUNTED", true },  { "REFUSED", true },
	};
	char address[PREFIX_TEXT_SIZE];
	struct table_print table;
	int r;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < n_shown; i++) {
		const struct replay_client *client = &replay->clients[i];

		table_print_cell(&table, "%s", prefix_format_address(client->address, address));
		table_print_cell(&table, "%s", policy->listeners[client->listener].name);
		table_print_cell(&table, "%" PRIu64, client->admitted);
		table_print_cell(&table, "%" PRIu64, client->counted);
		table_print_cell(&table, "%" PRIu64, client->refused);
	}
	r = table_print_write(&table, stdout);
	table_print_release(&table);
	return r;
}

static void print_count(uint64_t count, const char *what)
{
	if (count)
		printf("%" PRIu64 " %s\n", count, what);
}

static void print_packets(const struct replay *replay)
{
	printf("%" PRIu64 " packets in %.3f s of the capture's time, %" PRIu64 " of them judged\n",
	       replay->packets, (double)(replay->last - replay->first) / 1e9, replay->judged);
	print_count(replay->cut, "are there only in part (snapshot length)");
	print_count(replay->outgoing, "were sent by the captured host: not judged");
	print_count(replay->elsewhere, "do not go to a --server: not judged");
	print_count(replay->reordered, "are earlier than the one before: judged at its time");
	print_count(replay->untold, "events of more clients than are kept: in no client's row");
	for (size_t verdict = 0; verdict < _STILE_VERDICT_MAX; verdict++) {
		for (size_t reason = 0; reason < _STILE_REASON_MAX; reason++) {
			uint64_t count = replay->verdicts.count[verdict][reason];

			if (count)
				printf("  %-6s %-14s %" PRIu64 "\n", labels_verdict[verdict],
				       labels_reason[reason], count);
		}
	}
}

static int print_text(const struct replay *replay, const struct stile_policy *policy,
		      size_t n_shown)
{
	int r;

	print_packets(replay);
	putchar('\n');
	r = print_limiters(replay, policy);
	putchar('\n');
	if (r == 0)
		r = print_clients(replay, policy, n_shown);
	if (r < 0)
		return command_failed("replay: %s", strerror(-r));
	printf("%zu of %zu\n\nA capture does not tell:\n", n_shown, replay->n_clients);
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		printf("- %s\n", unknown[i]);
	return COMMAND_DONE;
}

static json_t *limiters_json(const struct replay *replay, const struct stile_policy *policy)
{
	json_t *limiters = json_array();

	for (size_t slot = 1; limiters && slot < STILE_ATTACHMENTS_MAX; slot++) {
		const struct stile_attachment *attachment = &policy->attachments[slot];
		json_t *row;

		if (!is_shown(policy, slot))
			continue;
		row = json_pack("{ss, ss}", "listener",
				policy->listeners[attachment->listener].name, "limiter",
				policy->limiters[attachment->limiter].name);
		for (size_t i = 0; row && i < _STILE_DECISION_MAX; i++)
			(void)json_object_set_new(
				row, labels_decision[i],
				json_integer((json_int_t)replay->decisions[slot].count[i]));
		reading_append(&limiters, row);
	}
	return limiters;
}

static json_t *clients_json(const struct replay *replay, const struct stile_policy *policy,
			    size_t n_shown)
{
	char address[PREFIX_TEXT_SIZE];
	json_t *clients = json_array();

	for (size_t i = 0; clients && i < n_shown; i++) {
		const struct replay_client *client = &replay->clients[i];

		reading_append(&clients,
			       json_pack("{ss, ss, sI, sI, sI}", "address",
					 prefix_format_address(client->address, address),
					 "listener", policy->listeners[client->listener].name,
					 "admitted", (json_int_t)client->admitted, "counted",
					 (json_int_t)client->counted, "refused",
					 (json_int_t)client->refused));
	}
	return clients;
}

static json_t *verdicts_json(const struct replay *replay)
{
	json_t *verdicts = json_array();

	for (size_t verdict = 0; verdict < _STILE_VERDICT_MAX; verdict++) {
		for (size_t reason = 0; verdicts && reason < _STILE_REASON_MAX; reason++) {
			uint64_t count = replay->verdicts.count[verdict][reason];

			if (count)
				reading_append(&verdicts, json_pack("{ss, ss, sI}", "verdict",
								    labels_verdict[verdict],
								    "reason", labels_reason[reason],
								    "packets", (json_int_t)count));
		}
	}
	return verdicts;
}

static json_t *unknown_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < ARRAY_SIZE(unknown); i++)
		reading_append(&list, json_string(unknown[i]));
	return list;
}

static int print_json(const struct replay *replay, const struct stile_policy *policy,
		      size_t n_shown)
{
	return reading_print_json(json_pack(
		"{sI, sI, so, sI, sI, sI, sI, sI, so, so, so, sI, so}", "packets",
		(json_int_t)replay->packets, "judged", (json_int_t)replay->judged, "seconds",
		reading_seconds(replay->last - replay->first), "cut", (json_int_t)replay->cut,
		"outgoing", (json_int_t)replay->outgoing, "elsewhere",
		(json_int_t)replay->elsewhere, "reordered", (json_int_t)replay->reordered, "untold",
		(json_int_t)replay->untold, "verdicts", verdicts_json(replay), "limiters",
		limiters_json(replay, policy), "clients", clients_json(replay, policy, n_shown),
		"total", (json_int_t)replay->n_clients, "not_known", unknown_json()));
}

int replay_print(const struct replay_request *request, struct replay *replay,
		 const struct policy *policy)
{
	size_t n = replay->n_clients;

	if (n)
		qsort(replay->clients, n, sizeof(*replay->clients), by_refused);
	if (request->top && request->top < n)
		n = request->top;
	return request->json ? print_json(replay, &policy->kernel, n)
			     : print_text(replay, &policy->kernel, n);
}
