/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames as lines of text, down to a column and up to every name and number there can be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "top_frames.h"
#include "util.h"

static bool has_line(const struct top_line *lines, unsigned int n, const char *wanted)
{
	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(lines[i].text, wanted) == 0)
			return true;
	}
	printf("no line is: %s\n", wanted);
	return false;
}

static void test_small_screen(void)
{
	struct top_frame *frame = second_frame(2);
	struct top_view view = view_of(80, LINES);
	struct top_line lines[LINES];

	CHECK_EQ("rendered", top_lines(&view, frame, lines), 0);
	CHECK_STR_EQ("the first line", lines[0].text,
		     "stile main: protecting, generation 3, daemon alive");
	CHECK_STR_EQ("the interface", lines[1].text,
		     "eth0            native       pass 0/s        drop 0/s        reply 0/s");
	CHECK("the limiter", has_line(lines, LINES,
				      "web            per-client             10    150          # "
				      "    0         -     -"));
	CHECK_STR_EQ("the one most refused is the first client", lines[8].text,
		     "192.0.2.2               per-client      4.0    60       10     140     0"
		     "       -");
	CHECK_STR_EQ("the keys", lines[LINES - 1].text,
		     "q quit  ? help  s sort  / filter  up, down select  e explain  b block  "
		     "p pause");
	top_frame_free(frame);
}

static void test_daemon_silent(void)
{
	struct top_frame *frame = second_frame(1);
	struct top_view view = view_of(80, LINES);
	struct top_line lines[LINES];

	frame->snapshot->silence = 12 * SECOND;
	CHECK_EQ("rendered", top_lines(&view, frame, lines), 0);
	CHECK_STR_EQ("the first line says it", lines[0].text,
		     "stile main: protecting, generation 3, THE DAEMON IS SILENT for 12.0 s");
	CHECK_EQ("and cannot be overlooked", lines[0].style, TOP_ALARM);
	top_frame_free(frame);
}

static unsigned int columns_of(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0U) != 0x80U ? 1 : 0;
	return n;
}

/* Names as long as they can be, every slot taken, numbers past all measure. */
static struct top_frame *absurd_frame(void)
{
	struct snapshot *snapshot = snapshot_at(1), *after = snapshot_at(2);
	struct snapshot_client *clients = clients_with(200, UINT64_MAX / 400, UINT64_MAX / 300);
	struct top_frame *before, *frame;

	for (size_t i = 0; i < STILE_INTERFACES_MAX; i++)
		memset(after->policy.interfaces[i].name, 'i', 15);
	for (size_t i = 1; i < STILE_LISTENERS_MAX; i++) {
		memset(after->policy.listeners[i].name, 'l', STILE_NAME_SIZE - 1);
		after->connections[i].open = UINT64_MAX;
		after->queues[i] = (struct snapshot_queue){ 1, UINT64_MAX, UINT64_MAX, 1, 1, 0 };
	}
	memset(after->policy.limiters[1].name, '\xff', STILE_NAME_SIZE - 1);
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		after->policy.attachments[i] =
			(struct stile_attachment){ 1, (uint16_t)(1 + i % (STILE_LISTENERS_MAX - 1)),
						   0, 0, 0 };
		after->decisions[i].count[STILE_DECISION_LIMITED] = UINT64_MAX;
	}
	for (size_t i = 0; i < 200; i++) {
		clients[i].wait = UINT64_MAX;
		memset(clients[i].key.address, 0xfe, sizeof(clients[i].key.address));
		clients[i].key.address[15] = (uint8_t)i;
		clients[i].key.bits = 128;
	}
	before = top_frame_new(NULL, snapshot, clients_with(0, 0, 0), 0);
	frame = top_frame_new(before, after, clients, 200);
	top_frame_free(before);
	return frame;
}

static void test_absurd(void)
{
	static const struct {
		const char *what;
		unsigned int columns, lines;
	} rows[] = {
		{ "80x24", 80, 24 },	  { "120x40", 120, 40 }, { "the widest", 240, 200 },
		{ "a small one", 20, 5 }, { "one line", 80, 1 }, { "one column", 1, 1 },
	};
	struct top_frame *frame = absurd_frame();
	struct top_line lines[200];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct top_view view = view_of(rows[i].columns, rows[i].lines);

		view.unicode = true;
		view.selecting = true;
		view.selected = frame->clients[150];
		CHECK_EQ(rows[i].what, top_lines(&view, frame, lines), 0);
		for (unsigned int n = 0; n < rows[i].lines; n++)
			CHECK("no line is too wide", columns_of(lines[n].text) <= rows[i].columns);
	}
	top_frame_free(frame);
}

static void test_no_listeners_left_out(void)
{
	struct top_frame *frame = second_frame(40);
	struct top_view view = view_of(120, 40);
	struct top_line lines[40];
	unsigned int n = 0;

	CHECK_EQ("rendered", top_lines(&view, frame, lines), 0);
	for (unsigned int i = 0; i < 40; i++)
		n += strncmp(lines[i].text, "192.0.2.", strlen("192.0.2.")) == 0 ? 1 : 0;
	CHECK_EQ("every line below is a client's", n, 40 - 8 - 1);
	top_frame_free(frame);
}

CHECK_SUITE(top_lines, { "80x24", test_small_screen }, { "a silent daemon", test_daemon_silent },
	    { "absurd numbers and names", test_absurd },
	    { "a screen full of clients", test_no_listeners_left_out });
