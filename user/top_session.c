/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each mode has its keys; what is run by them is told in the last line, or as a text over all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_page.h"
#include "top_screen.h"
#include "top_session.h"

#define BLOCK_FOR "10m"
#define PAGE 10

static const char help[] =
	"stile top: what is admitted and shed, read from the kernel; it works without a daemon.\n"
	"\n"
	"  q            quit\n"
	"  s, S         order the clients by the next, by the former column\n"
	"  /            show only clients whose address or limiter has this in it\n"
	"  up, down     select a client; also k and j\n"
	"  e, Enter     what would become of the selected client, as stile explain says it\n"
	"  b            block the selected client for a time, after a question\n"
	"  p            pause, and go on\n"
	"  Escape       leave a question or a text, the filter, the selection\n"
	"\n"
	"ADMITTED/S and SHED/S are of one limiter at one listener; the history is of SHED/S.\n"
	"QUEUE: connections that the service has not taken yet, and how many may wait.\n"
	"LEVEL: the service level, 255 at best.\n"
	"\n"
	"Any other key leads back.\n";

static void tell(struct top_session *session, const char *text)
{
	snprintf(session->bottom, sizeof(session->bottom), "%.*s", (int)strcspn(text, "\n"), text);
	session->view.bottom = session->bottom;
}

static void show_text(struct top_session *session, char *text)
{
	free(session->text);
	session->text = text;
	session->first_line = 0;
	session->mode = text ? TOP_TEXT : TOP_LIST;
	if (!text)
		tell(session, "it cannot be run");
}

static void move(struct top_session *session, int by)
{
	struct top_shown shown;
	size_t at;

	if (top_view_clients(&session->view, session->frame, &shown) < 0)
		return;
	if (shown.n) {
		at = shown.selected;
		if (at == shown.n)
			at = 0;
		else if (by < 0)
			at = at > (size_t)-by ? at - (size_t)-by : 0;
		else
			at = at + (size_t)by < shown.n ? at + (size_t)by : shown.n - 1;
		session->view.selecting = true;
		session->view.selected = session->frame->clients[shown.places[at]];
	}
	free(shown.places);
}

/* The selected one, or the first; false, and says so, where there is none. */
static bool find_subject(struct top_session *session)
{
	if (!session->view.selecting)
		move(session, 0);
	if (!session->view.selecting)
		tell(session, "there is no client to be selected");
	else if (!session->frame->snapshot->policy.limiters[session->view.selected.limiter].keyed)
		tell(session, "this limiter has one bucket for all: select a client of another");
	else
		return true;
	return false;
}

static void explain(struct top_session *session)
{
	char address[PREFIX_TEXT_SIZE];
	char *argv[] = { "stile",   "--instance", (char *)session->view.instance,
			 "explain", address,	  NULL };

	if (!find_subject(session))
		return;
	prefix_format_address(session->view.selected.key.address, address);
	show_text(session, session->say(argv));
}

static void ask_block(struct top_session *session)
{
	if (!find_subject(session))
		return;
	prefix_format(&session->view.selected.key, session->subject);
	snprintf(session->input, sizeof(session->input), "%s", BLOCK_FOR);
	session->mode = TOP_BLOCK;
}

static void block(struct top_session *session)
{
	char *argv[] = { "stile",
			 "--instance",
			 (char *)session->view.instance,
			 "block",
			 session->subject,
			 "--for",
			 session->input,
			 NULL };
	char *said = session->say(argv);

	session->mode = TOP_LIST;
	tell(session, said ? said : "it cannot be run");
	free(said);
}

static void escape(struct top_session *session)
{
	if (session->view.bottom)
		session->view.bottom = NULL;
	else if (*session->view.filter)
		session->view.filter[0] = '\0';
	else
		session->view.selecting = false;
}

