/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of a width, filled cell by cell; for the files of top.h alone. Pure. */
#ifndef STILE_TOP_PAGE_H
#define STILE_TOP_PAGE_H

#include "top.h"

struct top_page {
	struct top_line *lines;
	unsigned int n, max;
	unsigned int columns;
	struct top_line spare; /* what is past the last line */
};

/* The next line, empty; a spare one where there is no room. */
struct top_line *top_page_line(struct top_page *page, enum top_style style);

/* How many lines are left. */
unsigned int top_page_room(const struct top_page *page);

struct top_column {
	const char *heading;
	unsigned int columns;
	bool right; /* numbers */
};

/* A line of such cells, a blank between them. */
struct top_row {
	struct top_line *line;
	const struct top_column *next;
	size_t length; /* bytes */
};

/* Adds a cell; what is too long for it is cut, and ends in '~'. */
__attribute__((format(printf, 2, 3))) void top_row_cell(struct top_row *row, const char *format,
							...);

/* Adds a cell that has the column's width already. */
void top_row_raw(struct top_row *row, const char *text);

/* Cuts what is past the last column, and blanks at the end. */
void top_page_cut(struct top_line *line, unsigned int columns);

#endif /* STILE_TOP_PAGE_H */
