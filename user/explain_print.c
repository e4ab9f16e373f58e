/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An explanation as text and as JSON. As text it has a line for every rule that was looked at, in
 * the order of the kernel side, and the verdict under them.
 */
#include <inttypes.h>
#include <string.h>

#include "explain_print.h"
#include "explain_told.h"
#include "labels.h"
#include "names.h"
#include "phrase.h"
#include "reading.h"
#include "table_print.h"
#include "util.h"

static void print_subject(const struct explain_subject *subject, FILE *out)
{
	const struct stile_policy *policy = &subject->snapshot->policy;
	const struct stile_listener *listener = &policy->listeners[subject->listener];
	char address[PREFIX_TEXT_SIZE];
	const char *separator = ", on ";

	fprintf(out, "%s at listener %s (%s)", prefix_format_address(subject->address, address),
		listener->name, policy_protocol_names[listener->protocol]);
	for (uint32_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		if (!(subject->interfaces & 1U << i))
			continue;
		fprintf(out, "%s%s", separator, policy->interfaces[i].name);
		separator = ", ";
	}
	fputs(":\n", out);
}

static void row(struct table_print *table, const char *rule, const char *result, const char *detail)
{
	table_print_cell(table, "  %s", rule);
	table_print_cell(table, "%s", result);
	table_print_cell(table, "%s", detail);
}

static void add_listed(const struct snapshot_verdict *verdict, const char *list,
		       struct table_print *table)
{
	char prefix[PREFIX_TEXT_SIZE], left[PHRASE_SIZE];

	table_print_cell(table, "  %s", list);
	table_print_cell(table, "yes");
	if (verdict->expires)
		table_print_cell(table, "by %s, for another %s",
				 prefix_format(&verdict->prefix, prefix),
				 phrase_duration(verdict->expires, left));
	else
		table_print_cell(table, "by %s", prefix_format(&verdict->prefix, prefix));
}

static void add_lists(const struct explain_subject *subject, const struct snapshot_verdict *verdict,
		      struct table_print *table)
{
	const struct stile_policy *policy = &subject->snapshot->policy;
	char prefix[PREFIX_TEXT_SIZE];

	if (verdict->reason == STILE_REASON_BLOCKED)
		return add_listed(verdict, "blocked", table);
	row(table, "blocked", "no", "");
	if (verdict->listed)
		return add_listed(verdict, "trusted", table);
	row(table, "trusted", "no", "");
	if (verdict->own_policy)
		row(table, "source", prefix_format(&verdict->prefix, prefix),
		    "its own policy instead of the listener's");
	else if (policy->listeners[subject->listener].has_sources)
		row(table, "source", "no", "the listener's policy");
}

static void add_judgement(const struct explain_subject *subject,
			  const struct snapshot_judgement *judgement, struct table_print *table)
{
	const struct stile_limiter *limiter =
		&subject->snapshot->policy.limiters[judgement->limiter];
	bool tokens = limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET;
	char limit[PHRASE_SIZE], wait[PHRASE_SIZE];

	table_print_cell(table, "  %s", limiter->name);
	table_print_cell(table, "%s", labels_decision[judgement->decision]);
	phrase_limit(limiter, limit);
	if (judgement->client.wait)
		table_print_cell(table, "%" PRIu64 " of %llu used (%s), room in %s",
				 judgement->client.used, tokens ? limiter->burst : limiter->limit,
				 limit, phrase_duration(judgement->client.wait, wait));
	else if (judgement->client.never)
		table_print_cell(table, "never room for an event that it judges %u times (%s)",
				 judgement->ahead + 1, limit);
	else
		table_print_cell(table, "%" PRIu64 " of %llu used (%s)%s", judgement->client.used,
				 tokens ? limiter->burst : limiter->limit, limit,
				 judgement->known ? "" : ", a new client");
	if (subject->snapshot->policy.attachments[judgement->attachment].new_sources)
		table_print_item(table, "for new sources");
}

/* What is explained: of a session that is known, nothing is asked any more. */
static const char *event_of(const struct explain_subject *subject,
			    const struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &subject->snapshot->policy;

	if (policy->listeners[subject->listener].protocol == STILE_PROTOCOL_TCP)
		return "connection";
	for (unsigned int i = 0; i < verdict->n_judges; i++) {
		if (policy->limiters[verdict->judges[i].limiter].unit != STILE_UNIT_DATAGRAMS)
			return "session";
	}
	return "datagram";
}

