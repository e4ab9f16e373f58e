/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces that are not there yet, go, come back, and change their name, state or namespace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20

#define CONFIG(interfaces)                                                                         \
	"interfaces: {" interfaces "}\n"                                                           \
	"rate_limiters:\n"                                                                         \
	"  per-client: {limit: 20, window: 1h}\n"                                                  \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"                                    \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

struct line {
	const struct live *live;
	char text[128];
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
	struct line line = { .live = live, .times = times };

	snprintf(line.text, sizeof(line.text), "%s", text);
	return CHECK(text, live_wait(is_logged, &line));
}

static bool is_healthy(const struct live *live)
{
	autofree char *page = live_page(live, "/healthz");

	return page && strcmp(page, "ok\n") == 0;
}

static long long attached(const struct live *live, const char *name)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "interface=\"%s\"", name);
	return live_metric_now(live, "stile_attached", labels);
}

static void test_appears(void)
{
	autolive struct live live;

	if (!live_begin(&live, "if-appears") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0: {}, later: {}")))
		return;
	wait_logged(&live, 1, "interface 'later' is not there: it is attached when it appears");
	CHECK("it is not healthy while one is missing", !is_healthy(&live));
	CHECK_EQ("what is there is protected", live_count_served(&live, CLIENT_ONE, 15), 15);
	live_shell(&live, LIVE_SERVER, "ip link add later type veth peer name other");
	if (!wait_logged(&live, 1, "later: attached in generic mode"))
		return;
	CHECK_EQ("the new one is attached", attached(&live, "later"), 1);
	CHECK("all is well then", is_healthy(&live));
	CHECK_EQ("the buckets have gone on", live_count_served(&live, CLIENT_ONE, 15), LIMIT - 15);
	live_shell(&live, LIVE_SERVER, "ip link del later");
	wait_logged(&live, 1, "later: is gone");
	CHECK("it is not healthy while it is gone", !is_healthy(&live));
	CHECK_EQ("nor attached", attached(&live, "later"), 0);
	live_shell(&live, LIVE_SERVER, "ip link add later type veth peer name other");
	wait_logged(&live, 2, "later: attached in generic mode");
	CHECK("it is well again", is_healthy(&live));
}

static unsigned long count_logged(const struct live *live, const char *text)
{
	autooutput struct output output =
		process_shell(-1, "grep -cF -- \"%s\" %s/stile.log", text, live->directory);

	return output.text ? strtoul(output.text, NULL, 10) : 0;
}

/* Of the file, each warning is told by the load that reads it, and by no other. */
static void test_told_once(void)
{
	autolive struct live live;

	if (!live_begin(&live, "if-told") ||
	    !live_start(&live, "interfaces: {srv0: {}, later: {}, tun9: {}}\n"
			       "rate_limiters: {a: {limit: 20, window: 1h}}\n"
			       "listeners: {web: {ports: [80], rate_limiter_name: [a, a]}}\n"
			       "metrics: {listen: none}\n"))
		return;
	CHECK_EQ("told at the start", count_logged(&live, "is named 2 times"), 1);
	live_shell(&live, LIVE_SERVER, "ip link add later type veth peer name other");
	wait_logged(&live, 1, "later: attached in generic mode");
	CHECK_EQ("and no more", count_logged(&live, "is named 2 times"), 1);
	CHECK_EQ("nor what is missing still", count_logged(&live, "'tun9' is not there"), 1);
	live_shell(&live, LIVE_SERVER, "ip tuntap add tun9 mode tun");
	wait_logged(&live, 1, "tun9: has appeared, without Ethernet headers");
	wait_logged(&live, 1, "tun9: attached in generic mode");
}

static void test_missing(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "if-missing") ||
	    !live_write(&live, "stile.yaml", CONFIG("nowhere: {}, neither: {}")))
		return;
	output = live_stile(&live, "run -c %s/stile.yaml", live.directory);
	CHECK_EQ("without any of them it does not start", output.code, 1);
	CHECK("and says which",
	      output.text &&
		      strstr(output.text, "stile.yaml:1:14: interface 'nowhere' is not there"));
	CHECK("all of them",
	      output.text && strstr(output.text, "interface 'neither' is not there"));
	CHECK("nothing is left behind", !live_pinned(&live));
}

