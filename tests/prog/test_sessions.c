/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sessions on UDP: one event each, whatever else comes in them. */
#include <stdio.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define PORT_ECHO 7
#define UNIT_NS (1ULL << STILE_FLOW_SHIFT) /* what times of sessions are rounded to */
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

static void test_once(void)
{
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_EQ("without a unit, a limiter on udp counts sessions",
		 prog.policy.kernel.limiters[prog_limiter(&prog, "l")].unit, STILE_UNIT_SESSIONS);
	CHECK_STR_EQ("the first datagram opens a session", say(&prog, 1), ALLOWED);
	for (int i = 0; i < 50; i++)
		CHECK_STR_EQ("the others of it are no events", say(&prog, 1), SESSION);
	CHECK_STR_EQ("another port is another session", say(&prog, 2), ALLOWED);
	CHECK_STR_EQ("the third is refused", say(&prog, 3), LIMITED);
	for (int i = 0; i < 50; i++)
		CHECK_STR_EQ("and held, which is counted once", say(&prog, 3), HELD);
	CHECK_STR_EQ("a fourth is refused by itself", say(&prog, 4), LIMITED);
	CHECK_STR_EQ("those let in go on", say(&prog, 1), SESSION);
}

/* What makes a flow: each of addresses, ports and family, and nothing else. */
static void test_flows(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
		const char *want;
	} rows[] = {
		{ "the same", {}, SESSION },
		{ "with data", { .payload = 100 }, SESSION },
		{ "behind a tag", { .vlans = 1 }, SESSION },
		{ "with options", { .ip_options = 8 }, SESSION },
		{ "as a first fragment", { .more = true, .payload = 64 }, SESSION },
		{ "of another client", { .from = CLIENT_TWO }, ALLOWED },
		{ "of another port", { .sport = 2 }, ALLOWED },
		{ "to another server", { .to = SERVER_TWO }, ALLOWED },
		{ "to another port", { .dport = 8 }, ALLOWED },
		{ "over IPv6", { .ipv6 = true }, ALLOWED },
		{ "over IPv6 again", { .ipv6 = true }, SESSION },
		{ "over IPv6 to another server", { .to = SERVER_TWO_V6 }, ALLOWED },
		{ "over IPv6 of another in the same /64", { .from = CLIENT_TWO_V6 }, ALLOWED },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog,
		       "rate_limiters: {l: {limit: 100, window: 10s}}\n"
		       "listeners: {echo: {protocol: udp, ports: [7, 8], rate_limiter_name: l}}\n",
		       PROG_NOW))
		return;
	CHECK_STR_EQ("a session is opened", say(&prog, 1), ALLOWED);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkt_spec spec = rows[i].spec;

		spec.protocol = IPPROTO_UDP;
		spec.sport = spec.sport ? spec.sport : 1;
		spec.dport = spec.dport ? spec.dport : PORT_ECHO;
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec), rows[i].want);
	}
}

static void test_idle(void)
{
	static const char timeout[] =
		"rate_limiters: {l: {limit: 100, window: 10s}}\n"
		"listeners: {echo: {protocol: udp, ports: [7], session_timeout: 5s, "
		"rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_STR_EQ("a session is opened", say(&prog, 1), ALLOWED);
	if (!prog_move(&prog, PROG_NOW + 60 * NSEC_PER_SEC))
		return;
	CHECK_STR_EQ("after a minute of silence it is open", say(&prog, 1), SESSION);
	if (!prog_move(&prog, PROG_NOW + 120 * NSEC_PER_SEC))
		return;
	CHECK_STR_EQ("each datagram begins another minute", say(&prog, 1), SESSION);
	if (!prog_move(&prog, PROG_NOW + 180 * NSEC_PER_SEC + 2 * UNIT_NS))
		return;
	CHECK_STR_EQ("after more it is a new one", say(&prog, 1), ALLOWED);
	prog_unload(&prog);
	if (!prog_load(&prog, timeout, PROG_NOW))
		return;
	CHECK_STR_EQ("the time-out can be set", say(&prog, 1), ALLOWED);
	if (!prog_move(&prog, PROG_NOW + 5 * NSEC_PER_SEC))
		return;
	CHECK_STR_EQ("five seconds later it is open", say(&prog, 1), SESSION);
	if (!prog_move(&prog, PROG_NOW + 10 * NSEC_PER_SEC + 2 * UNIT_NS))
		return;
	CHECK_STR_EQ("six later it is not", say(&prog, 1), ALLOWED);
}

