/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame as lines of text. Eighty columns are enough; what a wider terminal has more goes to
 * names and to the history, and what a higher one has more to clients.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "names.h"
#include "phrase.h"
#include "top_page.h"
#include "util.h"

#define INTERFACES_SHOWN 3
#define NAME_COLUMNS_MAX 31
#define FLOWS_MIN 3

/* What is wider than the least that is shown. */
static unsigned int spare_columns(const struct top_view *view)
{
	return view->columns > TOP_COLUMNS_MIN ? view->columns - TOP_COLUMNS_MIN : 0;
}

static unsigned int at_most(unsigned int n, unsigned int most)
{
	return n < most ? n : most;
}

static const char *state_of(const struct snapshot *snapshot)
{
	if (!snapshot->policy.enabled)
		return "switched off";
	if (!snapshot_is_unattended(snapshot))
		return "protecting";
	return snapshot->policy.watchdog == STILE_WATCHDOG_PASS ? "LETTING ALL PASS"
								: "ONLY COUNTING";
}

static void add_head(const struct top_view *view, const struct top_frame *frame,
		     struct top_page *page)
{
	const struct snapshot *snapshot = frame->snapshot;
	bool silent = snapshot->silence > TOP_SILENT_NS;
	struct top_line *line = top_page_line(page, silent ? TOP_ALARM : TOP_HEADING);
	char span[PHRASE_SIZE];

	snprintf(line->text, sizeof(line->text), "stile %s: %s, generation %llu, %s%s%s",
		 view->instance, state_of(snapshot), snapshot->policy.generation,
		 silent ? "THE DAEMON IS SILENT for " : "daemon alive",
		 silent ? phrase_duration(snapshot->silence, span) : "",
		 view->paused ? ", PAUSED" : "");
}

static const char *mode_text(const struct snapshot_interface *interface)
{
	if (!interface->attached)
		return "NOT ATTACHED";
	return interface->mode == STILE_MODE_AUTO ? "attached" : policy_mode_names[interface->mode];
}

/* A rate; a dash before there is a second snapshot. */
static const char *rate_text(const struct top_frame *frame, double rate, char text[TOP_NUMBER_SIZE])
{
	return frame->seconds > 0 ? top_number(rate, text) : "-";
}

static void add_interface(const struct top_frame *frame, const struct top_interface *interface,
			  struct top_page *page)
{
	static const struct top_column columns[] = {
		{ "", 15, false }, { "", 12, false }, { "", 15, false },
		{ "", 15, false }, { "", 15, false },
	};
	const struct snapshot_interface *of = &frame->snapshot->interfaces[interface->slot];
	struct top_row row = { top_page_line(page, of->attached ? TOP_PLAIN : TOP_ALARM), columns,
			       0 };
	char number[TOP_NUMBER_SIZE];

	top_row_cell(&row, "%s", interface->name);
	top_row_cell(&row, "%s", mode_text(of));
	for (size_t v = 0; v < _STILE_VERDICT_MAX; v++)
		top_row_cell(&row, "%s %s/s", labels_verdict[v],
			     rate_text(frame, interface->packets[v], number));
}

static void add_interfaces(const struct top_frame *frame, struct top_page *page)
{
	size_t n = frame->n_interfaces;
	size_t shown = n > INTERFACES_SHOWN ? INTERFACES_SHOWN - 1 : n;

	for (size_t i = 0; i < shown; i++)
		add_interface(frame, &frame->interfaces[i], page);
	if (shown < n)
		snprintf(top_page_line(page, TOP_PLAIN)->text, TOP_TEXT_SIZE,
			 "and %zu more interfaces", n - shown);
}

static void add_proofs(const struct top_frame *frame, struct top_page *page)
{
	const struct snapshot *snapshot = frame->snapshot;
	struct top_line *line = NULL;

	for (uint32_t slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		size_t length = line ? strlen(line->text) : 0;

		if (!snapshot_proves(snapshot, slot))
			continue;
		line = line ? line : top_page_line(page, TOP_PLAIN);
		snprintf(line->text + length, sizeof(line->text) - length, "%s%s %s",
			 length ? ", " : "sources are proven: ",
			 snapshot->policy.listeners[slot].name,
			 snapshot_proves_now(snapshot, slot) ? "now" : "not now");
	}
}

