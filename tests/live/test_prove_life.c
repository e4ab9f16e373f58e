/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits and places where sources are proven; other links; and what becomes of it when the daemon,
 * the configuration or the interface goes and comes.
 */
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/pkt_cls.h>

#include "check.h"
#include "live.h"
#include "process.h"
#include "sockets.h"
#include "util.h"

#define LIMIT 20
#define SWITCHES 100
#define TCX_INGRESS 46 /* enum bpf_attach_type: Linux 6.6 */

#define CONFIG(interface, proves, limiter)                                                         \
	"interfaces: {" interface "}\n"                                                            \
	"rate_limiters: {one: {" limiter "}}\n"                                                    \
	"listeners: {web: {ports: [80], prove_sources: " proves ", rate_limiter_name: one}}\n"     \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

#define WINDOW "limit: 20, window: 1h"
#define PLACES "algorithm: concurrency, limit: 20"
#define WIDE "limit: 1000000, window: 1h"

static long long packets(const struct live *live, const char *reason)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "reason=\"%s\"", reason);
	return live_metric_now(live, "stile_packets_total", labels);
}

static bool reload(const struct live *live, const char *config)
{
	autooutput struct output output = {};

	if (!live_write(live, "stile.yaml", config))
		return false;
	output = live_stile(live, "reload");
	return CHECK_EQ("it is reloaded", output.code, 0);
}

/* Requests, one after the other: a client that was refused after all learns it when it asks. */
static struct engine_result ask(const struct live *live, enum live_side side, const char *to,
				unsigned int n)
{
	struct engine_plan plan = {
		.connections = n, .concurrency = 1, .seconds = 60, .timeout_ms = 3000, .path = "/"
	};
	struct engine_result result = {};

	(void)endpoint_parse(to, &plan.target);
	live_enter(live, side);
	CHECK_EQ("the client can connect", engine_run(&plan, &result), 0);
	live_leave(live);
	return result;
}

/* How many programs of anybody are at the ingress; -1: the kernel does not say. */
static int count_ingress(const struct live *live)
{
	__u32 ids[8], n = ARRAY_SIZE(ids);
	int result;

	live_enter(live, LIVE_SERVER);
	/* Here, the interface's number is in the place of a descriptor. */
	result = bpf_prog_query((int)if_nametoindex(SERVER_LINK), (enum bpf_attach_type)TCX_INGRESS,
				0, NULL, ids, &n);
	live_leave(live);
	return result < 0 ? -1 : (int)n;
}

/* Exactly so many are let in, and the others told so at once. */
static void check_limit(const struct live *live, enum live_side side, const char *to)
{
	autoresult struct engine_result result = ask(live, side, to, 50);

	CHECK_EQ(to, result.outcomes[ENGINE_SUCCEEDED], LIMIT);
	CHECK_EQ(to, result.outcomes[ENGINE_RESET], 50 - LIMIT);
}

static bool begin(struct live *live, const char *name, const char *config)
{
	return live_begin(live, name) && live_start_web(live) && live_start(live, config);
}

static void test_limit(void)
{
	autolive struct live live;

	if (!begin(&live, "prove-limit", CONFIG("srv0: {}", "always", WINDOW)))
		return;
	check_limit(&live, LIVE_CLIENT, SERVER_IPV4 ":80");
	check_limit(&live, LIVE_CLIENT, "[" SERVER_IPV6 "]:80");
	CHECK_EQ("all were challenged", packets(&live, "challenged"), 100);
}

