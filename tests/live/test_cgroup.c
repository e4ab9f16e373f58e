/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose connections are counted, and what becomes of that where a cgroup goes. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "check.h"
#include "enclosure.h"
#include "live.h"
#include "sockets.h"
#include "util.h"

#define WEB_IPV4 SERVER_IPV4 ":80"
#define BOUND 64

#define CONFIG(cgroup)                                                                             \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {a: {limit: 100000, window: 1m}}\n"                                        \
	"listeners: {web: {ports: [80], rate_limiter_name: a}}\n"                                  \
	"metrics: {listen: none}\n" cgroup

static const struct service web = { "web", PORT_WEB };

static char root[PATH_MAX], inside[PATH_MAX + BOUND], outside[PATH_MAX + BOUND];

static bool begin(struct live *live, const char *name)
{
	if (!live_begin(live, name) || !CHECK_EQ("cgroup2 is mounted", cgroup_root(root), 0))
		return false;
	snprintf(inside, sizeof(inside), "%s/inside", root);
	snprintf(outside, sizeof(outside), "%s/outside", root);
	return CHECK("cgroups can be made", mkdir(inside, 0755) == 0 && mkdir(outside, 0755) == 0);
}

/* What was moved there goes back, or has ended. */
static void end(void)
{
	CHECK("this process leaves", enclosure_enter(root));
	CHECK("nothing is left in the cgroups", rmdir(inside) == 0 && rmdir(outside) == 0);
}

static bool configure(struct live *live, const char *cgroup)
{
	char config[PATH_MAX + 1024];

	snprintf(config, sizeof(config), CONFIG("cgroup: %s\n"), cgroup);
	return live_write(live, "stile.yaml", config);
}

/* Services are started by this process, and begin where it is. */
static bool start_web_in(struct live *live, const char *cgroup)
{
	return CHECK("this process moves", enclosure_enter(cgroup)) && live_start_web(live) &&
	       CHECK("and back", enclosure_enter(root));
}

static void stop_web(struct live *live)
{
	(void)process_end(live->others[--live->n_others], SIGKILL);
}

static void reload(const struct live *live)
{
	autooutput struct output output = live_stile(live, "reload");

	if (!CHECK_EQ("it reloads", output.code, 0))
		printf("%s", output.text ? output.text : "");
}

static long long open_now(const struct live *live)
{
	return live_connections(live, "web", "open");
}

static void play_configured(struct live *live)
{
	autosockets struct sockets sockets = {};

	if (!start_web_in(live, outside) || !configure(live, inside))
		return;
	sockets_open(live, &sockets, CLIENT_ONE, WEB_IPV4, 2);
	if (!live_start_again(live))
		return;
	sockets_open(live, &sockets, CLIENT_ONE, WEB_IPV4, 3);
	reload(live);
	CHECK_EQ("what is in another cgroup is not told of", open_now(live), 0);
	if (!configure(live, outside))
		return;
	reload(live);
	live_check_open(live, &web, "in another cgroup by a reload", 5);
	sockets_open(live, &sockets, CLIENT_ONE, WEB_IPV4, 3);
	live_check_open(live, &web, "what comes is told of", 8);
	if (!configure(live, inside))
		return;
	reload(live);
	CHECK_EQ("it is another's again", open_now(live), 0);
	if (!configure(live, "none"))
		return;
	reload(live);
	CHECK_EQ("with none there is no number", open_now(live), -1);
	if (!configure(live, root))
		return;
	reload(live);
	live_check_open(live, &web, "above both of them", 8);
	sockets_close(&sockets, 8);
	live_check_open(live, &web, "to the end", 0);
	stop_web(live);
}

static void test_configured(void)
{
	autolive struct live live;

	if (!begin(&live, "cgroup"))
		return;
	play_configured(&live);
	end();
}

static bool is_attached(void *context)
{
	json_t *status = live_json(context, "status");
	bool attached =
		json_is_true(json_object_get(json_object_get(status, "cgroup"), "attached"));

	json_decref(status);
	return attached;
}

