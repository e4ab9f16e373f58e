/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each action makes of a refused event, and whom nothing is answered. */
#include <stdio.h>

#include "check.h"
#include "prog.h"
#include "util.h"

/* Each action on tcp and on udp, at a port of its own, and one bucket for all events there. */
static const char config[] =
	"rate_limiters:\n"
	"  t1: {keys: [], limit: 1, window: 1h, action: reject}\n"
	"  t2: {keys: [], limit: 1, window: 1h, action: reset}\n"
	"  t3: {keys: [], limit: 1, window: 1h, action: drop}\n"
	"  t4: {keys: [], limit: 1, window: 1h, action: count}\n"
	"  u1: {keys: [], limit: 1, window: 1h, unit: datagrams, action: reject}\n"
	"  u2: {keys: [], limit: 1, window: 1h, unit: datagrams, action: reset}\n"
	"  u3: {keys: [], limit: 1, window: 1h, unit: datagrams, action: drop}\n"
	"  u4: {keys: [], limit: 1, window: 1h, unit: datagrams, action: count}\n"
	"listeners:\n"
	"  tcp1: {protocol: tcp, ports: [1], rate_limiter_name: t1}\n"
	"  tcp2: {protocol: tcp, ports: [2], rate_limiter_name: t2}\n"
	"  tcp3: {protocol: tcp, ports: [3], rate_limiter_name: t3}\n"
	"  tcp4: {protocol: tcp, ports: [4], rate_limiter_name: t4}\n"
	"  udp1: {protocol: udp, ports: [1], rate_limiter_name: u1}\n"
	"  udp2: {protocol: udp, ports: [2], rate_limiter_name: u2}\n"
	"  udp3: {protocol: udp, ports: [3], rate_limiter_name: u3}\n"
	"  udp4: {protocol: udp, ports: [4], rate_limiter_name: u4}\n";

#define PORT_REJECT 1
#define PORT_RESET 2
#define PORT_DROP 3
#define PORT_COUNT 4

static bool load_used_up(struct prog *prog)
{
	if (!prog_load(prog, config, PROG_NOW))
		return false;
	for (uint16_t port = PORT_REJECT; port < PORT_COUNT + 1; port++) {
		CHECK_EQ("the first of TCP is let in",
			 prog_passing(prog, &(struct pkt_spec){ .dport = port }, 1), 1);
		CHECK_EQ("the first of UDP is let in",
			 prog_passing(prog,
				      &(struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = port },
				      1),
			 1);
	}
	return true;
}

static void test_verdicts(void)
{
	static const struct {
		const char *what;
		uint8_t protocol;
		uint16_t port;
		const char *want;
	} rows[] = {
		{ "reject, on tcp", IPPROTO_TCP, PORT_REJECT,
		  "reply limited tcp1/t1=limited reset" },
		{ "reset, on tcp", IPPROTO_TCP, PORT_RESET, "reply limited tcp2/t2=limited reset" },
		{ "drop, on tcp", IPPROTO_TCP, PORT_DROP, "drop limited tcp3/t3=limited" },
		{ "count, on tcp", IPPROTO_TCP, PORT_COUNT, "pass counted tcp4/t4=counted" },
		{ "reject, on udp", IPPROTO_UDP, PORT_REJECT, "drop limited udp1/u1=limited" },
		{ "reset, on udp", IPPROTO_UDP, PORT_RESET, "reply limited udp2/u2=limited icmp" },
		{ "drop, on udp", IPPROTO_UDP, PORT_DROP, "drop limited udp3/u3=limited" },
		{ "count, on udp", IPPROTO_UDP, PORT_COUNT, "pass counted udp4/u4=counted" },
	};
	autoprog struct prog prog = {};
	char what[64];

	if (!load_used_up(&prog))
		return;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const struct pkt_spec spec = { .protocol = rows[i / 2].protocol,
					       .dport = rows[i / 2].port,
					       .ipv6 = i % 2 };

		snprintf(what, sizeof(what), "%s over IPv%d", rows[i / 2].what, i % 2 ? 6 : 4);
		CHECK_STR_EQ(what, prog_send(&prog, &spec), rows[i / 2].want);
		CHECK_STR_EQ(what, prog_send(&prog, &spec), rows[i / 2].want);
	}
}

