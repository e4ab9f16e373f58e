/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients read back from tables that were filled with the kernel side's own code. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "host_table.h"
#include "snapshot_table.h"
#include "util.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define NOW (1000000 * S + 250 * MS) /* a quarter second into a window of 1 s */
#define SETS 8
#define SLOT 2

/* A policy with one limiter and its table. */
struct world {
	struct stile_policy policy;
	struct stile_limiter *limiter;
	struct stile_set sets[SETS];
};

static void world_end(struct world **world)
{
	free(*world);
}
#define autoworld __attribute__((cleanup(world_end)))

static struct world *world_begin(const struct stile_limiter *limiter)
{
	struct world *world = aligned_alloc(64, (sizeof(*world) + 63) / 64 * 64);

	if (!CHECK("there is memory", world != NULL))
		exit(EXIT_FAILURE);
	memset(world, 0, sizeof(*world));
	world->limiter = &world->policy.limiters[SLOT];
	*world->limiter = *limiter;
	strcpy(world->limiter->name, "per-client");
	world->limiter->seed[0] = 12345;
	world->limiter->seed[1] = 6789;
	world->limiter->sets = SETS;
	world->limiter->seen_shift = 20;
	return world;
}

static const struct stile_limiter tokens = {
	.algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
	.limit = 10,
	.window = S,
	.burst = 20,
	.token = (S << STILE_TOKEN_SHIFT) / 10,
	.depth = (S << STILE_TOKEN_SHIFT) / 10 * 20,
	.clock = STILE_CLOCK_PRECISE,
	.keyed = 1,
	.ipv4_prefix = 32,
	.ipv6_prefix = 64,
};

static const struct stile_limiter window = {
	.algorithm = STILE_ALGORITHM_SLIDING_WINDOW,
	.limit = 20,
	.window = S,
	.clock = STILE_CLOCK_PRECISE,
	.keyed = 1,
	.ipv4_prefix = 24,
	.ipv6_prefix = 128,
	.wide = 1,
};

static void address_of(const char *text, uint8_t address[16])
{
	CHECK_EQ(text, prefix_parse_address(text, address), 0);
}

/* @n events of a client at @at, as the kernel side would charge them. */
static void charge(struct world *world, const char *client, unsigned int n, uint64_t at)
{
	const struct host_table table = { world->limiter, (union host_set *)world->sets };
	struct table_event event = { .now = at, .random = 1 };
	struct host_work work = { 0 };
	struct address address;
	uint8_t bytes[16];

	address_of(client, bytes);
	memcpy(&address, bytes, sizeof(address));
	event.key = key_of(world->limiter, &address);
	for (unsigned int i = 0; i < n; i++)
		(void)host_table_charge(&table, &event, &work); /* what came of it is read back */
	CHECK_EQ("no bucket was lost", work.evictions + work.busy, 0);
}

static enum snapshot_table_found find(const struct world *world, const char *client,
				      struct snapshot_client *ret_client)
{
	const struct snapshot_table_view view = { &world->policy, SLOT, world->sets, NOW, 0 };
	uint8_t bytes[16];

	address_of(client, bytes);
	return snapshot_table_find(&view, bytes, ret_client);
}