static void test_native(void)
{
	autolive struct live live;

	if (!live_begin(&live, "prove-native") || !live_peer_native(&live) ||
	    !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0: {mode: native}", "always", WINDOW)))
		return;
	check_limit(&live, LIVE_CLIENT, SERVER_IPV4 ":80");
	check_limit(&live, LIVE_CLIENT, "[" SERVER_IPV6 "]:80");
	CHECK_EQ("all were challenged", packets(&live, "challenged"), 100);
}

static void test_loopback(void)
{
	autolive struct live live;

	if (!begin(&live, "prove-lo", CONFIG("lo: {}", "always", WINDOW)))
		return;
	check_limit(&live, LIVE_SERVER, "127.0.0.1:80");
	check_limit(&live, LIVE_SERVER, "[::1]:80");
	CHECK_EQ("all were challenged", packets(&live, "challenged"), 100);
}

static void test_vlan(void)
{
	autolive struct live live;

	if (!live_begin(&live, "prove-vlan") || !live_start_web(&live) || !live_tag(&live, 7) ||
	    !live_start(&live, CONFIG("srv0: {}", "always", WINDOW)))
		return;
	check_limit(&live, LIVE_CLIENT, SERVER_IPV4 ":80");
	check_limit(&live, LIVE_CLIENT, "[" SERVER_IPV6 "]:80");
	CHECK_EQ("all were challenged", packets(&live, "challenged"), 100);
}

static void test_places(void)
{
	static const struct service web = { "web", PORT_WEB };
	const struct burst burst = {
		.from = CLIENT_ONE, .to = SERVER_IPV4 ":80", .n = 500, .quiet_ms = 300
	};
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live, "prove-places", CONFIG("srv0: {}", "always", PLACES)))
		return;
	(void)sockets_burst(&live, &sockets, &burst); /* some were told too late: see below */
	live_check_open(&live, &web, "of 500 at once, 20 are open", LIMIT);
	sockets_reset(&sockets, sockets.n);
	live_check_open(&live, &web, "all are reset", 0);
	(void)sockets_burst(&live, &sockets, &burst); /* as above */
	live_check_open(&live, &web, "of 500 more, 20", LIMIT);
}

/* The daemon is killed: what is in the kernel goes on. Detached: nothing is left of it. */
static void test_killed(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!begin(&live, "prove-killed", CONFIG("srv0: {}", "always", WINDOW)))
		return;
	live_stop(&live, SIGKILL);
	check_limit(&live, LIVE_CLIENT, SERVER_IPV4 ":80");
	CHECK_EQ("its program at the ingress, too", count_ingress(&live), 1);
	output = live_stile(&live, "detach");
	CHECK_EQ("it is taken out", output.code, 0);
	CHECK_EQ("from the ingress, too", count_ingress(&live), 0);
	CHECK("nothing is pinned", !live_pinned(&live));
}

static void test_switches(void)
{
	const struct live_storm storm = {
		.from = CLIENT_RANGE, .connections = UINT32_MAX, .concurrency = 8, .path = "/"
	};
	static const char *const configs[] = { CONFIG("srv0: {}", "never", WIDE),
					       CONFIG("srv0: {}", "always", WIDE) };
	struct engine_result result = {};
	struct live_background background;
	autolive struct live live;

	if (!begin(&live, "prove-switch", configs[1]) ||
	    !live_storm_begin(&live, &storm, &background))
		return;
	for (int i = 0; i < SWITCHES && reload(&live, configs[i % 2]); i++)
		continue;
	if (!live_storm_end(&background, &result))
		return;
	CHECK("connections came all the time", result.outcomes[ENGINE_SUCCEEDED] > SWITCHES);
	CHECK_EQ("none is refused", result.outcomes[ENGINE_REFUSED], 0);
	CHECK_EQ("none is reset", result.outcomes[ENGINE_RESET], 0);
	CHECK_EQ("none is lost", result.outcomes[ENGINE_TIMED_OUT], 0);
	CHECK_EQ("none fails", result.outcomes[ENGINE_FAILED], 0);
	CHECK("many were challenged", packets(&live, "challenged") > 0);
	printf("prove-switch: %llu connections in %d reloads\n",
	       (unsigned long long)result.attempts, SWITCHES);
}

struct line {
	const struct live *live;
	const char *text;
	unsigned int times;
};

static bool is_logged(void *context)
{
	const struct line *line = context;
	autooutput struct output output = process_shell(-1, "grep -cF -- \"%s\" %s/stile.log",
							line->text, line->live->directory);

	return output.text && strtoul(output.text, NULL, 10) >= line->times;
}

/* Waits until the daemon has logged @text for the @times-th time. */
static bool wait_logged(const struct live *live, unsigned int times, const char *text)
{
	struct line line = { live, text, times };

	return CHECK(text, live_wait(is_logged, &line));
}