static void test_states(void)
{
	autolive struct live live;

	if (!live_begin(&live, "if-states") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0: {}")))
		return;
	live_shell(&live, LIVE_SERVER, "ip link set srv0 down");
	wait_logged(&live, 1, "srv0: is down");
	live_shell(&live, LIVE_SERVER,
		   "ip link set srv0 up; ip address replace " SERVER_IPV4 "/24 dev srv0");
	wait_logged(&live, 1, "srv0: is up");
	live_shell(&live, LIVE_CLIENT, "ip link set cli0 down");
	wait_logged(&live, 1, "srv0: has no carrier");
	live_shell(&live, LIVE_CLIENT, "ip link set cli0 up");
	wait_logged(&live, 1, "srv0: has its carrier again");
	live_shell(&live, LIVE_SERVER, "ip link set srv0 mtu 1400");
	wait_logged(&live, 1, "srv0: its MTU is 1400 now, after 1500");
	CHECK("it is healthy all the while", is_healthy(&live));
	CHECK_EQ("and protects", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
}

/* The link follows the interface, not its name, and a load finds it by either. */
static void test_renamed(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "if-renamed") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0: {}")))
		return;
	CHECK_EQ("some get in", live_count_served(&live, CLIENT_ONE, 10), 10);
	live_shell(&live, LIVE_SERVER,
		   "ip link set srv0 down; ip link set srv0 name wan0; ip link set wan0 up; "
		   "ip address replace " SERVER_IPV4 "/24 dev wan0");
	wait_logged(&live, 1, "srv0: is called 'wan0' now");
	CHECK("it is healthy", is_healthy(&live));
	CHECK_EQ("and protects", live_count_served(&live, CLIENT_ONE, 5), 5);
	output = live_stile(&live, "reload");
	CHECK_EQ("a load by the old name", output.code, 0);
	output_release(&output);
	CHECK_EQ("swaps its program", live_count_served(&live, CLIENT_ONE, 3), 3);
	if (!live_write(&live, "stile.yaml", CONFIG("wan0: {}")))
		return;
	output = live_stile(&live, "reload");
	CHECK_EQ("a load by the new name", output.code, 0);
	wait_logged(&live, 1, "wan0: swapped in place");
	CHECK_EQ("keeps the rest of the limit", live_count_served(&live, CLIENT_ONE, 30), 2);
	output_release(&output);
	output = process_shell(-1, "ls /sys/fs/bpf/stile/%s | grep -c srv0", live.instance);
	CHECK_STR_EQ("nothing is pinned by the old name", output.text, "0\n");
}

/* Two interfaces that exchange their names keep their protection through a load. */
static void test_exchanged(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "if-exchanged") || !live_start_web(&live))
		return;
	live_shell(&live, LIVE_SERVER, "ip link add one0 type veth peer name other");
	if (!live_start(&live, CONFIG("srv0: {}, one0: {}")))
		return;
	CHECK_EQ("some get in", live_count_served(&live, CLIENT_ONE, 10), 10);
	live_shell(&live, LIVE_SERVER,
		   "ip link set srv0 down; ip link set srv0 name x; ip link set one0 name srv0; "
		   "ip link set x name one0; ip link set one0 up; "
		   "ip address replace " SERVER_IPV4 "/24 dev one0");
	/* The names mean others now, which is found by itself. */
	wait_logged(&live, 1, "srv0: has appeared");
	output = live_stile(&live, "reload");
	CHECK_EQ("and a load is done", output.code, 0);
	CHECK("both are attached", is_healthy(&live));
	CHECK_EQ("the rest of the limit", live_count_served(&live, CLIENT_ONE, 30), 10);
	output_release(&output);
	output = process_shell(-1, "grep -c 'protected no more' %s/stile.log", live.directory);
	CHECK_STR_EQ("none is let go", output.text, "0\n");
	output_release(&output);
	output = live_stile(&live, "status");
	CHECK_EQ("status", output.code, 0);
}

