/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a capture of the sender's side tells later is what was decided live, to the unit. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20
#define CONNECTIONS 100

static const char config[] = "interfaces: {srv0: {}}\n"
			     "rate_limiters:\n"
			     "  per-client: {limit: 20, window: 1h}\n"
			     "  all-of-web: {keys: [], limit: 1000, window: 1h}\n"
			     "listeners:\n"
			     "  web: {ports: [80], rate_limiter_name: [per-client, all-of-web]}\n"
			     "metrics: {listen: \"127.0.0.1:9466\"}\n";

struct capture_state {
	const struct live *live;
	unsigned int syns;
};

static bool is_listening(void *context)
{
	const struct capture_state *state = context;
	autooutput struct output output =
		process_shell(-1, "grep -q 'listening on' %s/tcpdump.log", state->live->directory);

	return output.code == 0;
}

static bool is_captured(void *context)
{
	const struct capture_state *state = context;
	autooutput struct output output = process_shell(
		-1, "test \"$(tcpdump -nr %s/run.pcap 'tcp[13] = 2' 2>/dev/null | wc -l)\" -ge %u",
		state->live->directory, state->syns);

	return output.code == 0;
}

/* Its ring has slots of that size: of the default one it has eight, and drops what comes next. */
#define FRAME "1514"

static pid_t start_capture(const struct live *live)
{
	char file[128], log[128];
	char *argv[] = { "tcpdump", "-Z",  "root", "-U",	"--immediate-mode",
			 "-s",	    FRAME, "-i",   CLIENT_LINK, "-w",
			 file,	    "tcp", NULL };
	const struct process process = { .netns = live->netns[LIVE_CLIENT],
					 .log = log,
					 .argv = argv };
	struct capture_state state = { .live = live };
	pid_t pid;

	snprintf(file, sizeof(file), "%s/run.pcap", live->directory);
	snprintf(log, sizeof(log), "%s/tcpdump.log", live->directory);
	pid = process_start(&process);
	CHECK("tcpdump is started", pid > 0);
	CHECK("it listens", live_wait(is_listening, &state));
	return pid;
}

/* The number of @name in row @index of the replay's @list. */
static long long number(const json_t *replay, const char *list, size_t index, const char *name)
{
	const json_t *row = json_array_get(json_object_get(replay, list), index);
	const json_t *value = json_object_get(row, name);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static long long decided(const struct live *live, const char *limiter, const char *result)
{
	char labels[128];

	snprintf(labels, sizeof(labels), "limiter=\"%s\",result=\"%s\"", limiter, result);
	return live_metric_now(live, "stile_ratelimit_decisions_total", labels);
}

static void check_replay(const struct live *live)
{
	json_t *replay = live_json(live, "replay %s/run.pcap -c %s/stile.yaml", live->directory,
				   live->directory);

	CHECK("the capture is replayed", replay != NULL);
	CHECK_EQ("a client's limiter allowed as many", number(replay, "limiters", 0, "allowed"),
		 decided(live, "per-client", "allowed"));
	CHECK_EQ("it refused as many", number(replay, "limiters", 0, "limited"),
		 decided(live, "per-client", "limited"));
	CHECK_EQ("the limiter of all allowed as many", number(replay, "limiters", 1, "allowed"),
		 decided(live, "all-of-web", "allowed"));
	CHECK_EQ("the first client's share", number(replay, "clients", 0, "admitted"), LIMIT);
	CHECK_EQ("and what was refused of it", number(replay, "clients", 0, "refused"),
		 CONNECTIONS - LIMIT);
	CHECK_EQ("the second client's share", number(replay, "clients", 1, "admitted"), 1);
	CHECK_EQ("there is no third", number(replay, "clients", 2, "admitted"), -1);
	json_decref(replay);
}

static void test_totals(void)
{
	const struct live_storm storm = { .from = CLIENT_ONE, .connections = CONNECTIONS };
	autoresult struct engine_result result = {};
	autolive struct live live;
	struct capture_state state = { .live = &live, .syns = CONNECTIONS + 1 };
	pid_t tcpdump;

	if (!live_begin(&live, "replay") || !live_start_web(&live) || !live_start(&live, config))
		return;
	tcpdump = start_capture(&live);
	if (tcpdump < 0)
		return;
	if (live_connect(&live, &storm, &result))
		CHECK("a second client is served", live_served(&live, CLIENT_TWO));
	CHECK("all of it is captured", live_wait(is_captured, &state));
	(void)process_end(tcpdump, SIGINT);
	check_replay(&live);
}

CHECK_SUITE(replay, { "a capture's totals are those of the live run", test_totals });
