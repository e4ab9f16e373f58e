/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check.h"
#include "prog.h"

static void test_smoke(void)
{
	autoprog struct prog prog = {};

	if (!prog_load(&prog,
		       "rate_limiters: {two: {limit: 2, window: 1h}}\n"
		       "listeners: {web: {protocol: tcp, ports: [80], rate_limiter_name: two}}\n",
		       PROG_NOW))
		return;
	CHECK_STR_EQ("first", prog_send(&prog, &(struct pkt_spec){}),
		     "pass allowed web/two=allowed");
	CHECK_STR_EQ("2", prog_send(&prog, &(struct pkt_spec){}), "pass allowed web/two=allowed");
	CHECK_STR_EQ("3", prog_send(&prog, &(struct pkt_spec){}),
		     "reply limited web/two=limited reset");
	CHECK_EQ("6", prog_passing(&prog, &(struct pkt_spec){ .ipv6 = true }, 1000), 2);
	prog_move(&prog, PROG_NOW + 2 * HOUR);
	CHECK_STR_EQ("later", prog_send(&prog, &(struct pkt_spec){}),
		     "pass allowed web/two=allowed");
}
CHECK_SUITE(limiters, { "smoke", test_smoke });
