/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open connections, held against what ss(8) lists. */
#include <signal.h>

#include "check.h"
#include "live.h"
#include "sockets.h"
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

CHECK_SUITE(connections, { "what is open is counted", test_web },
	    { "what was open before is counted", test_older },
	    { "a killed daemon misses nothing", test_killed });
