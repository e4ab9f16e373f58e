/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of sessions in a reload, under the watchdog, and in a full table. */
#include "check.h"
#include "prog.h"

#define PORT_ECHO 7
#define ALLOWED "pass allowed echo/l=allowed"
#define SESSION "pass session"
#define LIMITED "drop limited echo/l=limited"
#define HELD "drop held"

/* A datagram from a port of CLIENT_ONE's. */
static struct pkt_spec datagram(uint16_t sport)
{
	return (struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = PORT_ECHO, .sport = sport };
}

static const char *say(struct prog *prog, uint16_t sport)
{
	const struct pkt_spec spec = datagram(sport);

	return prog_send(prog, &spec);
}

static const char config[] =
	"rate_limiters: {l: {limit: 2, window: 10s}}\n"
	"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";

/* Sessions, and what is held, live through a reload that changes other things. */
static void test_reload(void)
{
	static const char higher[] = "rate_limiters: {l: {limit: 3, window: 10s, action: reset}}\n"
				     "listeners: {other: {protocol: udp, ports: [9]}, "
				     "echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";
	static const char none[] = "rate_limiters: {l: {limit: 3, window: 10s}}\n"
				   "listeners: {web: {ports: [7], rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_STR_EQ("a session", say(&prog, 1), ALLOWED);
	CHECK_STR_EQ("another", say(&prog, 2), ALLOWED);
	CHECK_STR_EQ("one that is refused", say(&prog, 3), LIMITED);
	if (!prog_load(&prog, higher, PROG_NOW))
		return;
	CHECK_STR_EQ("the session goes on", say(&prog, 1), SESSION);
	CHECK_STR_EQ("the other is held still", say(&prog, 3), HELD);
	CHECK_STR_EQ("the limit is another one", say(&prog, 4), ALLOWED);
	if (!prog_load(&prog, none, PROG_NOW) || !prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_STR_EQ("without a limiter that counts sessions they are forgotten", say(&prog, 1),
		     LIMITED);
}

/* A wait that is longer than any session can be held: it is held for as long as can be. */
static void test_lowered_burst(void)
{
	static const char high[] =
		"rate_limiters: {l: {algorithm: token_bucket, limit: 1, window: 1h, burst: 8}}\n"
		"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";
	static const char low[] =
		"rate_limiters: {l: {algorithm: token_bucket, limit: 1, window: 1h, burst: 1}}\n"
		"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, high, PROG_NOW))
		return;
	for (uint16_t sport = 1; sport <= 8; sport++)
		CHECK_STR_EQ("a session", say(&prog, sport), ALLOWED);
	if (!prog_load(&prog, low, PROG_NOW))
		return;
	CHECK_STR_EQ("one that is refused", say(&prog, 9), LIMITED);
	CHECK_STR_EQ("is held", say(&prog, 9), HELD);
}

static void test_watchdog(void)
{
	static const char text[] =
		"watchdog: {after: 10s, then: count}\n"
		"rate_limiters: {l: {limit: 1, window: 10s}}\n"
		"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, text, PROG_NOW))
		return;
	prog_heartbeat(&prog, PROG_NOW);
	CHECK_STR_EQ("a session is let in", say(&prog, 1), ALLOWED);
	CHECK_STR_EQ("one is refused", say(&prog, 2), LIMITED);
	CHECK_STR_EQ("and held", say(&prog, 2), HELD);
	prog_heartbeat(&prog, PROG_NOW - 11 * NSEC_PER_SEC);
	CHECK_STR_EQ("unattended, it is let in", say(&prog, 2), "pass counted echo/l=counted");
	CHECK_STR_EQ("and is a session", say(&prog, 2), SESSION);
	prog_heartbeat(&prog, PROG_NOW);
	CHECK_STR_EQ("which goes on", say(&prog, 2), SESSION);
}

/* A table of one set: who makes room for whom. */
static void test_room(void)
{
	static const char text[] =
		"max_sessions: 1\n"
		"rate_limiters: {l: {limit: 10, window: 10s}}\n"
		"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, text, PROG_NOW))
		return;
	for (uint16_t port = 1; port <= STILE_FLOW_WAYS; port++)
		CHECK_STR_EQ("the set fills", say(&prog, port), ALLOWED);
	if (!prog_move(&prog, PROG_NOW + NSEC_PER_SEC))
		return;
	for (uint16_t port = 2; port <= STILE_FLOW_WAYS; port++)
		CHECK_STR_EQ("all but one come back", say(&prog, port), SESSION);
	CHECK_STR_EQ("it makes room for a new one", say(&prog, 101),
		     "pass allowed echo/l=allowed (: evicted)");
	CHECK_STR_EQ("and so does that", say(&prog, 102),
		     "pass allowed echo/l=allowed (: evicted)");
	for (int i = 0; i < 9; i++)
		CHECK_STR_EQ("one that is refused takes nobody's place", say(&prog, 103),
			     "drop limited echo/l=limited (: found no room)");
	for (uint16_t port = 2; port <= STILE_FLOW_WAYS; port++)
		CHECK_STR_EQ("those that came back are there", say(&prog, port), SESSION);
}

CHECK_SUITE(sessions_life, { "reload", test_reload }, { "a lowered burst", test_lowered_burst },
	    { "watchdog", test_watchdog }, { "a full table", test_room });