/* Another program at the ingress, of somebody else's. Its link, or -1. */
static int attach_other(const struct live *live)
{
	const struct bpf_insn next[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_UNSPEC },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	autofd int program = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "other_tcx", "GPL", next,
					   ARRAY_SIZE(next), NULL);
	int link;

	live_enter(live, LIVE_SERVER);
	link = bpf_link_create(program, (int)if_nametoindex(SERVER_LINK),
			       (enum bpf_attach_type)TCX_INGRESS, NULL);
	live_leave(live);
	return link;
}

static void test_other(void)
{
	autooutput struct output output = {};
	autolive struct live live;
	autofd int link = -1;

	if (!live_begin(&live, "prove-other") || !live_start_web(&live))
		return;
	link = attach_other(&live);
	if (!CHECK("another program is attached", link >= 0) ||
	    !live_start(&live, CONFIG("srv0: {}", "always", WINDOW)))
		return;
	check_limit(&live, LIVE_CLIENT, SERVER_IPV4 ":80");
	CHECK_EQ("both programs are there", count_ingress(&live), 2);
	reload(&live, CONFIG("srv0: {}", "never", WIDE));
	reload(&live, CONFIG("srv0: {}", "always", WIDE));
	CHECK_EQ("after a reload, too", count_ingress(&live), 2);
	live_stop(&live, SIGTERM);
	output = live_stile(&live, "detach");
	CHECK_EQ("it is taken out", output.code, 0);
	CHECK_EQ("the other stays", count_ingress(&live), 1);
}

/* Its link at the ingress goes with the interface, and is made anew with it. */
static void test_comes_back(void)
{
	autolive struct live live;

	if (!begin(&live, "prove-back", CONFIG("srv0: {}", "always", WINDOW)))
		return;
	live_shell(&live, LIVE_SERVER, "ip link del srv0");
	if (!wait_logged(&live, 1, "srv0: is gone"))
		return;
	live_shell(&live, LIVE_SERVER,
		   "ip link add srv0 type veth peer name cli0 netns /proc/%d/fd/%d; "
		   "ip address add " SERVER_IPV4 "/24 dev srv0; ip link set srv0 up",
		   (int)getpid(), live.netns[LIVE_CLIENT]);
	live_shell(&live, LIVE_CLIENT,
		   "ip address add " CLIENT_ONE "/24 dev cli0; "
		   "ip link set cli0 up");
	if (!wait_logged(&live, 2, "srv0: attached in generic mode"))
		return;
	check_limit(&live, LIVE_CLIENT, SERVER_IPV4 ":80");
	CHECK_EQ("all were challenged", packets(&live, "challenged"), 50);
}

/* The kernel takes no cookies: it is said, and every SYN is charged as without. */
static void test_impossible(void)
{
	autoresult struct engine_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "prove-not") || !live_start_web(&live))
		return;
	live_shell(&live, LIVE_SERVER, "sysctl -qw net.ipv4.tcp_syncookies=0");
	if (!live_start(&live, CONFIG("srv0: {}", "always", WINDOW)))
		return;
	wait_logged(&live, 1, "prove_sources of 'web' has no effect: net.ipv4.tcp_syncookies is 0");
	result = ask(&live, LIVE_CLIENT, SERVER_IPV4 ":80", 50);
	CHECK_EQ("so many are let in", result.outcomes[ENGINE_SUCCEEDED], LIMIT);
	CHECK_EQ("and the others refused", result.outcomes[ENGINE_REFUSED], 50 - LIMIT);
	CHECK_EQ("nobody was challenged", packets(&live, "challenged"), 0);
}

CHECK_SUITE(prove_life, { "a limit", test_limit }, { "native", test_native },
	    { "loopback", test_loopback }, { "a VLAN tag", test_vlan }, { "places", test_places },
	    { "a daemon that is killed", test_killed }, { "a hundred switches", test_switches },
	    { "another program at the ingress", test_other },
	    { "an interface that comes back", test_comes_back },
	    { "a kernel without cookies", test_impossible });