/* A datagram is an event, whatever was before it; of TCP only a SYN is. */
static void test_events(void)
{
	static const char three[] =
		"rate_limiters:\n"
		"  syns: {limit: 3, window: 1h}\n"
		"  dgrams: {limit: 3, window: 1h, unit: datagrams}\n"
		"listeners:\n"
		"  web: {protocol: tcp, ports: [80], rate_limiter_name: syns}\n"
		"  dns: {protocol: udp, ports: [53], rate_limiter_name: dgrams}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, three, PROG_NOW))
		return;
	CHECK_EQ("datagrams of one socket are events each",
		 prog_passing(&prog, &(struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = 53 }, 9),
		 3);
	CHECK_EQ("an ACK is none", prog_passing(&prog, &(struct pkt_spec){ .flags = PKT_ACK }, 99),
		 99);
	CHECK_EQ("a SYN is one", prog_passing(&prog, &(struct pkt_spec){}, 9), 3);
	CHECK_EQ("over the limit an ACK still passes",
		 prog_passing(&prog, &(struct pkt_spec){ .flags = PKT_PSH | PKT_ACK }, 9), 9);
}

/* RFC 1122, 3.2.2 and 4.2.3.10; RFC 4443, 2.4 (e). */
static void test_not_answered(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
		bool answered;
	} rows[] = {
		{ "one host to another", {}, true },
		{ "to a multicast address", { .to = "224.0.0.1" }, false },
		{ "to the last multicast address", { .to = "239.255.255.255" }, false },
		{ "to the address before the first", { .to = "223.255.255.255" }, true },
		{ "to the broadcast address", { .to = "255.255.255.255" }, false },
		{ "from a multicast address", { .from = "224.0.0.1" }, false },
		{ "from the broadcast address", { .from = "255.255.255.255" }, false },
		{ "from nobody", { .from = "0.0.0.0" }, false },
		{ "from a host of no network", { .from = "0.1.2.3" }, false },
		{ "from a reserved address", { .from = "240.0.0.1" }, false },
		{ "to a reserved address", { .to = "254.0.0.1" }, false },
		{ "a host to itself, from loopback", { .from = "127.0.0.1" }, true },
		{ "to a multicast MAC address", { .group = true }, false },
		{ "IPv6: one host to another", { .ipv6 = true }, true },
		{ "IPv6: to a multicast address", { .to = "ff02::1" }, false },
		{ "IPv6: to the address before the first", { .to = "feff::1" }, true },
		{ "IPv6: from a multicast address", { .from = "ff05::2" }, false },
		{ "IPv6: from nobody", { .from = "::" }, false },
		{ "IPv6: to a multicast MAC address", { .ipv6 = true, .group = true }, false },
		{ "IPv6: behind two tags, to one",
		  { .ipv6 = true, .vlans = 2, .group = true },
		  false },
	};
	autoprog struct prog prog = {};

	if (!load_used_up(&prog))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkt_spec spec = rows[i].spec;

		spec.dport = PORT_RESET;
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec),
			     rows[i].answered ? "reply limited tcp2/t2=limited reset"
					      : "drop limited tcp2/t2=limited");
		spec.protocol = IPPROTO_UDP;
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec),
			     rows[i].answered ? "reply limited udp2/u2=limited icmp"
					      : "drop limited udp2/u2=limited");
	}
}

CHECK_SUITE(actions, { "verdicts", test_verdicts }, { "what is an event", test_events },
	    { "what is not answered", test_not_answered });
