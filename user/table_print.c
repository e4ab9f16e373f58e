/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Aligned text tables. Two blanks part the columns, and no line ends in a blank, so that output
 * can be compared and cut by scripts. Widths count bytes: every name Stile prints is ASCII.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table_print.h"

void table_print_init(struct table_print *table, const struct table_print_column *columns,
		      size_t n_columns)
{
	*table = (struct table_print){ .columns = columns, .n_columns = n_columns };
}

void table_print_release(struct table_print *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table_print_init(table, table->columns, table->n_columns);
}

static bool reserve(struct table_print *table)
{
	size_t n = table->n_allocated ? table->n_allocated * 2 : 64;
	char **cells;

	if (table->n_cells < table->n_allocated)
		return true;
	cells = reallocarray(table->cells, n, sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->n_allocated = n;
	return true;
}

static char *format_text(const char *format, va_list arguments)
{
	char *text;

	return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

void table_print_cell(struct table_print *table, const char *format, ...)
{
	va_list arguments;
	char *cell = NULL;

	if (!table->failed && reserve(table)) {
		va_start(arguments, format);
		cell = format_text(format, arguments);
		va_end(arguments);
	}
	if (cell)
		table->cells[table->n_cells++] = cell;
	else
		table->failed = true;
}

void table_print_item(struct table_print *table, const char *format, ...)
{
	char **cell = &table->cells[table->n_cells - 1];
	char *item, *joined = NULL;
	va_list arguments;

	if (table->failed)
		return;
	va_start(arguments, format);
	item = format_text(format, arguments);
	va_end(arguments);
	if (!item || asprintf(&joined, "%s%s%s", *cell, **cell ? ", " : "", item) < 0)
		table->failed = true;
	free(item);
	if (table->failed)
		return;
	free(*cell);
	*cell = joined;
}

static int width(const struct table_print *table, size_t column)
{
	const char *heading = table->columns[column].heading;
	size_t widest = heading ? strlen(heading) : 0;

	for (size_t i = column; i < table->n_cells; i += table->n_columns) {
		size_t length = strlen(table->cells[i]);

		if (length > widest)
			widest = length;
	}
	return (int)widest;
}

/* Blanks are owed, and paid only by a text that follows them. */
static void write_row(const struct table_print *table, const int *widths, const char *const *texts,
		      FILE *out)
{
	int owed = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		int blanks = widths[i] - (int)strlen(texts[i]);
		int before = table->columns[i].right ? blanks : 0;

		if (*texts[i])
			fprintf(out, "%*s%s", owed + before, "", texts[i]);
		owed = *texts[i] ? blanks - before + 2 : owed + widths[i] + 2;
	}
	fputc('\n', out);
}

int table_print_write(const struct table_print *table, FILE *out)
{
	size_t n_columns = table->n_columns;
	const char *headings[n_columns];
	int widths[n_columns];

	if (table->failed)
		return -ENOMEM;
	if (n_columns == 0)
		return 0;
	for (size_t i = 0; i < n_columns; i++) {
		headings[i] = table->columns[i].heading;
		widths[i] = width(table, i);
	}
	if (headings[0])
		write_row(table, widths, headings, out);
	for (size_t i = 0; i + n_columns <= table->n_cells; i += n_columns)
		write_row(table, widths, (const char *const *)&table->cells[i], out);
	return 0;
}
