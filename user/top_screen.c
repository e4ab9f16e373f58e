/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Without colours bold and reverse are what is left; NO_COLOR in the environment asks for that, as
 * no-color.org has it.
 */
#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "top_screen.h"
#include "top_terminal.h"

#define ESCAPE_MS 100 /* how long the rest of a key may take to arrive */
#define LINES_MAX 500

enum pair { PAIR_ALARM = 1, PAIR_HEADING };

static SCREEN *screen;
static bool coloured;

static void begin_colours(void)
{
	const char *unwanted = getenv("NO_COLOR");

	coloured = !(unwanted && *unwanted) && has_colors();
	if (!coloured || start_color() == ERR)
		return;
	(void)use_default_colors(); /* a terminal without them has black and white */
	init_pair(PAIR_ALARM, COLOR_RED, -1);
	init_pair(PAIR_HEADING, COLOR_CYAN, -1);
}

const char *top_screen_open(void)
{
	const char *unfit = top_terminal_unfit();

	if (unfit)
		return unfit;
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return "it cannot be set up (TERM)";
	begin_colours();
	(void)cbreak();
	(void)noecho();
	(void)keypad(stdscr, TRUE);
	(void)curs_set(0); /* not every terminal can hide it */
	set_escdelay(ESCAPE_MS);
	return NULL;
}

void top_screen_close(void)
{
	(void)endwin();
	delscreen(screen);
	screen = NULL;
}

void top_screen_size(struct top_view *view)
{
	int lines, columns;

	getmaxyx(stdscr, lines, columns);
	view->columns = columns < TOP_COLUMNS_MAX ? (unsigned int)columns : TOP_COLUMNS_MAX;
	view->lines = lines < LINES_MAX ? (unsigned int)lines : LINES_MAX;
}

static attr_t attributes(enum top_style style)
{
	switch (style) {
	case TOP_HEADING:
		return coloured ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_HEADING) : A_BOLD;
	case TOP_ALARM:
		return coloured ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_ALARM) : A_BOLD;
	case TOP_SELECTED:
		return A_REVERSE;
	default:
		return A_NORMAL;
	}
}

void top_screen_draw(const struct top_line *lines, unsigned int n)
{
	(void)erase();
	for (unsigned int i = 0; i < n; i++) {
		(void)attrset((int)attributes(lines[i].style));
		(void)mvaddstr((int)i, 0,
			       lines[i].text); /* it fails in the last cell, and fills it */
	}
	(void)attrset(A_NORMAL);
	(void)refresh();
}

/* A terminal that was hung up has an answer at once, and always the same. */
static bool is_gone(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) == 1 && input.revents & (POLLHUP | POLLERR | POLLNVAL);
}

int top_screen_key(int timeout_ms)
{
	int key;

	timeout(timeout_ms);
	key = getch();
	if (key == ERR)
		return is_gone() ? TOP_KEY_GONE : TOP_KEY_NONE;
	switch (key) {
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_ENTER:
	case '\n':
	case '\r':
		return TOP_KEY_ENTER;
	case KEY_BACKSPACE:
	case '\b':
	case 127:
		return TOP_KEY_ERASE;
	default:
		return key > 255 ? TOP_KEY_NONE : key;
	}
}
