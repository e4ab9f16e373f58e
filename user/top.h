/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stile top shows: differences of two snapshots (top_frame.c), in order (top_view.c), as lines
 * of text (top_lines.c). All of that is pure; the terminal is top_screen.h's.
 */
#ifndef STILE_TOP_H
#define STILE_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "snapshot.h"

#define TOP_HISTORY 60				/* intervals that are remembered */
#define TOP_COLUMNS_MIN 80			/* narrower terminals see the left part */
#define TOP_COLUMNS_MAX 240			/* the right part of wider ones stays empty */
#define TOP_TEXT_SIZE (TOP_COLUMNS_MAX * 3 + 1) /* a column of a history is three bytes */
#define TOP_FILTER_SIZE 64
#define TOP_CLIENTS 1024	    /* that are put in order */
#define TOP_SILENT_NS 3000000000ULL /* the daemon is to be heard of once a second */

/* Events of a second. */
struct top_rate {
	double admitted, shed;
};

/* One limiter at one listener; or a listener without limiters. */
struct top_flow {
	const char *listener, *limiter; /* limiter NULL: none. Names of the frame's snapshot */
	uint32_t slot;			/* of the listener */
	bool first;			/* of the rows of its listener */
	uint64_t admitted, shed;	/* ever, as the decisions are counted */
	struct top_rate rate;
	double history[TOP_HISTORY]; /* what was shed in a second, oldest first */
	size_t n_history;
};

struct top_interface {
	const char *name;
	uint32_t slot;
	double packets[_STILE_VERDICT_MAX]; /* in a second */
};

struct top_frame {
	struct snapshot *snapshot;
	struct snapshot_client *clients; /* live ones */
	struct top_rate *rates;		 /* of each client */
	size_t n_clients;
	uint32_t *index; /* of clients by limiter and key, see top_index.h */
	double seconds;	 /* since the one before; 0: there was none, and no rate is known */
	struct top_flow flows[STILE_ATTACHMENTS_MAX];
	size_t n_flows;
	struct top_interface interfaces[STILE_INTERFACES_MAX];
	size_t n_interfaces;
};

/*
 * The frame of @snapshot and its @clients after @before, which may be NULL. It takes both over, on
 * failure too. A counter that is lower than before began anew in between, at zero. NULL: no memory.
 */
struct top_frame *top_frame_new(const struct top_frame *before, struct snapshot *snapshot,
				struct snapshot_client *clients, size_t n_clients);
void top_frame_free(struct top_frame *frame);

/* What a counter grew by. */
uint64_t top_growth(uint64_t before, uint64_t now);

enum top_sort {
	TOP_BY_REFUSING, /* in a second */
	TOP_BY_ADMITTING,
	TOP_BY_REFUSED, /* ever */
	TOP_BY_ADMITTED,
	TOP_BY_OPEN,
	TOP_BY_WAIT,
	TOP_BY_ADDRESS,
	_TOP_SORT_MAX,
};
extern const char *const top_sort_names[_TOP_SORT_MAX + 1]; /* ended by NULL */

/* What the one who looks at it wants to see. */
struct top_view {
	const char *instance;
	unsigned int columns, lines;
	bool unicode;
	bool interactive; /* the last line is the keys' */
	enum top_sort sort;
	char filter[TOP_FILTER_SIZE]; /* part of an address or of a limiter's name */
	bool selecting;
	struct snapshot_client selected; /* its limiter and key are looked at */
	bool paused;
	const char *bottom; /* a question or an answer; NULL: the keys */
	const char *lost;   /* why there is no newer frame; NULL: there is */
};

/* The first clients that the view wants, in its order, as places in frame->clients. */
struct top_shown {
	size_t *places; /* freed by the caller */
	size_t n;	/* TOP_CLIENTS at most */
	size_t total;
	size_t selected; /* in places; n where there is none */
};

/* 0 or -ENOMEM. */
int top_view_clients(const struct top_view *view, const struct top_frame *frame,
		     struct top_shown *ret_shown);

/* As it is shown, and as stile explain and stile block take it. Both return @text. */
const char *top_client_name(const struct top_frame *frame, const struct snapshot_client *client,
			    char text[PREFIX_TEXT_SIZE]);

enum top_style { TOP_PLAIN, TOP_HEADING, TOP_ALARM, TOP_SELECTED };

struct top_line {
	enum top_style style;
	char text[TOP_TEXT_SIZE];
};

/* Writes view->lines lines, none wider than the view. 0 or -ENOMEM. */
int top_lines(const struct top_view *view, const struct top_frame *frame, struct top_line *lines);

/* "0.4", "87", "12.3k", "4.56M": at most five columns. Returns @text. */
#define TOP_NUMBER_SIZE 16
const char *top_number(double number, char text[TOP_NUMBER_SIZE]);

/* The same of what comes in whole ones: "7", "87", "12.3k". */
const char *top_count(uint64_t count, char text[TOP_NUMBER_SIZE]);

/* "0.1s", "15m17s", "3h12m", "4d1h": at most seven columns; never less than @ns. Returns @text. */
const char *top_span(uint64_t ns, char text[TOP_NUMBER_SIZE]);

/* The last @columns of its history, the highest the tallest; a blank is nothing. Returns @text. */
const char *top_spark(const struct top_flow *flow, unsigned int columns, bool unicode,
		      char text[TOP_TEXT_SIZE]);

/* The frame as one object; NULL where there is no memory for it. */
json_t *top_json(const struct top_view *view, const struct top_frame *frame);

#endif /* STILE_TOP_H */
