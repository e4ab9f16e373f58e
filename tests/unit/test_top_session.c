/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do, without a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "top_frames.h"
#include "top_screen.h"
#include "top_session.h"
#include "util.h"

/* The address of the client in that place. */
static char *client_at(const struct top_view *view, const struct top_frame *frame, size_t at)
{
	static char text[PREFIX_TEXT_SIZE];
	struct top_shown shown;

	strcpy(text, "none");
	if (top_view_clients(view, frame, &shown) == 0 && at < shown.n)
		(void)top_client_name(frame, &frame->clients[shown.places[at]], text);
	free(shown.places);
	return text;
}

static void test_order(void)
{
	struct top_frame *frame = second_frame(12);
	struct top_view view = view_of(80, LINES);

	CHECK_STR_EQ("most refused first", client_at(&view, frame, 0), "192.0.2.12");
	view.sort = TOP_BY_ADDRESS;
	CHECK_STR_EQ("by address", client_at(&view, frame, 0), "192.0.2.1");
	frame->clients[4].wait = SECOND;
	view.sort = TOP_BY_WAIT;
	CHECK_STR_EQ("the longest wait first", client_at(&view, frame, 0), "192.0.2.5");
	strcpy(view.filter, "2.1");
	CHECK_STR_EQ("filtered by address", client_at(&view, frame, 0), "192.0.2.12");
	CHECK_STR_EQ("four have that in it", client_at(&view, frame, 4), "none");
	strcpy(view.filter, "per-c");
	CHECK_STR_EQ("and by limiter", client_at(&view, frame, 0), "192.0.2.5");
	top_frame_free(frame);
}

/* More than are put in order: the first of all are still the first, from wherever they come. */
static void test_many(void)
{
	struct snapshot_client *clients = calloc(10 * TOP_CLIENTS, sizeof(*clients));
	struct top_view view = view_of(80, LINES);
	struct top_shown shown = { 0 };
	struct top_frame *frame;

	for (uint32_t i = 0; i < 10 * TOP_CLIENTS; i++) {
		clients[i].limiter = SLOT_PER_CLIENT;
		clients[i].live = true;
		clients[i].refused = (uint64_t)i * 7919 % (10 * TOP_CLIENTS); /* each once */
		memcpy(clients[i].key.address, &i, sizeof(i));
	}
	frame = top_frame_new(NULL, snapshot_at(1), clients, 10 * TOP_CLIENTS);
	view.sort = TOP_BY_REFUSED;
	CHECK_EQ("in order", top_view_clients(&view, frame, &shown), 0);
	CHECK_EQ("the first of them", shown.n, TOP_CLIENTS);
	CHECK_EQ("of all", shown.total, 10 * TOP_CLIENTS);
	for (size_t i = 0; i < shown.n; i++)
		CHECK_EQ("none is left out", frame->clients[shown.places[i]].refused,
			 10 * TOP_CLIENTS - 1 - i);
	free(shown.places);
	top_frame_free(frame);
}

/* What was run last, its words after one another. */
static char said[256];

static char *say(char *const argv[])
{
	size_t n = 0;

	for (; *argv; argv++)
		n += (size_t)snprintf(said + n, sizeof(said) - n, "%s%s", n ? " " : "", *argv);
	return strdup("it was done\nand more\n");
}

static void press(struct top_session *session, const char *keys)
{
	for (; *keys; keys++)
		top_session_key(session, *keys == '\n' ? TOP_KEY_ENTER : *keys);
}

static void test_keys(void)
{
	struct top_frame *frame = second_frame(3);
	struct top_session session = { .view = view_of(80, LINES), .frame = frame, .say = say };
	struct top_line lines[LINES];

	press(&session, "jjs");
	CHECK_EQ("the next order", session.view.sort, TOP_BY_ADMITTING);
	press(&session, "S/2.1\n");
	CHECK_STR_EQ("a filter", session.view.filter, "2.1");
	top_session_key(&session, TOP_KEY_ESCAPE);
	CHECK_STR_EQ("taken away", session.view.filter, "");
	press(&session, "e");
	CHECK_STR_EQ("the selected one is explained", said,
		     "stile --instance main explain 192.0.2.2");
	CHECK_EQ("drawn", top_session_lines(&session, lines), 0);
	CHECK_STR_EQ("in its words", lines[1].text, "and more");
	press(&session, "xb");
	top_session_key(&session, TOP_KEY_ERASE);
	top_session_key(&session, TOP_KEY_ERASE);
	press(&session, "5m\n");
	CHECK_STR_EQ("and blocked", said, "stile --instance main block 192.0.2.2 --for 15m");
	CHECK_EQ("drawn", top_session_lines(&session, lines), 0);
	CHECK_STR_EQ("which is answered", lines[LINES - 1].text, "it was done");
	press(&session, "?");
	CHECK_EQ("help", session.mode, TOP_TEXT);
	press(&session, "qpq");
	CHECK("paused", session.view.paused);
	CHECK("and left", session.quit);
	top_session_release(&session);
	top_frame_free(frame);
}

static void test_question_left(void)
{
	struct top_frame *frame = second_frame(1);
	struct top_session session = { .view = view_of(80, LINES), .frame = frame, .say = say };

	said[0] = '\0';
	press(&session, "b");
	top_session_key(&session, TOP_KEY_ESCAPE);
	CHECK_STR_EQ("Escape blocks nobody", said, "");
	frame->snapshot->policy.limiters[SLOT_PER_CLIENT].keyed = 0;
	press(&session, "b\n");
	CHECK_STR_EQ("nor can the bucket of all be blocked", said, "");
	top_session_release(&session);
	top_frame_free(frame);
}

static void test_terminal_gone(void)
{
	struct top_frame *frame = second_frame(1);
	struct top_session session = { .view = view_of(80, LINES), .frame = frame, .say = say };

	press(&session, "/q");
	CHECK("a filter with q in it ends nothing", !session.quit);
	top_session_key(&session, TOP_KEY_GONE);
	CHECK("a terminal that is gone does, whatever is asked", session.quit);
	top_session_release(&session);
	top_frame_free(frame);
}

CHECK_SUITE(top_session, { "order and filter", test_order }, { "many clients", test_many },
	    { "keys", test_keys }, { "a question that is left", test_question_left },
	    { "a terminal that is gone", test_terminal_gone });
