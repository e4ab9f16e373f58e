/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables for people: cells are collected, and printed once every column's width is known.
 * It knows nothing of what the cells mean.
 */
#ifndef STILE_TABLE_PRINT_H
#define STILE_TABLE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_print_column {
	const char *heading; /* NULL in the first: no headings at all */
	bool right;	     /* numbers: aligned at their last digit */
};

struct table_print {
	const struct table_print_column *columns; /* borrowed */
	size_t n_columns;
	char **cells; /* row by row */
	size_t n_cells, n_allocated;
	bool failed; /* out of memory: shown at the end, once */
};

void table_print_init(struct table_print *table, const struct table_print_column *columns,
		      size_t n_columns);

/* Adds the next cell, from left to right and from the first row to the last. */
__attribute__((format(printf, 2, 3))) void table_print_cell(struct table_print *table,
							    const char *format, ...);

/* Adds an item to the cell that was added last, after a comma where it holds one already. */
__attribute__((format(printf, 2, 3))) void table_print_item(struct table_print *table,
							    const char *format, ...);

/* Writes the headings and every whole row. 0, or -ENOMEM where a cell could not be kept. */
int table_print_write(const struct table_print *table, FILE *out);

void table_print_release(struct table_print *table);

#endif /* STILE_TABLE_PRINT_H */
