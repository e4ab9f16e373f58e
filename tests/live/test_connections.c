/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open connections, held against what ss(8) lists. */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "sockets.h"
#include "traffic/endpoint.h"
#include "util.h"

#define WEB_IPV4 SERVER_IPV4 ":80"
#define WEB_IPV6 "[" SERVER_IPV6 "]:80"

static const char config[] = "interfaces: {srv0: {}}\n"
			     "rate_limiters: {a: {limit: 100000, window: 1m}}\n"
			     "listeners: {web: {ports: [80], rate_limiter_name: a}}\n"
			     "metrics: {listen: none}\n";

static const struct service web = { "web", PORT_WEB };

static void test_web(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "connections") || !live_start_web(&live) ||
	    !live_start(&live, config))
		return;
	live_check_open(&live, &web, "nothing is open", 0);
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 20);
	live_check_open(&live, &web, "connections over IPv4", 20);
	sockets_open(&live, &sockets, CLIENT_SIX_ONE, WEB_IPV6, 10);
	live_check_open(&live, &web, "and over IPv6, at the same listening socket", 30);
	sockets_close(&sockets, 5);
	live_check_open(&live, &web, "some are closed", 25);
	sockets_reset(&sockets, 5);
	live_check_open(&live, &web, "and some are reset", 20);
	sockets_close(&sockets, 20);
	live_check_open(&live, &web, "all are closed", 0);
}

/* What was there before anything was attached. */
static void test_older(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "older") || !live_start_web(&live))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 7);
	sockets_open(&live, &sockets, CLIENT_SIX_ONE, WEB_IPV6, 4);
	if (!live_start(&live, config))
		return;
	live_check_open(&live, &web, "what was open before", 11);
	CHECK_EQ("was opened before", live_connections(&live, "web", "opened_total"), 0);
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 5);
	live_check_open(&live, &web, "and what came since", 16);
	CHECK_EQ("of which this is told", live_connections(&live, "web", "opened_total"), 5);
	sockets_close(&sockets, 6);
	live_check_open(&live, &web, "the end of those that were there before is told", 10);
	sockets_reset(&sockets, 10);
	live_check_open(&live, &web, "to the last", 0);
}

static void test_killed(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "killed") || !live_start_web(&live) || !live_start(&live, config))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 6);
	live_check_open(&live, &web, "before the daemon is killed", 6);
	(void)live_stop(&live, SIGKILL);
	sockets_close(&sockets, 3);
	sockets_open(&live, &sockets, CLIENT_TWO, WEB_IPV4, 4);
	live_check_open(&live, &web, "while there is none", 7);
	if (!live_start_again(&live))
		return;
	live_check_open(&live, &web, "the next one", 7);
	CHECK_EQ("has nothing to put right", live_connections(&live, "web", "recounted_total"), 0);
	CHECK_EQ("and has seen all of them open", live_connections(&live, "web", "opened_total"),
		 10);
	sockets_close(&sockets, 7);
	live_check_open(&live, &web, "and their end", 0);
}

/* A service that listens and does nothing else. */
static int listen_on(const struct live *live, const char *where)
{
	struct endpoint endpoint;
	int fd;

	(void)endpoint_parse(where, &endpoint);
	live_enter(live, LIVE_SERVER);
	fd = socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(live);
	if (!CHECK("a socket listens",
		   fd >= 0 &&
			   bind(fd, (struct sockaddr *)&endpoint.address, endpoint.length) == 0 &&
			   listen(fd, 64) == 0) &&
	    fd >= 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static void test_not_accepted(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;
	int service;

	if (!live_begin(&live, "not-accepted"))
		return;
	service = listen_on(&live, "[::]:80");
	if (service < 0 || !live_start(&live, config)) {
		(void)close(service);
		return;
	}
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 6);
	sockets_open(&live, &sockets, CLIENT_SIX_ONE, WEB_IPV6, 5);
	live_check_open(&live, &web, "nobody accepts them", 11);
	sockets_reset(&sockets, 2);
	live_check_open(&live, &web, "some are reset", 9);
	(void)close(service);
	live_check_open(&live, &web, "the service goes without having accepted", 0);
}

static void test_syn_cookies(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "syn-cookies") || !live_start_web(&live) ||
	    !live_start(&live, config))
		return;
	live_shell(&live, LIVE_SERVER, "echo 2 > /proc/sys/net/ipv4/tcp_syncookies");
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 8);
	sockets_open(&live, &sockets, CLIENT_SIX_ONE, WEB_IPV6, 8);
	live_check_open(&live, &web, "what a SYN cookie brought", 16);
	/* Not by FIN: its ACK, where it comes twice, is a valid cookie to the kernel. */
	sockets_reset(&sockets, 16);
	live_check_open(&live, &web, "and its end", 0);
}

/* What status of a client, and its explanation, say. */
static long long open_of(const struct live *live, const char *client)
{
	json_t *json = live_json(live, "explain --listener web %s", client);
	const json_t *first = json_array_get(json_object_get(json, "explanations"), 0);
	long long n = json_integer_value(json_object_get(first, "open"));

	json_decref(json);
	return n;
}

