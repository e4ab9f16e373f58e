/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Starts under every condition: with what is missing said in a sentence, or done without. And what
 * the service manager is told.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20

#define CONFIG(enabled)                                                                            \
	"enabled: " enabled "\n"                                                                   \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters:\n"                                                                         \
	"  per-client: {limit: 20, window: 1h}\n"                                                  \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"                                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static void test_refused(void)
{
	static const struct {
		const char *what, *before, *want;
	} rows[] = {
		{ "as nobody", "setpriv --reuid nobody --clear-groups", "it takes root" },
		{ "without CAP_BPF", "setpriv --bounding-set -bpf,-sys_admin",
		  "it takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON" },
		{ "without CAP_PERFMON", "setpriv --bounding-set -perfmon,-sys_admin",
		  "load the program: Permission denied: it takes root, or CAP_BPF, "
		  "CAP_NET_ADMIN and CAP_PERFMON" },
		{ "without CAP_NET_ADMIN", "setpriv --bounding-set -net_admin,-sys_admin",
		  "it takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON" },
		{ "without bpffs, and the right to mount it",
		  "unshare -m sh -c 'umount /sys/fs/bpf && "
		  "exec setpriv --bounding-set -sys_admin \"$@\"' sh",
		  "'mount -t bpf bpf /sys/fs/bpf' as root does it" },
		{ "without /sys", "unshare -m sh -c 'umount -R /sys && exec \"$@\"' sh",
		  "/sys/fs/bpf is missing: mount sysfs at /sys" },
		{ "with a /run that cannot be written",
		  "unshare -m sh -c 'mount -t tmpfs -o ro none /run && exec \"$@\"' sh",
		  "its folder must be there, and writable" },
	};
	autolive struct live live;

	if (!live_begin(&live, "start-refused") || !live_write(&live, "stile.yaml", CONFIG("true")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autooutput struct output output = process_shell(
			live.netns[LIVE_SERVER], "%s %s --instance %s run -c %s/stile.yaml",
			rows[i].before, check_stile(), live.instance, live.directory);

		CHECK_EQ(rows[i].what, output.code, 1);
		if (!CHECK(rows[i].want, output.text && strstr(output.text, rows[i].want)))
			printf("%s", output.text ? output.text : "");
		CHECK("nothing is left behind", !live_pinned(&live));
	}
}

/* It starts, says that it is attached, reloads, and ends well. */
static void check_runs(const struct live *live, const char *what, const char *before)
{
	autooutput struct output output =
		process_shell(live->netns[LIVE_SERVER],
			      "log=%s/run.log; : >$log\n"
			      "%s %s --instance %s run -c %s/stile.yaml >$log 2>&1 & p=$!\n"
			      "until grep -q ' mode$' $log || ! kill -0 $p; do sleep 0.02; done\n"
			      "%s --instance %s reload; code=$?\n"
			      "kill $p; wait $p || code=$?; cat $log; exit $code",
			      live->directory, before, check_stile(), live->instance,
			      live->directory, check_stile(), live->instance);

	CHECK_EQ(what, output.code, 0);
	if (!CHECK(what, output.text && strstr(output.text, "srv0: attached in generic mode")))
		printf("%s", output.text ? output.text : "");
}

static void test_done_without(void)
{
	static const struct {
		const char *what, *before;
	} rows[] = {
		{ "without bpffs it mounts its own",
		  "unshare -m sh -c 'umount /sys/fs/bpf && exec \"$@\"' sh" },
		{ "without the kernel's BTF",
		  "unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec \"$@\"' sh" },
		{ "without any capability but three",
		  "setpriv --bounding-set -all,+bpf,+net_admin,+perfmon" },
	};
	autolive struct live live;

	if (!live_begin(&live, "start-without") || !live_write(&live, "stile.yaml", CONFIG("true")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_runs(&live, rows[i].what, rows[i].before);
}

/* 500 connections a second and client, with a burst of 1000. */
static void test_no_file(void)
{
	const struct live_storm storm = {
		.from = CLIENT_ONE,
		.connections = 3000,
		.concurrency = 8,
	};
	autoresult struct engine_result result = {};
	autooutput struct output output = {};
	unsigned long long most;
	autolive struct live live;
	struct stat found;

	if (stat("/etc/stile/stile.yaml", &found) == 0) {
		printf("left out: this system has a configuration of its own\n");
		return;
	}
	if (!live_begin(&live, "start-defaults") || !live_start_web(&live))
		return;
	live_shell(&live, LIVE_SERVER, "ip route add default via " CLIENT_ONE);
	live.no_file = true;
	if (!live_start_again(&live) || !live_connect(&live, &storm, &result))
		return;
	most = 1000 + (unsigned long long)((result.seconds + 0.05) * 500);
	CHECK("the burst of the safe defaults gets in", result.outcomes[ENGINE_SUCCEEDED] >= 1000);
	CHECK("and what comes back in that time", result.outcomes[ENGINE_SUCCEEDED] <= most);
	CHECK_EQ("all others are refused",
		 result.outcomes[ENGINE_SUCCEEDED] + result.outcomes[ENGINE_REFUSED], 3000);
	output = process_shell(-1, "cat %s/stile.log", live.directory);
	CHECK("it says so", output.text && strstr(output.text, "safe defaults, 500 connections"));
	output_release(&output);
	output = live_stile(&live, "reload");
	CHECK_EQ("it can be told to reload", output.code, 0);
}

static bool reload(const struct live *live, const char *config)
{
	autooutput struct output output = {};

	if (!live_write(live, "stile.yaml", config))
		return false;
	output = live_stile(live, "reload");
	return CHECK_EQ("the reload is done", output.code, 0);
}

static void test_switched_off(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "start-off") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("false")))
		return;
	CHECK_EQ("everything passes", live_count_served(&live, CLIENT_ONE, 30), 30);
	CHECK("and is counted",
	      live_metric_now(&live, "stile_packets_total", "reason=\"disabled\"") >= 30);
	CHECK_EQ("nobody decides", live_metric_now(&live, "stile_ratelimit_decisions_total", ""),
		 0);
	output = live_stile(&live, "status");
	CHECK("status says so",
	      output.text && strstr(output.text, "switched off by enabled: false"));
	if (!reload(&live, CONFIG("true")))
		return;
	CHECK_EQ("switched on, the limit holds", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
	if (!reload(&live, CONFIG("false")))
		return;
	CHECK_EQ("switched off, it does not", live_count_served(&live, CLIENT_ONE, 30), 30);
	if (!reload(&live, CONFIG("true")))
		return;
	CHECK_EQ("but is not forgotten", live_count_served(&live, CLIENT_ONE, 30), 0);
}

/* The bits of CAP_DAC_READ_SEARCH, NET_BIND_SERVICE, NET_ADMIN, PERFMON and BPF. */
#define CAPABILITIES "000000c000001404"

static void test_privileges(void)
{
	static const char *const lines[] = {
		"CapEff:\t" CAPABILITIES,    "CapPrm:\t" CAPABILITIES,	  "CapBnd:\t" CAPABILITIES,
		"CapInh:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1",
	};
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "start-drop") || !live_start(&live, CONFIG("true")))
		return;
	output = live_stile(&live, "reload"); /* by then it has given them up */
	CHECK_EQ("it reloads", output.code, 0);
	output_release(&output);
	output = process_shell(-1, "cat /proc/%d/status", (int)live.daemon);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CHECK(lines[i], output.text && strstr(output.text, lines[i]));
}

static void test_manager(void)
{
	autolive struct live live;
	bool started;

	if (!live_begin(&live, "start-manager"))
		return;
	(void)setenv("WATCHDOG_USEC", "200000", 1);
	started = live_start(&live, CONFIG("true"));
	(void)unsetenv("WATCHDOG_USEC");
	if (!started)
		return;
	CHECK("the manager hears that it lives", live_told(&live, "WATCHDOG=1"));
	CHECK("and once more", live_told(&live, "WATCHDOG=1"));
	CHECK_EQ("it is told to reload", kill(live.daemon, SIGHUP), 0);
	CHECK("the manager hears of it", live_told(&live, "RELOADING=1\nMONOTONIC_USEC="));
	CHECK("and how it ended", live_told(&live, "READY=1\nSTATUS=Generation 2 on srv0"));
	CHECK_EQ("it is told to end", kill(live.daemon, SIGTERM), 0);
	CHECK("the manager hears of that too", live_told(&live, "STOPPING=1"));
}

CHECK_SUITE(start, { "with too little", test_refused }, { "done without", test_done_without },
	    { "without a file", test_no_file }, { "enabled: false", test_switched_off },
	    { "what it keeps of its privileges", test_privileges },
	    { "what the manager hears", test_manager });
