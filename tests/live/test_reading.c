/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands that only read, with a daemon, after its death, and where nothing is. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

static const char config[] = "interfaces: {srv0: {rate_limiter_name: edge}}\n"
			     "trusted: [10.77.1.11]\n"
			     "rate_limiters:\n"
			     "  edge: {keys: [], limit: 1000, window: 1h}\n"
			     "  per-client: {limit: 5, window: 1h}\n"
			     "listeners:\n"
			     "  web:\n"
			     "    ports: [80, 8000-8099]\n"
			     "    rate_limiter_name: per-client\n"
			     "    sources: {10.77.1.10: none}\n"
			     "  web-too: {addresses: [10.77.1.1], ports: [81]}\n";

static bool begin(struct live *live, const char *name)
{
	return live_begin(live, name) && live_start_web(live) && live_start(live, config) &&
	       CHECK_EQ("the limit gets in", live_count_served(live, CLIENT_ONE, 12), 5);
}

/* Leaves one blank of several: the widths of columns are unit tests' matter. */
static void squeeze(char *text)
{
	char *to = text;

	for (; text && *text; text++) {
		if (text[0] != ' ' || text[1] != ' ')
			*to++ = *text;
	}
	if (text)
		*to = '\0';
}

static void check_says(const struct live *live, const char *arguments, int code, const char *want)
{
	autooutput struct output output = live_stile(live, "%s", arguments);

	squeeze(output.text);
	CHECK_EQ(arguments, output.code, code);
	CHECK(want, output.text && strstr(output.text, want));
}

static void test_status(void)
{
	static const char *const lines[] = {
		"srv0 generic ",
		"web tcp every 80, 8000-8099 per-client\n",
		"web-too tcp 10.77.1.1 81 -\n",
		"web 10.77.1.10 none\n",
		"per-client 5 connections per 1h sliding_window client_ip, IPv4 /32, IPv6 /64 ",
		"/64 reject 1 of 100000 evict 0 0\n",
		"trusted 10.77.1.11 file -\n",
		"web per-client 5 7 0 0 0\n",
		"srv0 reply limited 7 over a limit\n",
		"reset 7\n",
	};
	autolive struct live live;

	if (!begin(&live, "status"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		check_says(&live, "status", 0, lines[i]);
}

/* @path is a list of members and, in figures, of places. */
static void check_member(const struct live *live, const char *path, const char *want)
{
	json_t *json = live_json(live, "status");
	const json_t *at = json;
	autofree char *steps = strdup(path);
	char *text, *rest = NULL;

	for (char *step = strtok_r(steps, " ", &rest); step; step = strtok_r(NULL, " ", &rest)) {
		if (json_is_array(at))
			at = json_array_get(at, (size_t)atoi(step));
		else
			at = json_object_get(at, step);
	}
	text = at ? json_dumps(at, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	CHECK_STR_EQ(path, text, want);
	free(text);
	json_decref(json);
}

static void test_json(void)
{
	static const struct {
		const char *path, *want;
	} rows[] = {
		{ "enabled", "true" },
		{ "generation", "1" },
		{ "interfaces 0 interface", "\"srv0\"" },
		{ "interfaces 0 attached", "true" },
		{ "interfaces 0 mode", "\"generic\"" },
		{ "interfaces 0 rate_limiter_name", "\"edge\"" },
		{ "listeners 0 ports 1", "{\"address\":null,\"first\":8000,\"last\":8099}" },
		{ "listeners 0 sources 0",
		  "{\"source\":\"10.77.1.10\",\"limiters\":[],\"new_sources_limiter\":null}" },
		{ "listeners 1 ports 0", "{\"address\":\"10.77.1.1\",\"first\":81,\"last\":81}" },
		{ "listeners 1 limiters", "[]" },
		{ "limiters 0 keys_by", "[]" },
		{ "limiters 1 limiter", "\"per-client\"" },
		{ "limiters 1 keys", "1" },
		{ "limiters 1 keys_by", "[\"client_ip\"]" },
		{ "replies reset", "7" },
		{ "trusted 0",
		  "{\"prefix\":\"10.77.1.11\",\"by\":\"file\",\"expires_seconds\":null}" },
		{ "blocked", "[]" },
	};
	autolive struct live live;

	if (!begin(&live, "statusjson"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_member(&live, rows[i].path, rows[i].want);
}

static void test_names(void)
{
	autolive struct live live;

	if (!begin(&live, "names"))
		return;
	check_says(&live, "clients --limiter per-clint", 1,
		   "there is no limiter 'per-clint', did you mean 'per-client'?");
	check_says(&live, "explain 10.77.1.9 --listener wbe", 1,
		   "there is no listener 'wbe', did you mean 'web'?");
	check_says(&live, "explain 10.77.1.9 -i eth7", 1, "there is no interface 'eth7'");
	check_says(&live, "explain " CLIENT_THREE " -i srv0 --listener web", 0,
		   "exempt: the source is trusted");
	check_says(&live, "explain " CLIENT_TWO " --listener web", 0,
		   "its own policy instead of the listener's");
	check_says(&live, "explain 192.0.2.1 --port 8050", 0, "192.0.2.1 at listener web (tcp)");
	check_says(&live, "explain 192.0.2.1 --port tcp/81 --to 10.77.1.1", 0,
		   "192.0.2.1 at listener web-too (tcp)");
	check_says(&live, "explain 192.0.2.1 --port 81 --to 10.77.1.2", 0,
		   "no listener stands at tcp port 81 there");
	check_says(&live, "explain 192.0.2.1 --port udp/80", 0,
		   "no listener stands at udp port 80 there");
}

static void test_without_daemon(void)
{
	autolive struct live live;

	if (!begin(&live, "dead"))
		return;
	(void)live_stop(&live, SIGKILL); /* its status is that of a killed process */
	check_says(&live, "status", 0, "web per-client 5 7 ");
	check_says(&live, "clients", 0, CLIENT_ONE);
	check_says(&live, "explain " CLIENT_ONE, 0, "admitted in ");
	check_says(&live, "detach", 0, "");
	check_says(&live, "status", 1, "nothing is attached (instance live-dead)");
	check_says(&live, "clients", 1, "start it with stile run");
	check_says(&live, "explain " CLIENT_ONE, 1, "nothing is attached");
}

CHECK_SUITE(reading, { "status", test_status }, { "status as JSON", test_json },
	    { "names that nothing has", test_names }, { "without a daemon", test_without_daemon });