static void add_event(const struct explain_subject *subject, const struct snapshot_verdict *verdict,
		      struct table_print *table)
{
	if (strcmp(event_of(subject, verdict), "session") == 0)
		row(table, "session", "new",
		    "datagrams of one that was let in pass, of one that was refused wait");
}

/* Nothing is charged before. */
static void add_proof(const struct explain_subject *subject, struct table_print *table)
{
	if (snapshot_proves_now(subject->snapshot, subject->listener))
		row(table, "proof", "first",
		    "its SYN gets a SYN cookie, and it is judged when that comes back");
}

static void add_open(const struct explain_subject *subject, struct table_print *table)
{
	if (!snapshot_counts_connections(subject->snapshot, subject->listener))
		return;
	table_print_cell(table, "  open");
	table_print_cell(table, "%" PRIu64, subject->open);
	table_print_cell(table, "connections that it holds there now");
}

static void add_queue(const struct snapshot_queue_look *queue, struct table_print *table)
{
	if (!queue->looked)
		return;
	table_print_cell(table, "  accept queue");
	table_print_cell(table, "%s", queue->sheds ? "no room" : "room");
	table_print_cell(table,
			 "%" PRIu32 " of %" PRIu32 " wait, sheds from %" PRIu32
			 "; the client holds %" PRIu64 " and asked %" PRIu64 " times of late",
			 queue->length, queue->backlog, queue->sheds_from, queue->held,
			 queue->asked);
}

static void add_told(const struct explain_subject *subject, const struct snapshot_verdict *verdict,
		     struct table_print *table)
{
	const struct explain_told told =
		explain_told(&subject->snapshot->policy, subject->listener, verdict);

	if (verdict->verdict != STILE_VERDICT_REPLY)
		return;
	table_print_cell(table, "  told");
	table_print_cell(table, "%s",
			 told.language				? told.language
			 : verdict->reply == STILE_REPLY_COOKIE ? "close"
								: labels_reply[verdict->reply]);
	if (told.says_wait)
		table_print_cell(table, "to come back in %" PRIu64 " ms", told.wait);
	else
		table_print_cell(table, "no time to come back");
}

static void add_verdict(const struct snapshot_verdict *verdict, struct table_print *table)
{
	char wait[PHRASE_SIZE];

	table_print_cell(table, "  verdict");
	table_print_cell(table, "%s", labels_verdict[verdict->verdict]);
	if (verdict->wait)
		table_print_cell(table, "%s: %s; admitted in %s", labels_reason[verdict->reason],
				 labels_reason_text[verdict->reason],
				 phrase_duration(verdict->wait, wait));
	else
		table_print_cell(table, "%s: %s", labels_reason[verdict->reason],
				 labels_reason_text[verdict->reason]);
}

int explain_print(const struct explain_subject *subject, const struct snapshot_verdict *verdict,
		  FILE *out)
{
	static const struct table_print_column columns[] = { { NULL, false },
							     { NULL, false },
							     { NULL, false } };
	struct table_print table;
	int r;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	if (verdict->reason != STILE_REASON_DISABLED)
		add_lists(subject, verdict, &table);
	add_event(subject, verdict, &table);
	add_proof(subject, &table);
	for (unsigned int i = 0; i < verdict->n_judges; i++)
		add_judgement(subject, &verdict->judges[i], &table);
	add_open(subject, &table);
	add_queue(&verdict->queue, &table);
	add_told(subject, verdict, &table);
	add_verdict(verdict, &table);
	print_subject(subject, out);
	r = table_print_write(&table, out);
	table_print_release(&table);
	return r;
}

static json_t *interfaces_json(const struct explain_subject *subject)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < STILE_INTERFACES_MAX; i++) {
		if (subject->interfaces & 1U << i)
			json_array_append_new(
				names, json_string(subject->snapshot->policy.interfaces[i].name));
	}
	return names;
}

