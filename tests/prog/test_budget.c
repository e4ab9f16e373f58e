/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replies_per_second: a number of answers for all, then silence, which is counted. */
#include <stdio.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define ANSWERED "reply limited web/l=limited reset"
#define WITHHELD "drop limited web/l=limited withheld"

static bool load(struct prog *prog, unsigned int budget, uint64_t now)
{
	char config[512];

	snprintf(config, sizeof(config),
		 "replies_per_second: %u\n"
		 "rate_limiters:\n"
		 "  l: {keys: [], limit: 1, window: 1h}\n"
		 "  u: {keys: [], limit: 1, window: 1h, unit: datagrams, action: reset}\n"
		 "  s: {keys: [], limit: 1, window: 1h, unit: sessions, action: reset}\n"
		 "  d: {keys: [], limit: 1, window: 1h, action: drop}\n"
		 "listeners:\n"
		 "  web: {ports: [80], rate_limiter_name: l}\n"
		 "  quiet: {ports: [81], rate_limiter_name: d}\n"
		 "  dns: {protocol: udp, ports: [53], rate_limiter_name: u}\n"
		 "  echo: {protocol: udp, ports: [7], rate_limiter_name: s}\n",
		 budget);
	return prog_load(prog, config, now);
}

static void use_up(struct prog *prog)
{
	CHECK_EQ("a SYN is let in", prog_passing(prog, &(struct pkt_spec){}, 1), 1);
	CHECK_EQ("another one", prog_passing(prog, &(struct pkt_spec){ .dport = 81 }, 1), 1);
	CHECK_EQ("a datagram is let in",
		 prog_passing(prog, &(struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = 53 }, 1),
		 1);
	CHECK_EQ("a session is let in",
		 prog_passing(prog, &(struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = 7 }, 1),
		 1);
}

static void check_sent(struct prog *prog, const char *what, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		CHECK_STR_EQ(what, prog_send(prog, &(struct pkt_spec){}), ANSWERED);
	for (int i = 0; i < 3; i++)
		CHECK_STR_EQ(what, prog_send(prog, &(struct pkt_spec){}), WITHHELD);
}

static void test_number(void)
{
	autoprog struct prog prog = {};

	if (!load(&prog, 10, PROG_NOW))
		return;
	use_up(&prog);
	check_sent(&prog, "ten, and silence", 10);
	CHECK_STR_EQ("what is not answered has no need of any",
		     prog_send(&prog, &(struct pkt_spec){ .dport = 81 }),
		     "drop limited quiet/d=limited");
	if (!prog_move(&prog, PROG_NOW + NSEC_PER_SEC / 10 - 1))
		return;
	check_sent(&prog, "none before a tenth of a second is over", 0);
	if (!prog_move(&prog, PROG_NOW + NSEC_PER_SEC / 10))
		return;
	check_sent(&prog, "then one", 1);
	if (!load(&prog, 10, PROG_NOW + NSEC_PER_SEC / 2))
		return;
	check_sent(&prog, "half a second later, and a reload, four", 4);
	if (!load(&prog, 20, PROG_NOW + NSEC_PER_SEC))
		return;
	check_sent(&prog, "twice as many are ten in half a second", 10);
	if (!prog_move(&prog, PROG_NOW + HOUR))
		return;
	check_sent(&prog, "an hour later a second's worth", 20);
}

/* Every kind of answer takes from it. */
static void test_kinds(void)
{
	const struct pkt_spec datagram = { .protocol = IPPROTO_UDP, .dport = 53, .ipv6 = true },
			      held = { .protocol = IPPROTO_UDP, .dport = 7, .sport = 9 },
			      group = { .group = true };
	autoprog struct prog prog = {};

	if (!load(&prog, 4, PROG_NOW))
		return;
	use_up(&prog);
	CHECK_STR_EQ("what must not be answered takes none", prog_send(&prog, &group),
		     "drop limited web/l=limited");
	CHECK_STR_EQ("a reset", prog_send(&prog, &(struct pkt_spec){}), ANSWERED);
	CHECK_STR_EQ("an ICMP error", prog_send(&prog, &datagram),
		     "reply limited dns/u=limited icmp");
	CHECK_STR_EQ("one for a session", prog_send(&prog, &held),
		     "reply limited echo/s=limited icmp");
	CHECK_STR_EQ("one for what is held", prog_send(&prog, &held), "reply held icmp");
	CHECK_STR_EQ("are four", prog_send(&prog, &held), "drop held withheld");
	CHECK_STR_EQ("for a datagram too", prog_send(&prog, &datagram),
		     "drop limited dns/u=limited withheld");
	CHECK_STR_EQ("and for a SYN", prog_send(&prog, &(struct pkt_spec){}), WITHHELD);
}

static void test_none(void)
{
	autoprog struct prog prog = {};

	if (!load(&prog, 0, PROG_NOW))
		return;
	use_up(&prog);
	check_sent(&prog, "none at all", 0);
}

CHECK_SUITE(budget, { "the number", test_number }, { "every kind of answer", test_kinds },
	    { "none", test_none });