static void test_numbers(void)
{
	autoworld struct world *world = world_begin(&tokens);
	struct snapshot_client client;

	charge(world, "10.77.1.9", 25, NOW);
	charge(world, "10.77.1.10", 3, NOW - 50 * MS);
	CHECK_EQ("a client is known", find(world, "10.77.1.9", &client), SNAPSHOT_TABLE_KNOWN);
	CHECK_EQ("its limiter", client.limiter, SLOT);
	CHECK_EQ("admitted", client.admitted, 20);
	CHECK_EQ("refused", client.refused, 5);
	CHECK("both are exact", client.admitted_exact && client.refused_exact);
	CHECK_EQ("its tokens are used up", client.used, 20);
	CHECK_EQ("the next one comes in a tenth", client.wait, 100 * MS);
	CHECK_EQ("it was here just now", client.idle, 0);
	CHECK("its bucket is not a new one", client.live);
	CHECK_EQ("another is known", find(world, "10.77.1.10", &client), SNAPSHOT_TABLE_KNOWN);
	CHECK_EQ("half a token is a used one", client.used, 3);
	CHECK_EQ("it need not wait", client.wait, 0);
	CHECK("it was here a while ago", client.idle > 45 * MS && client.idle < 55 * MS);
	CHECK_EQ("a third is new", find(world, "10.77.1.11", &client), SNAPSHOT_TABLE_NEW);
	CHECK_EQ("nothing is used", client.used, 0);
	CHECK_EQ("nor waited for", client.wait, 0);
	CHECK("its bucket is a new one", !client.live);
	CHECK_EQ("two buckets are live", snapshot_table_live(world->limiter, world->sets, NOW), 2);
	CHECK_EQ("one of them for a second",
		 snapshot_table_live(world->limiter, world->sets, NOW + S), 1);
	CHECK_EQ("none after two", snapshot_table_live(world->limiter, world->sets, NOW + 2 * S),
		 0);
}

static void test_window(void)
{
	autoworld struct world *world = world_begin(&window);
	struct snapshot_client client;

	charge(world, "10.77.1.9", 15, NOW - S);
	charge(world, "10.77.1.200", 8, NOW);
	CHECK_EQ("a /24 is one client", find(world, "10.77.1.3", &client), SNAPSHOT_TABLE_KNOWN);
	CHECK_EQ("15 in the last window weigh three quarters", client.used, 12 + 8);
	CHECK_EQ("admitted", client.admitted, 15 + 8);
	/* (20 - 8 - 1) / 15 of a window must be left, of which three quarters are. */
	CHECK_EQ("room comes as they weigh less", client.wait, 750 * MS - 11 * S / 15);
}