static json_t *judgement_json(const struct stile_policy *policy,
			      const struct snapshot_judgement *judgement)
{
	const struct snapshot_client *client = &judgement->client;
	const struct stile_limiter *limiter = &policy->limiters[judgement->limiter];
	bool tokens = limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET;

	return json_pack("{ss, ss, sb, sI, sI, sI, sI, so}", "limiter", limiter->name, "result",
			 labels_decision[judgement->decision], "known", judgement->known, "used",
			 (json_int_t)client->used, "of",
			 (json_int_t)(tokens ? limiter->burst : limiter->limit), "admitted",
			 (json_int_t)client->admitted, "refused", (json_int_t)client->refused,
			 "wait_seconds", reading_seconds(client->wait));
}

static json_t *judges_json(const struct explain_subject *subject,
			   const struct snapshot_verdict *verdict)
{
	json_t *judges = json_array();

	for (unsigned int i = 0; i < verdict->n_judges; i++)
		json_array_append_new(
			judges, judgement_json(&subject->snapshot->policy, &verdict->judges[i]));
	return judges;
}

/* The list's or the source's entry that decides, or null. */
static json_t *entry_json(const struct snapshot_verdict *verdict, bool is_it)
{
	char prefix[PREFIX_TEXT_SIZE];

	return is_it ? json_string(prefix_format(&verdict->prefix, prefix)) : json_null();
}

static json_t *refusal_json(const struct explain_subject *subject,
			    const struct snapshot_verdict *verdict)
{
	const struct stile_limiter *limiters = subject->snapshot->policy.limiters;

	if (verdict->refused_by < 0)
		return json_null();
	return json_string(limiters[verdict->judges[verdict->refused_by].limiter].name);
}

static json_t *number_or_null(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

/* When a client should come back, in the units that languages have, and whether it is told. */
static void add_told_json(const struct explain_subject *subject,
			  const struct snapshot_verdict *verdict, json_t *object)
{
	const struct explain_told told =
		explain_told(&subject->snapshot->policy, subject->listener, verdict);

	json_object_set_new(object, "language",
			    told.language ? json_string(told.language) : json_null());
	json_object_set_new(object, "retry_after", number_or_null((told.wait + 999) / 1000));
	json_object_set_new(object, "retry_after_ms", number_or_null(told.wait));
	json_object_set_new(object, "retry_after_told", json_boolean(told.says_wait));
}

static json_t *queue_json(const struct snapshot_queue_look *queue)
{
	if (!queue->looked)
		return json_null();
	return json_pack("{sI, sI, sI, sI, sI, sb}", "length", (json_int_t)queue->length, "backlog",
			 (json_int_t)queue->backlog, "sheds_from", (json_int_t)queue->sheds_from,
			 "held", (json_int_t)queue->held, "asked", (json_int_t)queue->asked,
			 "sheds", queue->sheds);
}

json_t *explain_json(const struct explain_subject *subject, const struct snapshot_verdict *verdict)
{
	const struct stile_listener *listener =
		&subject->snapshot->policy.listeners[subject->listener];
	bool blocked = verdict->reason == STILE_REASON_BLOCKED;
	const char *reply = verdict->verdict == STILE_VERDICT_REPLY ? labels_reply[verdict->reply]
								    : NULL;
	json_t *object = json_pack(
		"{ss, ss, ss, so, ss, ss, ss?, so, so, so, so, so, so, so, so, so}", "listener",
		listener->name, "protocol", policy_protocol_names[listener->protocol], "event",
		event_of(subject, verdict), "interfaces", interfaces_json(subject), "verdict",
		labels_verdict[verdict->verdict], "reason", labels_reason[verdict->reason], "reply",
		reply, "refused_by", refusal_json(subject, verdict), "blocked_by",
		entry_json(verdict, blocked), "trusted_by",
		entry_json(verdict, verdict->listed && !blocked), "source",
		entry_json(verdict, verdict->own_policy), "listed_seconds",
		verdict->expires ? reading_seconds(verdict->expires) : json_null(), "limiters",
		judges_json(subject, verdict), "wait_seconds", reading_seconds(verdict->wait),
		"open",
		snapshot_counts_connections(subject->snapshot, subject->listener)
			? json_integer((json_int_t)subject->open)
			: json_null(),
		"accept_queue", queue_json(&verdict->queue));

	if (object)
		json_object_set_new(
			object, "proof_first",
			json_boolean(snapshot_proves_now(subject->snapshot, subject->listener)));
	if (object)
		add_told_json(subject, verdict, object);
	return object;
}
