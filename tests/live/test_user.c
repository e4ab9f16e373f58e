/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon as a user of its own: what it may do, and that all that a daemon does goes on so. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20
#define USER "nobody"
#define GROUP "daemon"

/* The bits of CAP_DAC_READ_SEARCH, NET_BIND_SERVICE, NET_ADMIN, PERFMON and BPF. */
#define CAPABILITIES "000000c000001404"

#define CONFIG(interfaces, limit, user)                                                            \
	"interfaces: {" interfaces "}\n"                                                           \
	"rate_limiters: {per-client: {limit: " limit ", window: 1h}}\n"                            \
	"listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"                         \
	"metrics: {listen: \"127.0.0.1:9466\"}\n" user

static void check_status(const struct live *live, const char *ids)
{
	const char *const lines[] = {
		ids,
		"CapEff:\t" CAPABILITIES,
		"CapPrm:\t" CAPABILITIES,
		"CapBnd:\t" CAPABILITIES,
		"CapInh:\t0000000000000000",
		"CapAmb:\t0000000000000000",
		"NoNewPrivs:\t1",
		"Seccomp:\t2",
	};
	autooutput struct output output =
		process_shell(-1, "cat /proc/%d/status", (int)live->daemon);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CHECK(lines[i], output.text && strstr(output.text, lines[i]));
}

static bool run(const struct live *live, const char *arguments)
{
	autooutput struct output output = live_stile(live, "%s", arguments);

	if (CHECK_EQ(arguments, output.code, 0))
		return true;
	printf("%s", output.text ? output.text : "");
	return false;
}

static bool reload(const struct live *live, const char *config)
{
	return live_write(live, "stile.yaml", config) && run(live, "reload");
}

static void check_log(const struct live *live)
{
	autooutput struct output output =
		process_shell(-1,
			      "grep -e 'was refused' -e 'Operation not permitted' -e "
			      "'Permission denied' %s/stile.log",
			      live->directory);

	if (!CHECK_EQ("nothing was refused it", output.code, 1))
		printf("%s", output.text ? output.text : "");
}

/* The folders that instances share are root's again. */
static void take_back(const struct live *live)
{
	live_shell(live, LIVE_SERVER, "chown root:root /run/stile /sys/fs/bpf/stile");
}

static void check_goes_on(const struct live *live)
{
	CHECK_EQ("some get in", live_count_served(live, CLIENT_ONE, 15), 15);
	run(live, "status");
	if (reload(live, CONFIG("srv0: {}, lo: {}", "20", "user: " USER "\n")))
		CHECK_EQ("the rest of the limit", live_count_served(live, CLIENT_ONE, 15),
			 LIMIT - 15);
	reload(live, CONFIG("srv0: {}", "20, max_keys: 300", "user: " USER "\n"));
	CHECK_EQ("copied", live_count_served(live, CLIENT_ONE, 5), 0);
	run(live, "block " CLIENT_TWO " --for 1h");
	CHECK("a list is changed", !live_served(live, CLIENT_TWO));
	run(live, "unblock " CLIENT_TWO);
	CHECK("and again", live_served(live, CLIENT_TWO));
	CHECK_EQ("metrics are served",
		 live_metric_now(live, "stile_attached", "interface=\"srv0\""), 1);
	run(live, "detach");
	CHECK("nothing is pinned any more", !live_pinned(live));
	run(live, "reload");
	CHECK_EQ("it is put back", live_count_served(live, CLIENT_THREE, 30), LIMIT);
}

/* Each of the two finds what the other has left. */
static void check_adoption(struct live *live)
{
	live_stop(live, SIGKILL);
	if (!live_write(live, "stile.yaml", CONFIG("srv0: {}", "20", "user: root\n")) ||
	    !live_start_again(live))
		return;
	check_status(live, "Uid:\t0\t0\t0\t0");
	CHECK_EQ("root keeps the buckets", live_count_served(live, CLIENT_THREE, 5), 0);
	run(live, "reload");
	live_stop(live, SIGKILL);
	if (!live_write(live, "stile.yaml", CONFIG("srv0: {}", "20", "user: " USER "\n")) ||
	    !live_start_again(live))
		return;
	CHECK_EQ("and so does the user", live_count_served(live, CLIENT_THREE, 5), 0);
	run(live, "reload");
	CHECK_EQ("it ends well", live_stop(live, SIGTERM), 0);
	CHECK("and leaves nothing", !live_pinned(live));
}

static void test_user(void)
{
	autolive struct live live;

	if (!live_begin(&live, "user") || !live_start_web(&live))
		return;
	if (live_start(&live, CONFIG("srv0: {}", "20", "user: " USER "\n"))) {
		check_status(&live, "Uid:\t65534\t65534\t65534\t65534");
		check_goes_on(&live);
		check_adoption(&live);
		check_log(&live);
	}
	take_back(&live);
}

static void test_refused(void)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "user: no-such-user\n",
		  ":5:7: user: found 'no-such-user', expected a user of this host" },
		{ "control_group: no-such-group\n",
		  ":5:16: control_group: found 'no-such-group', expected a group of this host" },
		{ "user: no-such-user\ncontrol_group: rot\n",
		  ":6:16: control_group: found 'rot', expected a group of this host; did you mean "
		  "'root'?" },
		{ "user: no-such-user\ncontrol_group: rot\n",
		  "not started, and nothing was changed: mistakes in the configuration" },
	};
	autolive struct live live;
	char config[512];

	if (!live_begin(&live, "user-refused"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autooutput struct output output = {};

		snprintf(config, sizeof(config), CONFIG("srv0: {}", "20", "%s"), rows[i].line);
		if (!live_write(&live, "stile.yaml", config))
			return;
		output = live_stile(&live, "run -c %s/stile.yaml", live.directory);
		CHECK_EQ("it does not start", output.code, 1);
		if (!CHECK(rows[i].want, output.text && strstr(output.text, rows[i].want)))
			printf("%s", output.text ? output.text : "");
		CHECK("nothing is left behind", !live_pinned(&live));
	}
}

