/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What explain tells of a client is what becomes of its next packet. Clients, listeners and moments
 * are drawn at random, the same ones in every run; before each packet the pins are asked what will
 * become of it, and then it is sent.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "labels.h"
#include "util.h"
#include "world.h"

#define PACKETS 80 /* in each of */
#define MOMENTS 4
#define TEXT_SIZE 512
#define EXEMPT "pass exempt"

static uint32_t draw(struct world *world, uint32_t below)
{
	world->drawn = world->drawn * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(world->drawn >> 33) % below;
}

/* How many of them will say so: the refusing one, or every one. */
static unsigned int count_decisions(const struct snapshot_verdict *verdict, uint32_t limiter,
				    unsigned int decision)
{
	unsigned int n = 0;

	for (int i = 0; i < (int)verdict->n_judges; i++)
		n += verdict->judges[i].limiter == limiter &&
		     verdict->judges[i].decision == decision &&
		     (verdict->refused_by < 0 || verdict->refused_by == i);
	return n;
}

static void add_decisions(const struct world *world, const struct snapshot_verdict *verdict,
			  FILE *out)
{
	const struct stile_policy *policy = &world->prog.policy.kernel;

	for (uint32_t limiter = 1; limiter < STILE_LIMITERS_MAX; limiter++) {
		for (unsigned int decision = 0; decision < _STILE_DECISION_MAX; decision++) {
			unsigned int n = count_decisions(verdict, limiter, decision);

			if (n == 0)
				continue;
			fprintf(out, " at%u/%s=%s", world->port, policy->limiters[limiter].name,
				labels_decision[decision]);
			if (n > 1)
				fprintf(out, "*%u", n);
		}
	}
}

/* As prog_send() will tell it. */
static void foretell(const struct world *world, const struct snapshot_verdict *verdict,
		     char text[TEXT_SIZE])
{
	FILE *out = fmemopen(text, TEXT_SIZE, "w");

	if (!CHECK("there is memory", out != NULL))
		return;
	fprintf(out, "%s %s", labels_verdict[verdict->verdict], labels_reason[verdict->reason]);
	add_decisions(world, verdict, out);
	if (verdict->verdict == STILE_VERDICT_REPLY)
		fprintf(out, " %s", labels_reply[verdict->reply]);
	(void)fclose(out); /* to memory */
}

/* What was sent, without the interface's name, notes in brackets, and the exempting limiters. */
static void shorten(const char *got, char text[TEXT_SIZE])
{
	const char *name = strstr(got, "lo: ");
	size_t n = 0;

	for (got = name ? name + 4 : got; *got && n < TEXT_SIZE - 1; got++) {
		if (strncmp(got, " (", 2) == 0)
			got = strchr(got, ')') + 1;
		if (!*got)
			break;
		text[n++] = *got;
	}
	text[n] = '\0';
	if (strncmp(text, EXEMPT, strlen(EXEMPT)) == 0)
		text[strlen(EXEMPT)] = '\0';
}

/* Explains, sends, and compares. */
static bool agree(struct world *world, const struct pkt_spec *spec,
		  struct snapshot_verdict *ret_verdict)
{
	char want[TEXT_SIZE] = "", got[TEXT_SIZE], what[128];

	if (!world_explain(world, spec, ret_verdict))
		return false;
	world->seen[ret_verdict->reason] = true;
	world->port = spec->dport;
	foretell(world, ret_verdict, want);
	shorten(prog_send(&world->prog, spec), got);
	snprintf(what, sizeof(what), "%s to port %u", spec->from, spec->dport);
	return CHECK_STR_EQ(what, got, want);
}

/* *ret_refused is one of those that were told to wait; without a port where there was none. */
static bool send_some(struct world *world, struct pkt_spec *ret_refused)
{
	struct snapshot_verdict verdict;

	ret_refused->dport = 0;
	for (int i = 0; i < PACKETS; i++) {
		const char *from = world->clients[draw(world, world->n_clients)];
		const struct pkt_spec spec = {
			.from = from,
			.ipv6 = strchr(from, ':') != NULL,
			.dport = (uint16_t)(world->first_port + draw(world, world->n_ports)),
			.protocol = world->protocol,
		};

		if (!agree(world, &spec, &verdict))
			return false;
		if (verdict.wait && (draw(world, 4) == 0 || !ret_refused->dport))
			*ret_refused = spec;
	}
	return true;
}

