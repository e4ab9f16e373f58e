/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reloads in a flood of SYNs. What is let through reaches a port where nobody listens, and the
 * server's stack answers it with a RST: so the stack itself counts what it got.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "faults.h"
#include "util.h"

#define LIMIT 5
#define SETTLED 10		 /* reloads, after which the daemon has all the memory it needs */
#define GROWTH_KB_MAX (4 * 1024) /* what an allocator may keep of it */

/* Reloads bring another limiter, another listener, another action and another list with them. */
static bool write_config(const struct live *live, unsigned int round, const char *rest)
{
	char config[1024];

	snprintf(config, sizeof(config),
		 "interfaces: {srv0: {}}\n"
		 "trusted: [192.0.2.%u]\n"
		 "rate_limiters:\n"
		 "  flood: {limit: 5, window: 1h, action: %s, %s}\n"
		 "  other-%u: {limit: 7}\n"
		 "listeners:\n"
		 "  flood: {ports: [8080], rate_limiter_name: flood}\n"
		 "  other-%u: {ports: [%u], rate_limiter_name: other-%u}\n"
		 "metrics: {listen: \"127.0.0.1:9466\"}\n",
		 round % 256, round % 2 ? "drop" : "reset", rest, round % 5, round % 7,
		 9000 + round % 100, round % 5);
	return live_write(live, "stile.yaml", config);
}

static bool reload(const struct live *live, unsigned int round, const char *rest)
{
	autooutput struct output output = {};

	if (!write_config(live, round, rest))
		return false;
	output = live_stile(live, "reload");
	if (CHECK_EQ("the reload is done", output.code, 0))
		return true;
	printf("%s", output.text ? output.text : "");
	return false;
}

static unsigned int count_fds(const struct live *live)
{
	char path[64];
	unsigned int n = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)live->daemon);
	directory = opendir(path);
	while (directory && readdir(directory))
		n++;
	if (directory)
		(void)closedir(directory); /* only read */
	return n;
}

static unsigned long memory_kb(const struct live *live)
{
	autooutput struct output output = process_shell(
		-1, "awk '/^RssAnon:/ { print $2 }' /proc/%d/status", (int)live->daemon);

	return output.text ? strtoul(output.text, NULL, 10) : 0;
}

/* What the daemon and the kernel hold before a flood, to be the same after it. */
struct holdings {
	struct live_objects objects;
	unsigned int fds;
	unsigned long kb;
};

/* The daemon closes a connection some time after it has answered. */
struct fds {
	const struct live *live;
	unsigned int most;
};

static bool fds_are_few(void *context)
{
	const struct fds *fds = context;

	return count_fds(fds->live) <= fds->most;
}

static void check_holdings(const struct live *live, struct holdings *before)
{
	autoobjects struct live_objects now = {};
	struct fds fds = { live, before->fds };
	unsigned long kb = memory_kb(live);

	live_note_objects(live, &now);
	CHECK("programs and maps of the generations before are gone",
	      live_wait_objects(&before->objects, now.n));
	CHECK("no file is open that was not", live_wait(fds_are_few, &fds));
	CHECK("the daemon has not grown", kb <= before->kb + GROWTH_KB_MAX);
}

/* @n reloads, of which every one brings @rest[round % 2]; false: one of them failed. */
static bool reload_often(const struct live *live, unsigned int n, const char *const rest[2],
			 struct holdings *holdings)
{
	for (unsigned int round = 1; round <= n; round++) {
		if (!reload(live, round, rest[round % 2]))
			return false;
		live_note_objects(live, &holdings->objects);
		if (round == SETTLED) {
			holdings->fds = count_fds(live);
			holdings->kb = memory_kb(live);
		}
	}
	return true;
}

/* What was let through beyond the limit of every source, by the server's own count. */
static long long run_flood(struct live *live, unsigned int n, const char *const rest[2],
			   struct live_flooded *flooded)
{
	struct holdings holdings = { .fds = count_fds(live), .kb = memory_kb(live) };
	long long before = live_counter(live, LIVE_SERVER, "TcpOutRsts"), arrived;
	struct live_background background;
	bool good;

	if (!live_flood_begin(live, &background))
		return -1;
	good = reload_often(live, n, rest, &holdings);
	if (!live_flood_end(&background, flooded) || !good)
		return -1;
	arrived = live_counter(live, LIVE_SERVER, "TcpOutRsts") - before;
	CHECK_EQ("the program counts what the stack got",
		 live_metric_now(live, "stile_ratelimit_decisions_total",
				 "limiter=\"flood\",result=\"allowed\""),
		 arrived);
	check_holdings(live, &holdings);
	live_forget_objects(&holdings.objects);
	printf("%s: %u reloads, %llu SYNs of %llu sources, %lld let through\n", live->name, n,
	       (unsigned long long)flooded->syns, (unsigned long long)flooded->sources, arrived);
	return arrived - (long long)flooded->sources * LIMIT;
}

static bool begin(struct live *live, const char *name, const char *rest)
{
	return live_begin(live, name) && write_config(live, 0, rest) && live_start_again(live);
}

static void test_kept(void)
{
	static const char *const rest[2] = { "max_keys: 300000", "max_keys: 300000" };
	struct live_flooded flooded = {};
	autolive struct live live;

	if (begin(&live, "flood-kept", rest[0]))
		CHECK_EQ("not one SYN too many, and not one too few",
			 run_flood(&live, faults_rounds(120), rest, &flooded), 0);
}

/*
 * Tables of another size are filled right before the swap, and caught up with after it. What may
 * come in between is what the sources of one group, or two, still had to spend.
 */
static void test_copied(void)
{
	static const char *const rest[2] = { "max_keys: 300000", "max_keys: 200000" };
	const unsigned int n = faults_rounds(10);
	struct live_flooded flooded = {};
	long long excess;
	autolive struct live live;

	if (!begin(&live, "flood-copied", rest[0]))
		return;
	excess = run_flood(&live, n, rest, &flooded);
	CHECK("no source gets less than its limit", excess >= 0);
	CHECK("nor more than what the last sources had left, for each reload",
	      excess <= (long long)n * 2 * LIVE_FLOOD_GROUP * LIMIT);
	printf("%s: %lld SYNs in %u reloads came between a table and its copy\n", live.name, excess,
	       n);
}

CHECK_SUITE(flood, { "tables that are kept", test_kept },
	    { "tables that are copied", test_copied });