static long long listed_of(const struct live *live, const char *client)
{
	json_t *json = live_json(live, "clients --sort open"), *row;
	long long n = -1;
	size_t i;

	json_array_foreach(json_object_get(json, "clients"), i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "address")), client) == 0)
			n = json_integer_value(json_object_get(row, "open"));
	}
	json_decref(json);
	return n;
}

static void test_clients(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "holders") || !live_start_web(&live) || !live_start(&live, config))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 7);
	sockets_open(&live, &sockets, CLIENT_TWO, WEB_IPV4, 3);
	sockets_open(&live, &sockets, CLIENT_SIX_ONE, WEB_IPV6, 2);
	sockets_open(&live, &sockets, CLIENT_SIX_TWO, WEB_IPV6, 4);
	live_check_open(&live, &web, "all of them", 16);
	CHECK_EQ("one client", open_of(&live, CLIENT_ONE), 7);
	CHECK_EQ("another", open_of(&live, CLIENT_TWO), 3);
	CHECK_EQ("one that holds nothing", open_of(&live, CLIENT_THREE), 0);
	CHECK_EQ("a network of IPv6", open_of(&live, CLIENT_SIX_ONE), 6);
	CHECK_EQ("clients say so too", listed_of(&live, CLIENT_ONE), 7);
	CHECK_EQ("of each", listed_of(&live, CLIENT_TWO), 3);
	sockets_close(&sockets, 8);
	live_check_open(&live, &web, "half of them", 8);
	CHECK_EQ("one client has left", open_of(&live, CLIENT_ONE), 0);
	CHECK_EQ("another nearly", open_of(&live, CLIENT_TWO), 2);
}

static void test_unlimited(void)
{
	static const char unlimited[] = "interfaces: {srv0: {}}\n"
					"listeners: {web: {ports: [80]}}\n"
					"metrics: {listen: none}\n";
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "holders-free") || !live_start_web(&live) ||
	    !live_start(&live, unlimited))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 5);
	live_check_open(&live, &web, "no limiter judges", 5);
	CHECK_EQ("who holds them is listed", listed_of(&live, CLIENT_ONE), 5);
}

static void test_unseen(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "unseen") || !live_start_web(&live) || !live_start(&live, config))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 9);
	sockets_open(&live, &sockets, CLIENT_TWO, WEB_IPV4, 1);
	live_check_open(&live, &web, "while all is well", 10);
	(void)live_stop(&live, SIGKILL);
	live_shell(&live, LIVE_SERVER, "bpftool link detach pinned /sys/fs/bpf/stile/%s/cgroup",
		   live.instance);
	sockets_close(&sockets, 4);
	sockets_open(&live, &sockets, CLIENT_TWO, WEB_IPV4, 2);
	if (!live_start_again(&live))
		return;
	live_check_open(&live, &web, "what came and went unseen is found", 8);
	CHECK_EQ("which is told", live_connections(&live, "web", "recounted_total"), 1);
	CHECK_EQ("one client's count is right", open_of(&live, CLIENT_ONE), 5);
	CHECK_EQ("and another's", open_of(&live, CLIENT_TWO), 3);
	sockets_close(&sockets, 8);
	live_check_open(&live, &web, "and stays so", 0);
	CHECK_EQ("to the end", open_of(&live, CLIENT_ONE), 0);
}

/* Clients that come and go on all CPUs, each entry made and deleted many times. */
static void test_storm(void)
{
	const struct live_storm storm = {
		.from = CLIENT_ONE "," CLIENT_TWO "," CLIENT_RANGE,
		.connections = 20000,
		.concurrency = 32,
	};
	autoresult struct engine_result result = {};
	autosockets struct sockets sockets = {};
	autolive struct live live;
	long long before;

	if (!live_begin(&live, "conn-storm") || !live_start_web(&live) ||
	    !live_start(&live, config))
		return;
	before = live_counter(&live, LIVE_SERVER, "TcpPassiveOpens");
	sockets_open(&live, &sockets, CLIENT_THREE, WEB_IPV4, 3);
	if (!live_connect(&live, &storm, &result))
		return;
	live_check_open(&live, &web, "after a storm, who stayed", 3);
	/* Not what clients saw: where the accept queue overflows, the service has nothing. */
	CHECK_EQ("each connection was counted", live_connections(&live, "web", "opened_total"),
		 live_counter(&live, LIVE_SERVER, "TcpPassiveOpens") - before);
	CHECK("of the storm's, nearly all",
	      live_connections(&live, "web", "opened_total") > storm.connections * 9 / 10);
	CHECK_EQ("none unseen", live_connections(&live, "web", "recounted_total"), 0);
	CHECK_EQ("who stayed holds them", open_of(&live, CLIENT_THREE), 3);
	live_shell(&live, LIVE_SERVER,
		   "test $(bpftool -j map dump pinned /sys/fs/bpf/stile/%s/current/holders | "
		   "jq length) = 1",
		   live.instance);
}

CHECK_SUITE(connections, { "what is open is counted", test_web },
	    { "what was open before is counted", test_older },
	    { "a killed daemon misses nothing", test_killed },
	    { "what nobody accepts is counted", test_not_accepted },
	    { "so is what a SYN cookie brings", test_syn_cookies },
	    { "each client's are", test_clients }, { "also where no limiter is", test_unlimited },
	    { "who comes and goes leaves nothing", test_storm },
	    { "what happens unseen is found", test_unseen });
