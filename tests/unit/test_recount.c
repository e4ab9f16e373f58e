/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is counted held against lists of sockets made by hand. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "recount.h"
#include "snapshot_connections.h"
#include "util.h"

static void test_excess(void)
{
	static const struct {
		const char *what;
		struct recount_window window;
		uint64_t found;
		int64_t want;
	} rows[] = {
		{ "as many as are counted",
		  { { .opened = 10, .closed = 4 }, { .opened = 10, .closed = 4 }, 0 },
		  6,
		  0 },
		{ "seeded ones count too",
		  { { .seeded = 3, .opened = 1 }, { .seeded = 3, .opened = 1 }, 0 },
		  4,
		  0 },
		{ "fewer: some ended unseen",
		  { { .opened = 10, .closed = 4 }, { .opened = 10, .closed = 4 }, 0 },
		  4,
		  2 },
		{ "that is known already",
		  { { .opened = 10, .closed = 4 }, { .opened = 10, .closed = 4 }, 2 },
		  4,
		  0 },
		{ "more: some began unseen",
		  { { .opened = 10, .closed = 4 }, { .opened = 10, .closed = 4 }, 0 },
		  9,
		  -3 },
		{ "those that ended meanwhile need not be found",
		  { { .opened = 10, .closed = 4 }, { .opened = 10, .closed = 7 }, 0 },
		  3,
		  0 },
		{ "but no more than they",
		  { { .opened = 10, .closed = 4 }, { .opened = 10, .closed = 7 }, 0 },
		  2,
		  1 },
		{ "those that began meanwhile may be found",
		  { { .opened = 10, .closed = 4 }, { .opened = 12, .closed = 4 }, 0 },
		  8,
		  0 },
		{ "but no more than they, seeded ones among them",
		  { { .opened = 10, .closed = 4 }, { .opened = 11, .seeded = 1, .closed = 4 }, 0 },
		  9,
		  -1 },
		{ "what came and went explains either",
		  { { .opened = 10, .closed = 4 }, { .opened = 13, .closed = 7 }, 0 },
		  9,
		  0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what, recount_excess(&rows[i].window, rows[i].found),
			 rows[i].want);
}

#define HOLDERS 5

static struct stile_socket note(uint8_t last, uint32_t serial, uint32_t holders)
{
	return (struct stile_socket){
		.address = { [10] = 0xff, 0xff, 192, 0, 2, last },
		.serial = serial,
		.holders = holders,
	};
}

static void test_clients(void)
{
	const struct stile_socket notes[] = {
		note(7, 2, HOLDERS), note(1, 1, HOLDERS),     note(7, 1, HOLDERS),
		note(7, 2, HOLDERS), note(7, 2, HOLDERS - 1), note(9, 0, HOLDERS),
	};
	const struct {
		const char *what;
		struct stile_holder_key key;
		uint64_t want;
	} rows[] = {
		{ "one connection", { { [10] = 0xff, 0xff, 192, 0, 2, 1 }, 1, 0 }, 1 },
		{ "two at one listener", { { [10] = 0xff, 0xff, 192, 0, 2, 7 }, 2, 0 }, 2 },
		{ "another at another", { { [10] = 0xff, 0xff, 192, 0, 2, 7 }, 1, 0 }, 1 },
		{ "what no listener counts", { { [10] = 0xff, 0xff, 192, 0, 2, 9 }, 0, 0 }, 0 },
		{ "an address that was not found",
		  { { [10] = 0xff, 0xff, 192, 0, 2, 8 }, 1, 0 },
		  0 },
	};
	autofree struct recount_client *clients = NULL;
	size_t n = 0;

	if (!CHECK_EQ("clients are listed",
		      recount_clients(notes, ARRAY_SIZE(notes), HOLDERS, &clients, &n), 0))
		return;
	CHECK_EQ("each once", n, 3);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what, recount_found(clients, n, &rows[i].key), rows[i].want);
	CHECK_EQ("of none there is nothing to be found", recount_found(NULL, 0, &rows[0].key), 0);
}

static void test_networks(void)
{
	const struct stile_socket notes[] = {
		{ .address = { 0xfd, 0x77, [15] = 1 }, .serial = 1, .holders = HOLDERS },
		{ .address = { 0xfd, 0x77, [8] = 9 }, .serial = 1, .holders = HOLDERS },
		{ .address = { 0xfd, 0x77, [7] = 1 }, .serial = 1, .holders = HOLDERS },
	};
	const struct stile_holder_key key = { .address = { 0xfd, 0x77 }, .listener = 1 };
	autofree struct recount_client *clients = NULL;
	size_t n = 0;

	if (!CHECK_EQ("clients are listed",
		      recount_clients(notes, ARRAY_SIZE(notes), HOLDERS, &clients, &n), 0))
		return;
	CHECK_EQ("addresses of one /64 are one client", n, 2);
	CHECK_EQ("with what all of them hold", recount_found(clients, n, &key), 2);
}

static void test_open(void)
{
	static const struct {
		const char *what;
		struct stile_connections counters;
		struct stile_recount recount;
		uint64_t want;
	} rows[] = {
		{ "opened less closed", { .opened = 9, .closed = 4 }, { 0 }, 5 },
		{ "with seeded ones", { .opened = 9, .seeded = 2, .closed = 4 }, { 0 }, 7 },
		{ "less those that ended unseen", { .opened = 9, .closed = 4 }, { 2, 1 }, 3 },
		{ "with those that began unseen", { .opened = 9, .closed = 4 }, { -2, 1 }, 7 },
		{ "never fewer than none", { .opened = 4, .closed = 5 }, { 0 }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what,
			 snapshot_connections_of(&rows[i].counters, &rows[i].recount).open,
			 rows[i].want);
}

static void test_quiet(void)
{
	struct recount_window windows[STILE_LISTENERS_MAX] = {
		[3] = { .before = { .opened = 5, .closed = 2 },
			.after = { .opened = 5, .closed = 2 } },
	};

	CHECK("nothing moved", recount_is_quiet(windows));
	windows[3].after.opened++;
	CHECK("one came", !recount_is_quiet(windows));
	windows[3].after = windows[3].before;
	windows[STILE_LISTENERS_MAX - 1].after.closed++;
	CHECK("one went, at another listener", !recount_is_quiet(windows));
}

CHECK_SUITE(recount, { "a quiet moment", test_quiet },
	    { "a difference is a mistake where nothing explains it", test_excess },
	    { "sockets are counted by client", test_clients },
	    { "over IPv6 by network", test_networks }, { "what is open", test_open });