static void add_headings(const struct top_column *columns, size_t n, struct top_page *page)
{
	struct top_row row = { top_page_line(page, TOP_HEADING), columns, 0 };

	for (size_t i = 0; i < n; i++)
		top_row_cell(&row, "%s", columns[i].heading);
}

static void add_load(const struct top_frame *frame, const struct top_flow *flow,
		     struct top_row *row)
{
	const struct snapshot_queue *queue = &frame->snapshot->queues[flow->slot];
	int level = snapshot_level(frame->snapshot, flow->slot);
	char open[TOP_NUMBER_SIZE], length[TOP_NUMBER_SIZE], backlog[TOP_NUMBER_SIZE];

	if (!flow->first)
		return;
	if (snapshot_counts_connections(frame->snapshot, flow->slot))
		top_row_cell(row, "%s",
			     top_count(frame->snapshot->connections[flow->slot].open, open));
	else
		top_row_cell(row, "-");
	if (queue->sockets)
		top_row_cell(row, "%s/%s", top_count(queue->length, length),
			     top_count(queue->backlog, backlog));
	else
		top_row_cell(row, "-");
	if (level < 0)
		top_row_cell(row, "-");
	else
		top_row_cell(row, "%d", level);
}

static void add_flow(const struct top_view *view, const struct top_frame *frame, size_t i,
		     const struct top_column *columns, struct top_page *page)
{
	const struct top_flow *flow = &frame->flows[i];
	struct top_row row = { top_page_line(page, flow->rate.shed > 0 ? TOP_ALARM : TOP_PLAIN),
			       columns, 0 };
	char number[TOP_NUMBER_SIZE], spark[TOP_TEXT_SIZE];

	top_row_cell(&row, "%s", flow->first ? flow->listener : "");
	top_row_cell(&row, "%s", flow->limiter ? flow->limiter : "-");
	top_row_cell(&row, "%s",
		     flow->limiter ? rate_text(frame, flow->rate.admitted, number) : "-");
	top_row_cell(&row, "%s", flow->limiter ? rate_text(frame, flow->rate.shed, number) : "-");
	top_row_raw(&row, top_spark(flow, columns[4].columns, view->unicode, spark));
	add_load(frame, flow, &row);
}

/* All of them, or as many as leave half of the room to the clients. */
static void add_flows(const struct top_view *view, const struct top_frame *frame,
		      struct top_page *page)
{
	unsigned int spare = spare_columns(view), names = at_most(spare / 4, NAME_COLUMNS_MAX - 14);
	const struct top_column columns[] = {
		{ "LISTENER", 14 + names, false },
		{ "LIMITER", 14 + names, false },
		{ "ADMITTED/S", 10, true },
		{ "SHED/S", 6, true },
		{ "SHED", 10 + at_most(spare - 2 * names, TOP_HISTORY - 10), false },
		{ "OPEN", 5, true },
		{ "QUEUE", 9, true },
		{ "LEVEL", 5, true },
	};
	size_t most = top_page_room(page) / 2 > FLOWS_MIN + 2 ? top_page_room(page) / 2 - 2
							      : FLOWS_MIN;
	size_t shown = frame->n_flows > most ? most - 1 : frame->n_flows;

	add_headings(columns, ARRAY_SIZE(columns), page);
	for (size_t i = 0; i < shown; i++)
		add_flow(view, frame, i, columns, page);
	if (shown < frame->n_flows)
		snprintf(top_page_line(page, TOP_PLAIN)->text, TOP_TEXT_SIZE,
			 "and %zu more; stile status lists them", frame->n_flows - shown);
}

/* What the clients below it are. */
static void add_choice(const struct top_view *view, const struct top_shown *shown,
		       struct top_page *page)
{
	struct top_line *line;

