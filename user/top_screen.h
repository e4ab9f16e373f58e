/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal that stile top draws on; the only user of ncurses. One at a time. */
#ifndef STILE_TOP_SCREEN_H
#define STILE_TOP_SCREEN_H

#include "top.h"

/* Beside these, a key is its character. */
enum top_key {
	TOP_KEY_NONE = -1, /* none came in time, or the size changed */
	TOP_KEY_ESCAPE = 27,
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_ENTER,
	TOP_KEY_ERASE,
	TOP_KEY_GONE, /* nobody is at the terminal any more */
};

/* NULL, or why it cannot be drawn on. */
const char *top_screen_open(void);
void top_screen_close(void); /* the terminal is as it was before */

/* Writes view->columns and lines, as far as they are used. */
void top_screen_size(struct top_view *view);

/* From the first line on; what is below is empty. */
void top_screen_draw(const struct top_line *lines, unsigned int n);

int top_screen_key(int timeout_ms);

#endif /* STILE_TOP_SCREEN_H */
