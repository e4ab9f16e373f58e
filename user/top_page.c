/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cells are bytes of ASCII but where they come raw: what else a name holds is shown as '?'. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "top_page.h"

struct top_line *top_page_line(struct top_page *page, enum top_style style)
{
	struct top_line *line = page->n < page->max ? &page->lines[page->n++] : &page->spare;

	line->style = style;
	line->text[0] = '\0';
	return line;
}

unsigned int top_page_room(const struct top_page *page)
{
	return page->max - page->n;
}

static void add(struct top_row *row, const char *text, size_t n)
{
	size_t room = TOP_TEXT_SIZE - 1 - row->length;

	n = n < room ? n : room;
	memcpy(row->line->text + row->length, text, n);
	row->length += n;
	row->line->text[row->length] = '\0';
}

static void add_blanks(struct top_row *row, size_t n)
{
	while (n-- > 0)
		add(row, " ", 1);
}

static void make_printable(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

void top_row_cell(struct top_row *row, const char *format, ...)
{
	const struct top_column *column = row->next++;
	char text[TOP_TEXT_SIZE];
	va_list arguments;
	size_t n;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	make_printable(text);
	n = strlen(text);
	if (n > column->columns) {
		n = column->columns;
		text[n - 1] = '~';
	}
	if (row->length)
		add_blanks(row, 1);
	if (column->right)
		add_blanks(row, column->columns - n);
	add(row, text, n);
	if (!column->right)
		add_blanks(row, column->columns - n);
}

void top_row_raw(struct top_row *row, const char *text)
{
	row->next++;
	if (row->length)
		add_blanks(row, 1);
	add(row, text, strlen(text));
}

/* Whether the byte begins a column: those that go on with a sign of UTF-8 do not. */
static bool begins(char byte)
{
	return ((unsigned char)byte & 0xc0U) != 0x80U;
}

void top_page_cut(struct top_line *line, unsigned int columns)
{
	size_t n = 0, used = 0;

	for (; line->text[n]; n++) {
		used += begins(line->text[n]) ? 1 : 0;
		if (used > columns)
			break;
	}
	while (n > 0 && line->text[n - 1] == ' ')
		n--;
	line->text[n] = '\0';
}