static bool is_detached(void *context)
{
	return !is_attached(context);
}

static void play_removed(struct live *live)
{
	autosockets struct sockets sockets = {};

	if (!start_web_in(live, inside) || !configure(live, inside) || !live_start_again(live))
		return;
	sockets_open(live, &sockets, CLIENT_ONE, WEB_IPV4, 5);
	live_check_open(live, &web, "before", 5);
	stop_web(live);
	sockets_close(&sockets, 5);
	live_check_open(live, &web, "the service ends", 0);
	CHECK("its cgroup is removed", rmdir(inside) == 0);
	CHECK("which is told", live_wait(is_detached, live));
	CHECK("there is one of that name again", mkdir(inside, 0755) == 0);
	CHECK("which is found", live_wait(is_attached, live));
	if (!start_web_in(live, inside))
		return;
	sockets_open(live, &sockets, CLIENT_ONE, WEB_IPV4, 4);
	live_check_open(live, &web, "and told of", 4);
	CHECK_EQ("without mistakes", live_connections(live, "web", "recounted_total"), 0);
	sockets_close(&sockets, 4);
	stop_web(live);
}

static void test_removed(void)
{
	autolive struct live live;

	if (!begin(&live, "cgroup-gone"))
		return;
	play_removed(&live);
	end();
}

static void test_refused(void)
{
	static const struct {
		const char *what, *cgroup, *want;
	} rows[] = {
		{ "what is not there", "/nowhere",
		  "stile.yaml:5:9: cgroup: '/nowhere': No such file or directory" },
		{ "what is no cgroup", "/proc",
		  "stile.yaml:5:9: cgroup: '/proc': it is no directory of a cgroup2 file system" },
	};
	autolive struct live live;

	if (!live_begin(&live, "cgroup-refused"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autooutput struct output output = {};

		if (!configure(&live, rows[i].cgroup))
			return;
		output = live_stile(&live, "run -c %s/stile.yaml", live.directory);
		CHECK_EQ(rows[i].what, output.code, 1);
		if (!CHECK(rows[i].want, output.text && strstr(output.text, rows[i].want)))
			printf("%s", output.text ? output.text : "");
		CHECK("nothing is left behind", !live_pinned(&live));
	}
}

/* A daemon with few capabilities attaches, lists sockets and puts counts right. */
static void test_nobody(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "cgroup-nobody") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("cgroup: none\nuser: nobody\n")))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 6);
	if (!live_write(&live, "stile.yaml", CONFIG("user: nobody\n")))
		return;
	reload(&live);
	live_check_open(&live, &web, "what is older is found", 6);
	live_shell(&live, LIVE_SERVER, "bpftool link detach pinned /sys/fs/bpf/stile/%s/cgroup",
		   live.instance);
	sockets_close(&sockets, 2);
	live_check_open(&live, &web, "what ends unseen too", 4);
	CHECK_EQ("which is told", live_connections(&live, "web", "recounted_total"), 1);
	live_shell(&live, LIVE_SERVER, "! grep -E 'refused|EPERM|not permitted' %s/stile.log",
		   live.directory);
}

static void test_detached(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "cgroup-detach") || !live_start(&live, CONFIG("")))
		return;
	output = process_shell(-1, "bpftool cgroup tree | grep -c stile_sockops");
	CHECK_EQ("it is attached where this test sees the root", output.code, 0);
	output_release(&output);
	output = live_stile(&live, "detach");
	CHECK_EQ("it is detached", output.code, 0);
	output_release(&output);
	output = process_shell(-1, "bpftool cgroup tree | grep -c stile_sockops");
	CHECK_EQ("and nothing of it is left", output.code, 1);
}

CHECK_SUITE(cgroup, { "it is the one that is named", test_configured },
	    { "one that is removed is waited for", test_removed },
	    { "what is none is refused", test_refused },
	    { "few capabilities are enough", test_nobody },
	    { "detach takes it away", test_detached });