/* A member of the group may ask, others may not. */
static void test_group(void)
{
	static const struct {
		const char *what, *as;
		int code;
		const char *want;
	} rows[] = {
		{ "a member", "setpriv --reuid " USER " --regid " GROUP " --clear-groups", 0,
		  "in force" },
		{ "somebody else", "setpriv --reuid " USER " --regid nogroup --clear-groups", 1,
		  "it takes root, or a member of its control_group" },
	};
	autolive struct live live;

	if (!live_begin(&live, "user-group") ||
	    !live_start(&live, CONFIG("srv0: {}", "20", "control_group: " GROUP "\n")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autooutput struct output output = process_shell(
			-1, "cp %s %s/stile && %s %s/stile --instance %s reload", check_stile(),
			live.directory, rows[i].as, live.directory, live.instance);

		CHECK_EQ(rows[i].what, output.code, rows[i].code);
		if (!CHECK(rows[i].want, output.text && strstr(output.text, rows[i].want)))
			printf("%s", output.text ? output.text : "");
	}
}

/* What a reload says of the user is held against whom the daemon is. */
static void check_reloads(const struct live *live)
{
	static const struct {
		const char *line, *want; /* NULL: no warning */
	} rows[] = {
		{ "user: daemon\n", "user: the daemon stays '" USER "' until the next start" },
		{ "user: " USER "\n", NULL },
		{ "user: nobdy\n", "there is no user 'nobdy': the next start will be refused" },
		{ "user: " USER "\n", NULL },
		{ "user: " USER "\ncontrol_group: no-such-group\n",
		  "there is no group 'no-such-group': the next start will be refused" },
		{ "", "user: the daemon stays '" USER "' until the next start" },
	};
	char config[512];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autooutput struct output output = {};

		snprintf(config, sizeof(config), CONFIG("srv0: {}", "20", "%s"), rows[i].line);
		if (!live_write(live, "stile.yaml", config))
			return;
		output = live_stile(live, "reload");
		CHECK_EQ(rows[i].line, output.code, 0);
		if (rows[i].want)
			CHECK(rows[i].want, output.text && strstr(output.text, rows[i].want));
		else
			CHECK("as it is: no warning", output.text && !strstr(output.text, "user:"));
	}
}

static void test_reloads(void)
{
	autolive struct live live;

	if (!live_begin(&live, "user-reloads"))
		return;
	if (live_start(&live, CONFIG("srv0: {}", "20", "user: " USER "\n"))) {
		check_reloads(&live);
		check_log(&live);
	}
	take_back(&live);
}

/* A daemon beside one of another user would take its folders away. */
static void check_beside(const struct live *live, const char *user, int code)
{
	autooutput struct output output = {};
	char config[512];

	snprintf(config, sizeof(config),
		 "listeners: {web: {ports: [81]}}\nmetrics: {listen: none}\nuser: %s\n", user);
	if (!live_write(live, "other.yaml", config))
		return;
	output = process_shell(
		live->netns[LIVE_SERVER],
		"tries=0; at=%s/other; %s --instance %s-2 run -i lo -c $at.yaml >$at.log 2>&1 & "
		"until grep -qE 'generation|not started' $at.log || [ $tries = 750 ]; "
		"do tries=$((tries + 1)); sleep 0.02; done; "
		"! grep -q generation $at.log || kill $!; "
		"wait $!; code=$?; cat $at.log; exit $code",
		live->directory, check_stile(), live->instance);
	if (!CHECK_EQ(user, output.code, code))
		printf("%s", output.text ? output.text : "");
	CHECK("it says why, or starts",
	      output.text && strstr(output.text, code == 1 ? "runs as another user, and could not"
							   : "lo: attached in"));
	run(live, "reload");
}

static void test_beside(void)
{
	autolive struct live live;

	if (!live_begin(&live, "user-beside"))
		return;
	if (live_start(&live, CONFIG("srv0: {}", "20", "user: " USER "\n"))) {
		check_beside(&live, "root", 1);
		check_beside(&live, USER, 0);
		CHECK_EQ("it ends well", live_stop(&live, SIGTERM), 0);
	}
	if (live_start(&live, CONFIG("srv0: {}", "20", "user: root\n"))) {
		check_beside(&live, USER, 1);
		CHECK_EQ("and so does root's", live_stop(&live, SIGTERM), 0);
	}
	CHECK("nothing is left", !live_pinned(&live));
}

/* A folder that is root's alone. */
static void test_socket_stays(void)
{
	autooutput struct output output = {};
	autolive struct live live;
	char line[256];
	char config[512];

	if (!live_begin(&live, "user-socket"))
		return;
	snprintf(line, sizeof(line), "user: " USER "\ncontrol: %s/sock\n", live.directory);
	snprintf(config, sizeof(config), CONFIG("srv0: {}", "20", "%s"), line);
	if (live_start(&live, config)) {
		CHECK_EQ("it ends well", live_stop(&live, SIGTERM), 0);
		output = process_shell(-1, "grep -c \"sock' stays\" %s/stile.log", live.directory);
		CHECK_STR_EQ("and says what is left", output.text, "1\n");
	}
	take_back(&live);
}

CHECK_SUITE(user, { "a daemon that is not root", test_user },
	    { "users and groups that are not there", test_refused },
	    { "a group for the control socket", test_group },
	    { "another user at a reload", test_reloads },
	    { "a socket that stays", test_socket_stays },
	    { "instances of two users", test_beside });