/* The wait that is told is neither too long nor too short. */
static bool keep_promise(struct world *world, const struct pkt_spec *spec)
{
	struct snapshot_verdict verdict;

	if (!world_explain(world, spec, &verdict) || !CHECK("it has to wait", verdict.wait != 0) ||
	    !world_move(world, world->now + verdict.wait - 1) ||
	    !world_explain(world, spec, &verdict))
		return false;
	CHECK_EQ("a moment before its time a client waits for a moment", verdict.wait, 1);
	if (!agree(world, spec, &verdict) || !world_move(world, world->now + 1) ||
	    !agree(world, spec, &verdict))
		return false;
	return CHECK_EQ("it is admitted when it was told to be", verdict.verdict,
			STILE_VERDICT_PASS);
}

static void compare(struct world *world)
{
	struct pkt_spec refused;
	unsigned int promises = 0;

	for (int i = 0; i < MOMENTS; i++) {
		if (!send_some(world, &refused) ||
		    (refused.dport && !keep_promise(world, &refused)) ||
		    !world_move(world, world->now + draw(world, 3) * (uint64_t)NSEC_PER_SEC))
			return;
		promises += refused.dport != 0;
	}
	CHECK("some were told to wait", promises > 0);
}

static void test_tcp(void)
{
	static const char *const clients[] = {
		CLIENT_ONE,	 CLIENT_TWO,	  CLIENT_FAR,	 CLIENT_ONE_V6,
		CLIENT_TWO_V6,	 CLIENT_FAR_V6,	  "192.0.2.20",	 "192.0.2.130",
		"192.0.2.131",	 "192.0.2.200",	  "192.0.2.201", "198.51.100.130",
		"2001:db8:b::1", "2001:db8:c::1", "::2",	 "224.0.0.9",
	};
	autoworld struct world world = {
		.clients = clients,
		.n_clients = ARRAY_SIZE(clients),
		.first_port = 80,
		.n_ports = 12,
		.protocol = IPPROTO_TCP,
	};

	if (!world_begin(
		    &world,
		    "interfaces: {lo: {rate_limiter_name: edge}}\n"
		    "trusted: [192.0.2.128/26]\n"
		    "blocked: [198.51.100.128/25]\n"
		    "rate_limiters:\n"
		    "  edge: {keys: [], algorithm: fixed_window, limit: 80, window: 3s,\n"
		    "         max_keys: 1}\n"
		    "  window: {limit: 5, window: 2s, max_keys: 100}\n"
		    "  tokens: {algorithm: token_bucket, limit: 3, window: 1s, burst: 4,\n"
		    "           max_keys: 100, ipv4_prefix: 24, ipv6_prefix: 48, action: drop,\n"
		    "           hash: siphash}\n"
		    "  noted: {limit: 3, window: 1s, max_keys: 100, action: count}\n"
		    "  few: {limit: 2, window: 5s, max_keys: 1, max_keys_action: reject}\n"
		    "  some: {limit: 2, window: 5s, max_keys: 1, max_keys_action: allow,\n"
		    "         ipv6_prefix: 128}\n"
		    "  closing: {limit: 2, window: 3s, max_keys: 100, action: close}\n"
		    "  newcomers: {keys: [], limit: 1, window: 2s}\n"
		    "listeners:\n"
		    "  at80:\n"
		    "    ports: [80]\n"
		    "    rate_limiter_name: [window, tokens]\n"
		    "    sources: {192.0.2.16/28: none, '2001:db8:a::/48': noted}\n"
		    "  at81: {ports: [81], rate_limiter_name: noted}\n"
		    "  at82: {ports: [82], rate_limiter_name: few}\n"
		    "  at83: {ports: [83], rate_limiter_name: some}\n"
		    "  at84: {ports: [84]}\n"
		    "  at85: {ports: [85], rate_limiter_name: [noted, few, some, window]}\n"
		    "  at86: {ports: [86], rate_limiter_name: [edge, noted]}\n"
		    "  at87: {ports: [87], rate_limiter_name: [window, tokens, window, tokens]}\n"
		    "  at88: {ports: [88], rate_limiter_name: [noted, few, noted, few]}\n"
		    "  at89: {ports: [89], app_protocol: http, rate_limiter_name: [window, few]}\n"
		    "  at90: {ports: [90], rate_limiter_name: closing}\n"
		    "  at91:\n"
		    "    ports: [91]\n"
		    "    rate_limiter_name: [few, some]\n"
		    "    new_sources_rate_limiter_name: newcomers\n"
		    "    sources: {2001:db8:b::/48: window, 2001:db8:c::/48: edge}\n"))
		return;
	/* By hand: one that expired inside one that holds, and one that expired alone. */
	prog_list(&world.prog, "blocked", "192.0.2.200/29", 0);
	prog_list(&world.prog, "blocked", "192.0.2.200", 1);
	prog_list(&world.prog, "trusted", CLIENT_ONE, 1);
	compare(&world);
	CHECK("blocked clients were among them", world.seen[STILE_REASON_BLOCKED]);
	CHECK("exempt ones", world.seen[STILE_REASON_EXEMPT]);
	CHECK("allowed ones", world.seen[STILE_REASON_ALLOWED]);
	CHECK("counted ones", world.seen[STILE_REASON_COUNTED]);
	CHECK("limited ones", world.seen[STILE_REASON_LIMITED]);
	CHECK("and some that found no room", world.seen[STILE_REASON_FULL]);
}

