/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is found in the kernel after a load that was killed in its last steps, put there by hand. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LOCAL "127.0.0.2"
#define PATH_SIZE 512

#define CONFIG(limit)                                                                              \
	"interfaces: {srv0: {}, lo: {}}\n"                                                         \
	"rate_limiters:\n"                                                                         \
	"  per-client: {algorithm: token_bucket, limit: " limit ", window: 1h}\n"                  \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"                                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static const char *pin(const struct live *live, const char *name, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "/sys/fs/bpf/stile/%s/%.64s", live->instance, name);
	return path;
}

static unsigned int count_local(const struct live *live, unsigned int n)
{
	const struct live_storm storm = {
		.side = LIVE_SERVER,
		.from = LOCAL,
		.to = "127.0.0.1:80",
		.connections = n,
	};
	autoresult struct engine_result result = {};

	return live_connect(live, &storm, &result) ? (unsigned int)result.outcomes[ENGINE_SUCCEEDED]
						   : 0;
}

/* Killed after the first links of all were made, and before anything was in force. */
static void test_first(void)
{
	autolive struct live live;
	char path[PATH_SIZE];

	if (!live_begin(&live, "recover-first") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("20")))
		return;
	CHECK_EQ("some get in", live_count_served(&live, CLIENT_ONE, 15), 15);
	live_stop(&live, SIGKILL);
	CHECK_EQ("no generation is in force", unlink(pin(&live, "current", path)), 0);
	if (!live_start_again(&live))
		return;
	CHECK_EQ("the rest of the limit is there", live_count_served(&live, CLIENT_ONE, 15), 5);
	CHECK_EQ("and so are the counters",
		 live_metric_now(&live, "stile_ratelimit_decisions_total", ""), 30);
}

/* What is pinned of a generation, to be pinned once more. */
struct kept {
	char name[64];
	int fd;
};

static unsigned int keep_all(const struct live *live, struct kept *kept, unsigned int n_max)
{
	char path[PATH_SIZE], file[PATH_SIZE + 64];
	DIR *directory = opendir(pin(live, "gen-1", path));
	struct dirent *entry;
	unsigned int n = 0;

	while (directory && n < n_max && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(kept[n].name, sizeof(kept[n].name), "gen-1/%.50s", entry->d_name);
		snprintf(file, sizeof(file), "%s/%.50s", path, entry->d_name);
		kept[n].fd = bpf_obj_get(file);
		n += kept[n].fd >= 0;
	}
	if (directory)
		(void)closedir(directory); /* only read */
	return n;
}

static void pin_again(const struct live *live, const struct kept *kept, unsigned int n)
{
	char path[PATH_SIZE];

	CHECK_EQ("its folder", mkdir(pin(live, "gen-1", path), 0700), 0);
	for (unsigned int i = 0; i < n; i++)
		CHECK_EQ(kept[i].name, bpf_obj_pin(kept[i].fd, pin(live, kept[i].name, path)), 0);
	CHECK_EQ("the symlink goes", unlink(pin(live, "current", path)), 0);
	CHECK_EQ("and comes", symlink("gen-1", path), 0);
}

static void use_again(const struct live *live, const struct kept *kept, unsigned int n)
{
	char path[PATH_SIZE];
	autofd int link = bpf_obj_get(pin(live, "link-lo", path));

	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(kept[i].name, "gen-1/xdp") == 0)
			CHECK_EQ("one interface runs it", bpf_link_update(link, kept[i].fd, NULL),
				 0);
	}
}

/* Killed between the swaps of two links: either program charges its own table from then on. */
static void test_mixed(void)
{
	autooutput struct output output = {};
	struct kept kept[64];
	autolive struct live live;
	unsigned int n;

	if (!live_begin(&live, "recover-mixed") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("20")))
		return;
	CHECK_EQ("four get in before the load", count_local(&live, 4), 4);
	n = keep_all(&live, kept, ARRAY_SIZE(kept));
	if (!CHECK("a generation is pinned, and there was room", n > 10 && n < ARRAY_SIZE(kept)) ||
	    !live_write(&live, "stile.yaml", CONFIG("30")))
		return;
	output = live_stile(&live, "reload");
	CHECK_EQ("the load is done", output.code, 0);
	live_stop(&live, SIGKILL);
	pin_again(&live, kept, n);
	use_again(&live, kept, n);
	for (unsigned int i = 0; i < n; i++)
		fd_release(&kept[i].fd);
	CHECK_EQ("three get in after it was killed", count_local(&live, 3), 3);
	if (!live_start_again(&live))
		return;
	CHECK_EQ("either table says 4, and one 3 more", count_local(&live, 40), 30 - 4 - 4 - 3);
}

CHECK_SUITE(recover, { "a first load that was not finished", test_first },
	    { "a load that reached one of two interfaces", test_mixed });