static void test_prefixes(void)
{
	static const struct {
		const char *client, *want;
		uint8_t ipv4_prefix, ipv6_prefix;
	} rows[] = {
		{ "192.0.2.17", "192.0.2.17", 32, 64 },
		{ "192.0.2.17", "192.0.2.16/28", 28, 64 },
		{ "192.0.2.17", "0.0.0.0/0", 0, 64 },
		{ "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", 32, 64 },
		{ "2001:db8:1:2:3:4:5:6", "2001:db8::/32", 32, 32 },
		{ "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", 32, 128 },
		{ "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3::/80", 32, 80 },
		{ "192.0.2.17", "192.0.2.17", 32, 128 },
		{ "192.0.2.17", "192.0.0.0/16", 16, 128 },
		{ "::1", "::/8", 32, 64 },
		{ "1::1", "::/8", 32, 64 },
		{ "2001:db8::1", "::/0", 32, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stile_limiter limiter = tokens;
		char text[PREFIX_TEXT_SIZE];
		struct snapshot_client client;

		limiter.ipv4_prefix = rows[i].ipv4_prefix;
		limiter.ipv6_prefix = rows[i].ipv6_prefix;
		limiter.wide = rows[i].ipv6_prefix > 64;
		autoworld struct world *world = world_begin(&limiter);

		charge(world, rows[i].client, 1, NOW);
		CHECK_EQ(rows[i].client, find(world, rows[i].client, &client),
			 SNAPSHOT_TABLE_KNOWN);
		CHECK_STR_EQ(rows[i].client, prefix_format(&client.key, text), rows[i].want);
	}
}

static void test_without_keys(void)
{
	struct stile_limiter limiter = tokens;
	struct snapshot_client client;

	limiter.keyed = 0;
	autoworld struct world *world = world_begin(&limiter);

	charge(world, "192.0.2.17", 4, NOW);
	CHECK_EQ("everyone has one bucket", find(world, "2001:db8::1", &client),
		 SNAPSHOT_TABLE_KNOWN);
	CHECK_EQ("all events are in it", client.used, 4);
	CHECK_EQ("it is nobody's address", client.key.bits, 0);
}

static void test_listing(void)
{
	autoworld struct world *world = world_begin(&tokens);
	const struct snapshot_table_view view = { &world->policy, SLOT, world->sets, NOW, 0 };
	struct snapshot_client clients[SETS * STILE_SET_WAYS];
	uint64_t refused = 0;
	size_t n = 0;

	for (int i = 1; i <= 12; i++) {
		char text[PREFIX_TEXT_SIZE];

		snprintf(text, sizeof(text), "10.0.0.%d", i);
		charge(world, text, 20 + (unsigned int)i, NOW);
	}
	for (uint32_t i = 0; i < SETS; i++)
		n += snapshot_table_clients(&view, i, clients + n);
	for (size_t i = 0; i < n; i++)
		refused += clients[i].refused;
	CHECK_EQ("every client is listed once", n, 12);
	CHECK_EQ("with what it was refused", refused, 12 * 13 / 2);
}

/* A set whose ways are all taken by clients that are live. */
static void test_full(void)
{
	static const struct {
		const char *what;
		enum stile_full full;
		uint64_t at; /* when the others were last here */
		enum snapshot_table_found want;
	} rows[] = {
		{ "another makes room", STILE_FULL_EVICT, NOW, SNAPSHOT_TABLE_NEW },
		{ "no other makes room", STILE_FULL_REJECT, NOW, SNAPSHOT_TABLE_FULL },
		{ "nor where those without are let in", STILE_FULL_ALLOW, NOW,
		  SNAPSHOT_TABLE_FULL },
		{ "who is as good as new makes room", STILE_FULL_REJECT, NOW - 9 * S,
		  SNAPSHOT_TABLE_NEW },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stile_limiter limiter = tokens;
		struct snapshot_client client;

		limiter.full = rows[i].full;
		autoworld struct world *world = world_begin(&limiter);

		world->limiter->sets = 1;
		for (int j = 0; j < STILE_SET_WAYS; j++) {
			char text[PREFIX_TEXT_SIZE];

			snprintf(text, sizeof(text), "10.0.0.%d", j);
			charge(world, text, 1, rows[i].at);
		}
		CHECK_EQ(rows[i].what, find(world, "192.0.2.1", &client), rows[i].want);
		CHECK_EQ("its bucket would be a new one", client.used, 0);
	}
}

/* Where a limiter reads ticks, a promise is kept by ticks: never too early, two late at most. */
static void test_ticks(void)
{
	static const struct {
		const char *what;
		uint64_t tick, base, now, want;
	} rows[] = {
		{ "on a tick", 4, 1, 101, 101 },
		{ "before the next", 4, 1, 104, 101 },
		{ "the next", 4, 1, 105, 105 },
		{ "a base below zero", 4, (uint64_t)-7, 10, 9 },
		{ "a clock that stands still", 0, 7, 103, 7 },
	};
	struct stile_limiter limiter = tokens;
	struct snapshot_client client;

	limiter.clock = STILE_CLOCK_TICK;
	autoworld struct world *world = world_begin(&limiter);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world->policy.tick = rows[i].tick;
		world->policy.tick_base = rows[i].base;
		CHECK_EQ(rows[i].what,
			 snapshot_table_clock(&world->policy, world->limiter, rows[i].now),
			 rows[i].want);
	}
	world->policy.tick = 4 * MS;
	world->policy.tick_base = (uint64_t) - (300 * S) + 3 * MS;
	charge(world, "10.77.1.9", 20, snapshot_table_clock(&world->policy, world->limiter, NOW));
	CHECK_EQ("a client is known", find(world, "10.77.1.9", &client), SNAPSHOT_TABLE_KNOWN);
	CHECK("it waits until its token is there", client.wait >= 100 * MS);
	CHECK("and two ticks more at most", client.wait <= 108 * MS);
}

CHECK_SUITE(snapshot_table, { "numbers", test_numbers }, { "window", test_window },
	    { "prefixes", test_prefixes }, { "without keys", test_without_keys },
	    { "listing", test_listing }, { "full", test_full }, { "ticks", test_ticks });