/* An interface that leaves takes its protection along; what comes in its place gets its own. */
static void test_moved(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "if-moved") || !live_start_web(&live))
		return;
	live_shell(&live, LIVE_SERVER, "ip link add one0 type veth peer name other");
	if (!live_start(&live, CONFIG("srv0: {}, one0: {}")))
		return;
	live_shell(&live, LIVE_SERVER, "ip link set one0 netns " LIVE_PREFIX "if-moved-cli");
	wait_logged(&live, 1, "one0: has moved to another network namespace");
	output = live_stile(&live, "reload");
	CHECK_EQ("a load is done", output.code, 0);
	CHECK("and says it",
	      output.text && strstr(output.text, "Stile stays attached to it there"));
	CHECK_EQ("it is attached there", attached(&live, "one0"), 1);
	output_release(&output);
	output =
		process_shell(live.netns[LIVE_CLIENT], "ip -d link show one0 | grep -c xdpgeneric");
	CHECK_STR_EQ("so its own namespace says", output.text, "1\n");
	live_shell(&live, LIVE_CLIENT, "ip link set one0 netns " LIVE_PREFIX "if-moved-srv");
	wait_logged(&live, 1, "one0: has appeared");
	wait_logged(&live, 2, "one0: swapped in place");
	live_shell(&live, LIVE_SERVER,
		   "ip link set one0 netns " LIVE_PREFIX "if-moved-cli && "
		   "ip link add one0 type veth peer name third");
	wait_logged(&live, 2, "one0: attached in generic mode");
	output_release(&output);
	output = process_shell(live.netns[LIVE_CLIENT],
			       "while ip link show one0 | grep xdpgeneric; do sleep 0.02; done");
	CHECK_EQ("what has left is let go", output.code, 0);
	wait_logged(&live, 1,
		    "interface in another network namespace that was 'one0' is protected no more");
}

/* A name that another interface has taken means that one: the first is let go, and told of. */
static void test_displaced(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "if-displaced"))
		return;
	live_shell(&live, LIVE_SERVER, "ip link add one0 type veth peer name other");
	if (!live_start(&live, CONFIG("srv0: {}, one0: {}")))
		return;
	live_shell(&live, LIVE_SERVER, "ip link set one0 name two0");
	wait_logged(&live, 1, "one0: is called 'two0' now");
	live_shell(&live, LIVE_SERVER, "ip link add one0 type veth peer name third");
	wait_logged(&live, 1, "one0: attached in generic mode");
	wait_logged(&live, 1, "interface 'two0', which was 'one0', is protected no more");
	CHECK("what is configured is attached", is_healthy(&live));
	output = process_shell(live.netns[LIVE_SERVER],
			       "while ip link show two0 | grep xdpgeneric; do sleep 0.02; done; "
			       "ip link show one0 | grep -c xdpgeneric");
	CHECK("the one by its name alone", output.text && strstr(output.text, "1\n"));
	output_release(&output);
	output = live_stile(&live, "reload");
	CHECK("a reload does not say it again",
	      output.code == 0 && output.text && !strstr(output.text, "protected no more"));
}

CHECK_SUITE(interfaces, { "one appears, goes, and comes back", test_appears },
	    { "what the file says is told once", test_told_once },
	    { "none is there", test_missing }, { "down, up, no carrier, another MTU", test_states },
	    { "another name", test_renamed }, { "names exchanged", test_exchanged },
	    { "another namespace", test_moved },
	    { "a name that another has taken", test_displaced });
