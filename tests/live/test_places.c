/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places of a limiter of concurrency: many connections at once, and what gives a place back. */
#include "check.h"
#include "live.h"
#include "sockets.h"

#define WEB_IPV4 SERVER_IPV4 ":80"
#define QUIET_MS 400

static const char per_client[] = "interfaces: {srv0: {}}\n"
				 "rate_limiters: {a: {algorithm: concurrency, limit: 20}}\n"
				 "listeners: {web: {ports: [80], rate_limiter_name: a}}\n"
				 "metrics: {listen: none}\n";

static const struct service web = { "web", PORT_WEB };

static unsigned int burst(const struct live *live, struct sockets *sockets, const char *from,
			  unsigned int n)
{
	const struct burst all = { from, WEB_IPV4, n, QUIET_MS };

	return sockets_burst(live, sockets, &all);
}

static void test_burst(void)
{
	autosockets struct sockets sockets = {}, others = {};
	autolive struct live live;

	if (!live_begin(&live, "places") || !live_start_web(&live) ||
	    !live_start(&live, per_client))
		return;
	CHECK_EQ("of 500 at once, 20", burst(&live, &sockets, CLIENT_ONE, 500), 20);
	live_check_open(&live, &web, "they are open", 20);
	CHECK_EQ("and no more", burst(&live, &sockets, CLIENT_ONE, 50), 0);
	CHECK_EQ("another client has its own", burst(&live, &others, CLIENT_TWO, 50), 20);
	sockets_close(&sockets, 7);
	live_check_open(&live, &web, "some are closed", 33);
	CHECK_EQ("as many may come", burst(&live, &sockets, CLIENT_ONE, 50), 7);
	sockets_reset(&sockets, 20);
	live_check_open(&live, &web, "all are reset", 20);
	CHECK_EQ("20 more", burst(&live, &sockets, CLIENT_ONE, 500), 20);
}

CHECK_SUITE(places, { "many at once", test_burst });
