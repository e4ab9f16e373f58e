/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands beside a daemon that was stopped, killed, or is only starting: none waits for it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20

#define CONFIG                                                                                     \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {per-client: {limit: 20, window: 1h}}\n"                                   \
	"listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"                         \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

/* Runs the command; it must end with @code and say @want. */
static void check_says(const struct live *live, const char *arguments, int code, const char *want)
{
	autooutput struct output output = live_stile(live, "%s", arguments);

	CHECK_EQ(arguments, output.code, code);
	if (!CHECK(want, output.text && strstr(output.text, want)))
		printf("%s", output.text ? output.text : "");
}

static bool is_logged(void *context)
{
	const struct live *live = context;
	autooutput struct output output =
		process_shell(-1, "grep 'perhaps after this reload' %s/stile.log", live->directory);

	return output.code == 0;
}

/* What was asked for before the detach does not undo it; what is asked for after it does. */
static void test_stopped(void)
{
	autolive struct live live;

	if (!live_begin(&live, "stopped") || !live_start_web(&live) || !live_start(&live, CONFIG))
		return;
	CHECK_EQ("it is stopped", kill(live.daemon, SIGSTOP), 0);
	CHECK_EQ("protection goes on", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
	check_says(&live, "status", 0, "srv0");
	check_says(&live, "block 192.0.2.1", 0, "is blocked");
	check_says(&live, "reload", 1, "is stopped: 'kill -CONT ");
	CHECK_EQ("another reload is asked for", kill(live.daemon, SIGHUP), 0);
	check_says(&live, "detach", 0,
		   "detached srv0\nstile: the daemon does not answer: process ");
	CHECK("nothing is pinned any more", !live_pinned(&live));
	CHECK_EQ("nobody is limited any more", live_count_served(&live, CLIENT_ONE, 30), 30);
	CHECK_EQ("it goes on", kill(live.daemon, SIGCONT), 0);
	CHECK("it refuses what was asked for before", live_wait(is_logged, &live));
	CHECK("still nothing is pinned", !live_pinned(&live));
	CHECK_EQ("it is not attached, by its metrics",
		 live_metric_now(&live, "stile_attached", "interface=\"srv0\""), 0);
	check_says(&live, "reload", 0, "generation 1 in force");
	CHECK_EQ("once more puts it back", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
}

/* A daemon that lives is told of the detach, so that it believes the next reload. */
static void test_detached(void)
{
	autolive struct live live;

	if (!live_begin(&live, "detached") || !live_start_web(&live) || !live_start(&live, CONFIG))
		return;
	check_says(&live, "detach", 0, "it attaches again when it reloads");
	CHECK_EQ("metrics go on",
		 live_metric_now(&live, "stile_attached", "interface=\"srv0\",mode=\"generic\""),
		 0);
	check_says(&live, "reload", 0, "generation 1 in force");
	CHECK_EQ("and so does protection", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
}

static bool exists(const struct live *live, const char *suffix)
{
	struct stat found;
	char path[128];

	snprintf(path, sizeof(path), "/run/stile/%s.%s", live->instance, suffix);
	return stat(path, &found) == 0;
}

static void test_killed(void)
{
	static const char *const suffixes[] = { "pid", "sock", "lock" };
	autolive struct live live;

	if (!live_begin(&live, "killed") || !live_start(&live, CONFIG))
		return;
	live_stop(&live, SIGKILL);
	check_says(&live, "reload", 1, "no daemon answers at");
	check_says(&live, "detach", 0, "detached srv0\n");
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		CHECK(suffixes[i], !exists(&live, suffixes[i]));
	check_says(&live, "detach", 0, "nothing is attached");
	check_says(&live, "block -n 192.0.2.1", 1, "nothing is attached");
	check_says(&live, "untrust -n 192.0.2.1", 1, "nothing is attached");
}

/* It has made its file, and not yet written who it is. */
static void test_starting(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "starting") || !live_write(&live, "stile.yaml", CONFIG))
		return;
	output = process_shell(live.netns[LIVE_SERVER],
			       "mkdir -p /run/stile; flock /run/stile/%s.pid %s --instance %s run "
			       "-c %s/stile.yaml",
			       live.instance, check_stile(), live.instance, live.directory);
	CHECK_EQ("the second does not start", output.code, 1);
	CHECK_STR_EQ("and says why", output.text,
		     "stile: another daemon runs already: it has only just started\n");
}

CHECK_SUITE(stopped, { "a daemon that is stopped", test_stopped },
	    { "a daemon that is told of a detach", test_detached },
	    { "a daemon that was killed", test_killed },
	    { "a daemon that is starting", test_starting });
