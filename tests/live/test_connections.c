/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open connections, held against what ss(8) lists. */
#include <stdio.h>
#include <string.h>

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

CHECK_SUITE(connections, { "what is open is counted", test_web });
