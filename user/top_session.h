/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do in stile top. It knows neither the terminal nor how frames come about. */
#ifndef STILE_TOP_SESSION_H
#define STILE_TOP_SESSION_H

#include "top.h"

enum top_mode {
	TOP_LIST,
	TOP_TEXT,   /* help or an explanation, over the list */
	TOP_FILTER, /* the filter is being typed */
	TOP_BLOCK,  /* for how long a client is blocked is being typed */
};

#define TOP_INPUT_SIZE 24

struct top_session {
	struct top_view view;
	const struct top_frame *frame; /* as it is shown */
	enum top_mode mode;
	bool quit;
	char *text;			/* TOP_TEXT: all of it */
	unsigned int first_line;	/* of it, at the top */
	char input[TOP_INPUT_SIZE];	/* TOP_BLOCK */
	char subject[PREFIX_TEXT_SIZE]; /* TOP_BLOCK: who */
	char bottom[TOP_TEXT_SIZE];
	char *(*say)(char *const argv[]); /* top_say() */
};

void top_session_key(struct top_session *session, int key);

/* What is to be drawn: @lines has room for view.lines. 0 or -ENOMEM. */
int top_session_lines(struct top_session *session, struct top_line *lines);

void top_session_release(struct top_session *session);

#endif /* STILE_TOP_SESSION_H */