	top_page_line(page, TOP_PLAIN);
	line = top_page_line(page, TOP_PLAIN);
	snprintf(line->text, sizeof(line->text), "%zu client%s by %s%s%.*s%s", shown->total,
		 shown->total == 1 ? "," : "s,", top_sort_names[view->sort],
		 *view->filter ? ", only those with '" : "", TOP_FILTER_SIZE, view->filter,
		 *view->filter ? "'" : "");
}

static void add_client(const struct top_frame *frame, size_t place,
		       const struct top_column *columns, struct top_line *line)
{
	const struct snapshot_client *client = &frame->clients[place];
	const struct top_rate *rate = &frame->rates[place];
	struct top_row row = { line, columns, 0 };
	char text[PREFIX_TEXT_SIZE], number[TOP_NUMBER_SIZE];

	top_row_cell(&row, "%s", top_client_name(frame, client, text));
	top_row_cell(&row, "%s", frame->snapshot->policy.limiters[client->limiter].name);
	top_row_cell(&row, "%s", rate_text(frame, rate->admitted, number));
	top_row_cell(&row, "%s", rate_text(frame, rate->shed, number));
	top_row_cell(&row, "%s", top_count(client->admitted, number));
	top_row_cell(&row, "%s", top_count(client->refused, number));
	top_row_cell(&row, "%s", client->open_unknown ? "?" : top_count(client->open, number));
	top_row_cell(&row, "%s", client->wait ? top_span(client->wait, number) : "-");
}

/* As many as there is room for, the selected one among them. */
static void add_clients(const struct top_view *view, const struct top_frame *frame,
			const struct top_shown *shown, struct top_page *page)
{
	unsigned int spare = spare_columns(view);
	const struct top_column columns[] = {
		{ "CLIENT", 23 + at_most(spare / 2, 20), false },
		{ "LIMITER", 13 + at_most(spare / 2, NAME_COLUMNS_MAX - 13), false },
		{ "ADM/S", 5, true },
		{ "REF/S", 5, true },
		{ "ADMITTED", 8, true },
		{ "REFUSED", 7, true },
		{ "OPEN", 5, true },
		{ "WAIT", 7, true },
	};
	size_t room, first;

	add_choice(view, shown, page);
	add_headings(columns, ARRAY_SIZE(columns), page);
	room = top_page_room(page);
	first = shown->selected < shown->n && shown->selected >= room && room
			? shown->selected - room + 1
			: 0;
	for (size_t i = first; i < shown->n && top_page_room(page); i++)
		add_client(frame, shown->places[i], columns,
			   top_page_line(page, i == shown->selected ? TOP_SELECTED : TOP_PLAIN));
	if (shown->n == 0)
		snprintf(top_page_line(page, TOP_PLAIN)->text, TOP_TEXT_SIZE,
			 frame->n_clients ? "no client is like that"
					  : "no client has anything charged to it");
}

static void add_bottom(const struct top_view *view, struct top_line *line)
{
	const char *text = view->bottom;

	if (!text)
		text = view->lost ? view->lost
				  : "q quit  ? help  s sort  / filter  up, down select  e explain  "
				    "b block  p pause";
	line->style = view->bottom || view->lost ? TOP_ALARM : TOP_HEADING;
	snprintf(line->text, sizeof(line->text), "%s", text);
}

int top_lines(const struct top_view *view, const struct top_frame *frame, struct top_line *lines)
{
	struct top_page page = { .lines = lines,
				 .max = view->lines - (view->interactive && view->lines ? 1 : 0),
				 .columns = view->columns };
	struct top_shown shown;
	int r;

	r = top_view_clients(view, frame, &shown);
	if (r < 0)
		return r;
	memset(lines, 0, view->lines * sizeof(*lines));
	add_head(view, frame, &page);
	add_interfaces(frame, &page);
	add_proofs(frame, &page);
	top_page_line(&page, TOP_PLAIN);
	add_flows(view, frame, &page);
	add_clients(view, frame, &shown, &page);
	free(shown.places);
	if (view->interactive && view->lines)
		add_bottom(view, &lines[view->lines - 1]);
	for (unsigned int i = 0; i < view->lines; i++)
		top_page_cut(&lines[i], view->columns);
	return 0;
}
