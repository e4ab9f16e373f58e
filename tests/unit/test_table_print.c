/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables as they are printed, blank for blank. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "table_print.h"
#include "util.h"

static const struct table_print_column columns[] = {
	{ "NAME", false },
	{ "COUNT", true },
	{ "NOTE", false },
};

static char *write_out(const struct table_print *table)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	CHECK_EQ("it is written", table_print_write(table, out), 0);
	(void)fclose(out); /* to memory */
	return text;
}

static void test_aligned(void)
{
	autofree char *text = NULL;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	table_print_cell(&table, "a");
	table_print_cell(&table, "%d", 7);
	table_print_cell(&table, "x");
	table_print_cell(&table, "longer name");
	table_print_cell(&table, "%d", 1234567);
	table_print_cell(&table, "%s", "");
	table_print_cell(&table, "%s", "");
	table_print_cell(&table, "%s", "");
	table_print_cell(&table, "alone");
	text = write_out(&table);
	CHECK_STR_EQ("columns are aligned, and no line ends in a blank", text,
		     "NAME           COUNT  NOTE\n"
		     "a                  7  x\n"
		     "longer name  1234567\n"
		     "                      alone\n");
	table_print_release(&table);
}

static void test_items(void)
{
	autofree char *text = NULL;
	struct table_print table;

	table_print_init(&table, columns, ARRAY_SIZE(columns));
	table_print_cell(&table, "a");
	table_print_cell(&table, "%s", "");
	table_print_cell(&table, "%s", "");
	table_print_item(&table, "%d", 80);
	table_print_item(&table, "%d-%d", 8000, 8099);
	text = write_out(&table);
	CHECK_STR_EQ("items are parted by commas", text,
		     "NAME  COUNT  NOTE\n"
		     "a            80, 8000-8099\n");
	table_print_release(&table);
}

static void test_without_headings(void)
{
	static const struct table_print_column bare[] = { { NULL, false }, { NULL, true } };
	autofree char *text = NULL;
	struct table_print table;

	table_print_init(&table, bare, ARRAY_SIZE(bare));
	for (int i = 0; i < 200; i++)
		table_print_cell(&table, "%d", i / 2 * 1000);
	free(write_out(&table));
	CHECK_EQ("many cells fit", table.n_cells, 200);
	table_print_release(&table);
	table_print_init(&table, bare, ARRAY_SIZE(bare));
	table_print_cell(&table, "rule");
	table_print_cell(&table, "no");
	text = write_out(&table);
	CHECK_STR_EQ("rows alone", text, "rule  no\n");
	table_print_release(&table);
}

CHECK_SUITE(table_print, { "aligned", test_aligned }, { "items", test_items },
	    { "without headings", test_without_headings });