static void test_udp(void)
{
	static const char *const clients[] = { CLIENT_ONE, CLIENT_TWO, CLIENT_ONE_V6, CLIENT_FAR };
	autoworld struct world world = {
		.clients = clients,
		.n_clients = ARRAY_SIZE(clients),
		.first_port = 50,
		.n_ports = 5,
		.protocol = IPPROTO_UDP,
	};

	if (!world_begin(
		    &world,
		    "rate_limiters:\n"
		    "  reset: {limit: 5, window: 2s, max_keys: 100, unit: datagrams,\n"
		    "          action: reset}\n"
		    "  reject: {limit: 5, window: 2s, max_keys: 100, unit: datagrams, keys: []}\n"
		    "  drop: {limit: 5, window: 2s, max_keys: 100, unit: datagrams, action: drop}\n"
		    "listeners:\n"
		    "  at50: {protocol: udp, ports: [50], rate_limiter_name: reset}\n"
		    "  at51: {protocol: udp, ports: [51], rate_limiter_name: reject}\n"
		    "  at52: {protocol: udp, ports: [52], rate_limiter_name: drop}\n"
		    "  at53: {protocol: udp, ports: [53]}\n"
		    "  at54: {protocol: udp, ports: [54], rate_limiter_name: reset,\n"
		    "         new_sources_rate_limiter_name: reject}\n"))
		return;
	compare(&world);
	CHECK("limited clients were among them", world.seen[STILE_REASON_LIMITED]);
	CHECK("and unlimited ones", world.seen[STILE_REASON_UNLIMITED]);
}

static void test_disabled(void)
{
	const struct pkt_spec spec = { .from = CLIENT_ONE, .dport = 80 };
	autoworld struct world world = { 0 };
	struct snapshot_verdict verdict;

	if (!world_begin(&world, "enabled: false\n"
				 "rate_limiters: {two: {limit: 2, window: 1h}}\n"
				 "listeners: {at80: {ports: [80], rate_limiter_name: two}}\n"))
		return;
	(void)agree(&world, &spec, &verdict); /* checked there */
	CHECK("it is switched off", world.seen[STILE_REASON_DISABLED]);
}

CHECK_SUITE(explain, { "tcp", test_tcp }, { "udp", test_udp }, { "switched off", test_disabled });