/* A held session is judged again at the moment at which its limiter could let one in. */
static void test_hold_ends(void)
{
	static const struct {
		const char *what, *limiter;
		uint64_t wait; /* ms */
	} rows[] = {
		{ "sliding_window", "limit: 2, window: 10s", 15000 },
		{ "fixed_window", "algorithm: fixed_window, limit: 2, window: 10s", 10000 },
		{ "token_bucket", "algorithm: token_bucket, limit: 2, window: 10s", 5000 },
		{ "of one bucket for all", "keys: [], limit: 2, window: 10s", 15000 },
		{ "with long prefixes", "ipv6_prefix: 128, limit: 2, window: 10s", 15000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t end = PROG_NOW + rows[i].wait * (NSEC_PER_SEC / 1000);
		autoprog struct prog prog = {};
		char text[512];

		snprintf(text, sizeof(text),
			 "rate_limiters: {l: {%s}}\n"
			 "listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n",
			 rows[i].limiter);
		if (!prog_load(&prog, text, PROG_NOW))
			return;
		CHECK_STR_EQ(rows[i].what, say(&prog, 1), ALLOWED);
		CHECK_STR_EQ(rows[i].what, say(&prog, 2), ALLOWED);
		CHECK_STR_EQ(rows[i].what, say(&prog, 3), LIMITED);
		if (!prog_move(&prog, end - 1))
			return;
		CHECK_STR_EQ(rows[i].what, say(&prog, 3), HELD);
		if (!prog_move(&prog, end + UNIT_NS))
			return;
		CHECK_STR_EQ(rows[i].what, say(&prog, 3), ALLOWED);
		CHECK_STR_EQ(rows[i].what, say(&prog, 3), SESSION);
	}
}

/* Who is refused again when the hold ends is another event, and held again. */
static void test_held_again(void)
{
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_EQ("two sessions are opened",
		 prog_passing(&prog, &(struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = 7 }, 9),
		 9);
	CHECK_STR_EQ("", say(&prog, 2), ALLOWED);
	CHECK_STR_EQ("two are refused", say(&prog, 3), LIMITED);
	CHECK_STR_EQ("two are refused", say(&prog, 4), LIMITED);
	if (!prog_move(&prog, PROG_NOW + 15 * NSEC_PER_SEC + UNIT_NS))
		return;
	CHECK_STR_EQ("one of them gets the place that there is", say(&prog, 3), ALLOWED);
	CHECK_STR_EQ("the other one does not", say(&prog, 4), LIMITED);
	CHECK_STR_EQ("and is held again", say(&prog, 4), HELD);
}

/* The limiter's action, for each datagram that is held too; and what is never answered. */
static void test_actions(void)
{
	static const struct {
		const char *action, *refused, *then;
	} rows[] = {
		{ "reject", "drop limited echo/l=limited", "drop held" },
		{ "drop", "drop limited echo/l=limited", "drop held" },
		{ "reset", "reply limited echo/l=limited icmp", "reply held icmp" },
		{ "count", "pass counted echo/l=counted", "pass session" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkt_spec group = datagram(2);
		autoprog struct prog prog = {};
		char text[512];

		group.group = true;
		snprintf(text, sizeof(text),
			 "rate_limiters: {l: {limit: 1, window: 10s, action: %s}}\n"
			 "listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n",
			 rows[i].action);
		if (!prog_load(&prog, text, PROG_NOW))
			return;
		CHECK_STR_EQ(rows[i].action, say(&prog, 1), ALLOWED);
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct pkt_spec spec = datagram(2);

			spec.ipv6 = ipv6;
			if (ipv6)
				CHECK_EQ(rows[i].action,
					 prog_passing(&prog,
						      &(struct pkt_spec){ .protocol = IPPROTO_UDP,
									  .dport = PORT_ECHO,
									  .ipv6 = true },
						      1),
					 1);
			CHECK_STR_EQ(rows[i].action, prog_send(&prog, &spec), rows[i].refused);
			CHECK_STR_EQ(rows[i].action, prog_send(&prog, &spec), rows[i].then);
			CHECK_STR_EQ(rows[i].action, prog_send(&prog, &spec), rows[i].then);
		}
		if (i == 2)
			CHECK_STR_EQ("what was sent to many is not answered",
				     prog_send(&prog, &group), "drop held");
	}
}

static void test_full(void)
{
	static const char text[] =
		"rate_limiters: {l: {limit: 9, window: 10s, max_keys: 1, max_keys_action: %s}}\n"
		"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: l}}\n";
	struct pkt_spec spec = datagram(1);
	autoprog struct prog prog = {};
	char filled[512], from[32];

	for (int reject = 0; reject < 2; reject++) {
		snprintf(filled, sizeof(filled), text, reject ? "reject" : "allow");
		prog_unload(&prog);
		if (!prog_load(&prog, filled, PROG_NOW))
			return;
		for (int i = 0; i < STILE_SET_WAYS; i++) {
			snprintf(from, sizeof(from), "192.0.2.%d", 100 + i);
			spec.from = from;
			CHECK_STR_EQ("the table fills", prog_send(&prog, &spec), ALLOWED);
		}
		CHECK_STR_EQ("a full table", say(&prog, 1),
			     reject ? "drop full echo/l=full (l: found no room)"
				    : "pass full echo/l=full (l: found no room)");
		CHECK_STR_EQ("decides on the whole session", say(&prog, 1),
			     reject ? HELD : SESSION);
		if (!prog_move(&prog, PROG_NOW + 10 * NSEC_PER_SEC - 1))
			return;
		CHECK_STR_EQ("for a window", say(&prog, 1), reject ? HELD : SESSION);
	}
	if (prog_move(&prog, PROG_NOW + 10 * NSEC_PER_SEC + UNIT_NS))
		CHECK_STR_EQ("and is then asked again", say(&prog, 1),
			     "drop full echo/l=full (l: found no room)");
}

/* Sessions and datagrams, the client's and everybody's, at one listener. */
static void test_several(void)
{
	static const char text[] = "rate_limiters:\n"
				   "  edge: {limit: 100, window: 10s}\n"
				   "  dgrams: {limit: 4, window: 10s, unit: datagrams}\n"
				   "  each: {limit: 2, window: 10s, unit: sessions}\n"
				   "  all: {keys: [], limit: 3, window: 10s, unit: sessions}\n"
				   "interfaces: {lo: {rate_limiter_name: edge}}\n"
				   "listeners: {echo: {protocol: udp, ports: [7], "
				   "rate_limiter_name: [each, dgrams, all]}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, text, PROG_NOW))
		return;
	CHECK_STR_EQ("a datagram that opens a session is judged by all", say(&prog, 1),
		     "lo: pass allowed echo/edge=allowed echo/dgrams=allowed echo/each=allowed "
		     "echo/all=allowed");
	CHECK_STR_EQ("the next by those who count datagrams", say(&prog, 1),
		     "lo: pass allowed echo/dgrams=allowed");
	CHECK_STR_EQ("another session", say(&prog, 2),
		     "lo: pass allowed echo/edge=allowed echo/dgrams=allowed echo/each=allowed "
		     "echo/all=allowed");
	CHECK_STR_EQ("a third is refused by the first that has no room", say(&prog, 3),
		     "lo: drop limited echo/each=limited");
	CHECK_STR_EQ("and held, which costs no datagram", say(&prog, 3), "lo: drop held");
	CHECK_STR_EQ("so a fourth datagram passes", say(&prog, 2),
		     "lo: pass allowed echo/dgrams=allowed");
	CHECK_STR_EQ("and a fifth does not, of an open session", say(&prog, 2),
		     "lo: drop limited echo/dgrams=limited");
	CHECK_STR_EQ("which is not held for it", say(&prog, 1),
		     "lo: drop limited echo/dgrams=limited");
}

/* One limiter without a unit for both protocols: what opens something is charged to one bucket. */
static void test_both_protocols(void)
{
	autoprog struct prog prog = {};

	if (!prog_load(&prog,
		       "rate_limiters: {l: {limit: 3, window: 10s}}\n"
		       "listeners:\n"
		       "  web: {ports: [80], rate_limiter_name: l}\n"
		       "  echo: {protocol: udp, ports: [7], rate_limiter_name: l}\n",
		       PROG_NOW))
		return;
	CHECK_STR_EQ("a connection", prog_send(&prog, &(struct pkt_spec){}),
		     "pass allowed web/l=allowed");
	CHECK_STR_EQ("a session", say(&prog, 1), ALLOWED);
	CHECK_STR_EQ("and its datagrams", say(&prog, 1), SESSION);
	CHECK_STR_EQ("a connection", prog_send(&prog, &(struct pkt_spec){}),
		     "pass allowed web/l=allowed");
	CHECK_STR_EQ("are three of three", say(&prog, 2), LIMITED);
	CHECK_STR_EQ("for both", prog_send(&prog, &(struct pkt_spec){}),
		     "reply limited web/l=limited reset");
}

static void test_exempt(void)
{
	static const char text[] =
		"trusted: [" CLIENT_TWO "]\n"
		"rate_limiters:\n"
		"  l: {limit: 1, window: 10s}\n"
		"  d: {limit: 1, window: 10s, unit: datagrams}\n"
		"  own: {limit: 2, window: 10s}\n"
		"listeners: {echo: {protocol: udp, ports: [7], rate_limiter_name: [l, d], "
		"sources: {198.51.100.0/24: own}}}\n";
	struct pkt_spec trusted = datagram(1), far = datagram(1);
	autoprog struct prog prog = {};

	trusted.from = CLIENT_TWO;
	far.from = CLIENT_FAR;
	if (!prog_load(&prog, text, PROG_NOW))
		return;
	CHECK_STR_EQ("a trusted client's session is noted", prog_send(&prog, &trusted),
		     "pass exempt echo/l=exempt echo/d=exempt");
	CHECK_STR_EQ("once", prog_send(&prog, &trusted), "pass exempt echo/d=exempt");
	CHECK_STR_EQ("a source's own limiter counts sessions", prog_send(&prog, &far),
		     "pass allowed echo/own=allowed");
	CHECK_STR_EQ("too", prog_send(&prog, &far), SESSION);
	prog_list(&prog, "blocked", CLIENT_FAR, 0);
	CHECK_STR_EQ("who is blocked has no session", prog_send(&prog, &far), "drop blocked");
}

CHECK_SUITE(sessions, { "an event each", test_once }, { "what a flow is", test_flows },
	    { "idle", test_idle }, { "the hold ends", test_hold_ends },
	    { "held again", test_held_again }, { "actions", test_actions },
	    { "a full table of clients", test_full }, { "several limiters", test_several },
	    { "both protocols", test_both_protocols }, { "exempt", test_exempt });