static void key_in_list(struct top_session *session, int key)
{
	struct top_view *view = &session->view;

	if (key != TOP_KEY_ESCAPE)
		view->bottom = NULL;
	switch (key) {
	case 'q':
	case 'Q':
		session->quit = true;
		return;
	case '?':
	case 'h':
		show_text(session, strdup(help));
		return;
	case 's':
		view->sort = (view->sort + 1) % _TOP_SORT_MAX;
		return;
	case 'S':
		view->sort = (view->sort + _TOP_SORT_MAX - 1) % _TOP_SORT_MAX;
		return;
	case '/':
		session->mode = TOP_FILTER;
		return;
	case 'e':
	case TOP_KEY_ENTER:
		explain(session);
		return;
	case 'b':
		ask_block(session);
		return;
	case 'p':
	case ' ':
		view->paused = !view->paused;
		return;
	case 'k':
	case TOP_KEY_UP:
		move(session, -1);
		return;
	case 'j':
	case TOP_KEY_DOWN:
		move(session, 1);
		return;
	case TOP_KEY_PAGE_UP:
		move(session, -PAGE);
		return;
	case TOP_KEY_PAGE_DOWN:
		move(session, PAGE);
		return;
	case TOP_KEY_ESCAPE:
		escape(session);
		return;
	default:
		return;
	}
}

static void key_in_text(struct top_session *session, int key)
{
	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		session->first_line -= session->first_line ? 1 : 0;
		return;
	case TOP_KEY_DOWN:
	case 'j':
		session->first_line++;
		return;
	default:
		session->mode = TOP_LIST;
	}
}

/* Adds a character to what is typed, or takes the last one away. */
static void type(char *text, size_t size, int key)
{
	size_t n = strlen(text);

	if (key == TOP_KEY_ERASE && n)
		text[n - 1] = '\0';
	else if (key > ' ' && key < 127 && n + 1 < size)
		snprintf(text + n, size - n, "%c", key);
}

static void key_in_filter(struct top_session *session, int key)
{
	if (key == TOP_KEY_ESCAPE)
		session->view.filter[0] = '\0';
	if (key == TOP_KEY_ESCAPE || key == TOP_KEY_ENTER)
		session->mode = TOP_LIST;
	else
		type(session->view.filter, sizeof(session->view.filter), key);
}

static void key_in_block(struct top_session *session, int key)
{
	if (key == TOP_KEY_ENTER)
		block(session);
	else if (key == TOP_KEY_ESCAPE)
		session->mode = TOP_LIST;
	else
		type(session->input, sizeof(session->input), key);
}

void top_session_key(struct top_session *session, int key)
{
	static void (*const by_mode[])(struct top_session * session, int key) = {
		[TOP_LIST] = key_in_list,
		[TOP_TEXT] = key_in_text,
		[TOP_FILTER] = key_in_filter,
		[TOP_BLOCK] = key_in_block,
	};

	if (key == TOP_KEY_GONE)
		session->quit = true;
	else if (key != TOP_KEY_NONE)
		by_mode[session->mode](session, key);
}

/* The text from first_line on, which goes back where the end has been passed. */
static void text_lines(struct top_session *session, struct top_line *lines)
{
	const struct top_view *view = &session->view;
	const char *text = session->text;
	unsigned int n = 0;

	for (unsigned int skip = 0; skip < session->first_line; skip++) {
		const char *end = strchr(text, '\n');

		if (!end || !end[1]) {
			session->first_line = skip;
			break;
		}
		text = end + 1;
	}
	memset(lines, 0, view->lines * sizeof(*lines));
	while (*text && n < view->lines) {
		size_t length = strcspn(text, "\n");

		snprintf(lines[n].text, sizeof(lines[n].text), "%.*s", (int)length, text);
		top_page_cut(&lines[n++], view->columns);
		text += length + (text[length] == '\n' ? 1 : 0);
	}
}

static void ask(struct top_session *session)
{
	if (session->mode == TOP_FILTER)
		snprintf(session->bottom, sizeof(session->bottom),
			 "only what has this in it: %s_  (Enter, or Escape: all)",
			 session->view.filter);
	else
		snprintf(session->bottom, sizeof(session->bottom),
			 "block %s for: %s_  (Enter blocks, Escape does not)", session->subject,
			 session->input);
}

int top_session_lines(struct top_session *session, struct top_line *lines)
{
	struct top_view view = session->view;

	if (session->mode == TOP_TEXT) {
		text_lines(session, lines);
		return 0;
	}
	if (session->mode != TOP_LIST) {
		ask(session);
		view.bottom = session->bottom;
	}
	return top_lines(&view, session->frame, lines);
}

void top_session_release(struct top_session *session)
{
	free(session->text);
	session->text = NULL;
}
