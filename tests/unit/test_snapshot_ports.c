/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of ports read back from tables made by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "snapshot_ports.h"
#include "util.h"

#define WEB 3
#define DNS 4
#define OTHER 5

static const struct stile_host host = { { [10] = 0xff, 0xff, 192, 0, 2, 1 } };

/* Ports @first to @last of @row are @listener's; each high byte has a page of its own. */
static void stand(struct stile_ports *rows, struct stile_page *pages, unsigned int row,
		  const struct snapshot_ports *run)
{
	for (uint32_t port = run->first; port <= run->last; port++) {
		uint16_t *page = &rows[row].page[run->listener == DNS][port >> 8];

		if (*page == 0)
			*page = (uint16_t)(1 + row * 512 + (run->listener == DNS) * 256 +
					   (port >> 8));
		pages[*page].listener[port & 0xff] = (uint16_t)run->listener;
	}
}

/* "LISTENER[@host]:FIRST-LAST " for each run. */
static char *read_back(const struct stile_ports *rows, const struct stile_page *pages,
		       uint32_t n_rows)
{
	const struct snapshot_ports_tables tables = { rows, n_rows, pages, 1 + n_rows * 512 };
	struct snapshot_ports_list list = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t row = 0; row < n_rows; row++)
		CHECK_EQ("a row is read", snapshot_ports_add(&tables, row, &host, &list), 0);
	for (size_t i = 0; out && i < list.n; i++)
		fprintf(out, "%u%s:%u-%u ", list.ports[i].listener,
			list.ports[i].everywhere ? "" : "@host", list.ports[i].first,
			list.ports[i].last);
	for (size_t i = 0; i < list.n; i++)
		CHECK_MEM_EQ("a run has the address of its row", list.ports[i].address,
			     list.ports[i].everywhere ? (const uint8_t[16]){ 0 } : host.address,
			     16);
	if (out)
		(void)fclose(out); /* to memory */
	free(list.ports);
	return text;
}

struct row {
	const char *what;
	struct snapshot_ports runs[5]; /* everywhere, or at the host */
	const char *want;
};

static const struct row rows_of_test[] = {
	{ "nothing", { { 0 } }, "" },
	{ "one port", { { WEB, true, { 0 }, 80, 80 } }, "3:80-80 " },
	{ "a run over pages", { { WEB, true, { 0 }, 250, 1030 } }, "3:250-1030 " },
	{ "to the last port", { { WEB, true, { 0 }, 65000, 65535 } }, "3:65000-65535 " },
	{ "every port", { { WEB, true, { 0 }, 0, 65535 } }, "3:0-65535 " },
	{ "a hole that another fills",
	  { { WEB, true, { 0 }, 0, 65535 }, { OTHER, true, { 0 }, 8080, 8080 } },
	  "3:0-8079 5:8080-8080 3:8081-65535 " },
	{ "two protocols at one port",
	  { { WEB, true, { 0 }, 53, 53 }, { DNS, true, { 0 }, 53, 53 } },
	  "3:53-53 4:53-53 " },
	{ "a host of its own",
	  { { WEB, true, { 0 }, 80, 80 },
	    { WEB, false, { 0 }, 80, 80 },
	    { OTHER, false, { 0 }, 81, 81 } },
	  "3:80-80 5@host:81-81 " },
	{ "a host's listener before everyone's",
	  { { WEB, true, { 0 }, 80, 90 },
	    { WEB, false, { 0 }, 80, 90 },
	    { OTHER, false, { 0 }, 85, 86 } },
	  "3:80-90 5@host:85-86 " },
};

static void test_runs(void)
{
	struct stile_ports *rows = calloc(2, sizeof(*rows));
	struct stile_page *pages = calloc(1025, sizeof(*pages));

	for (size_t i = 0; rows && pages && i < ARRAY_SIZE(rows_of_test); i++) {
		const struct row *row = &rows_of_test[i];
		autofree char *text = NULL;

		memset(rows, 0, 2 * sizeof(*rows));
		memset(pages, 0, 1025 * sizeof(*pages));
		for (size_t j = 0; j < ARRAY_SIZE(row->runs) && row->runs[j].listener; j++)
			stand(rows, pages, !row->runs[j].everywhere, &row->runs[j]);
		text = read_back(rows, pages, 2);
		CHECK_STR_EQ(row->what, text, row->want);
	}
	free(rows);
	free(pages);
}

static void test_bounds(void)
{
	struct stile_ports row = { 0 };
	const struct snapshot_ports_tables tables = { &row, 1, NULL, 0 };
	struct snapshot_ports_list list = { 0 };

	row.page[0][0] = 17;
	CHECK_EQ("a page that is not there is empty", snapshot_ports_add(&tables, 0, NULL, &list),
		 0);
	CHECK_EQ("and holds no listener", list.n, 0);
	CHECK("a row that is not there is an error",
	      snapshot_ports_add(&tables, 1, &host, &list) < 0);
}

CHECK_SUITE(snapshot_ports, { "runs", test_runs }, { "bounds", test_bounds });
