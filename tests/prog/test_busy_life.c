/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long conversations with refused clients go on, and what is never taken for one. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "connection.h"
#include "talk.h"
#include "util.h"

#define ACK_PSH (PKT_ACK | PKT_PSH)
#define GET "GET / HTTP/1.1\r\n\r\n"
#define COOKIE "reply limited web/l=limited cookie"
#define BUSY "reply busy busy"
#define SILENT "drop busy"
#define FOREIGN "pass established"
#define SLOT (1ULL << 35) /* ns: of a cookie */
#define PORT 8080

#define CONFIG(more)                                                                               \
	more "rate_limiters: {l: {keys: [], limit: 1, window: 1h}}\n"                              \
	     "listeners: {web: {app_protocol: http, rate_limiter_name: l}}\n"

static bool load(struct prog *prog, const char *config, uint64_t now)
{
	return prog_load(prog, config, now) &&
	       CHECK_EQ("the first is let in", prog_passing(prog, &(struct pkt_spec){}, 1), 1);
}

static void ask(struct talk *talk, const char *what, const char *want)
{
	talk_turn(talk, what, &(struct talk_turn){ .flags = ACK_PSH, .data = GET, .want = want });
}

/* From a slot with an even number, and from one with an odd one. */
static void check_rotation(uint64_t begin)
{
	autoprog struct prog prog = {};
	struct talk talk, again;

	if (!load(&prog, CONFIG(""), begin) ||
	    !talk_begin(&talk, &prog, &(struct pkt_spec){}, COOKIE))
		return;
	ask(&talk, "in the slot that the cookie was made in", BUSY);
	if (!prog_move(&prog, begin + SLOT))
		return;
	ask(&talk, "in the slot after it", BUSY);
	if (!talk_begin(&again, &prog, &(struct pkt_spec){}, COOKIE))
		return;
	CHECK("another slot is another cookie", talk.cookie != again.cookie);
	if (!prog_move(&prog, begin + 2 * SLOT))
		return;
	ask(&talk, "after two slots it is nobody's", FOREIGN);
	ask(&again, "but the newer one is", BUSY);
	if (!prog_move(&prog, begin + 3 * SLOT))
		return;
	ask(&again, "until nobody was refused for two slots", FOREIGN);
}

static void test_rotation(void)
{
	uint64_t even = PROG_NOW / (2 * SLOT) * 2 * SLOT + 1000;

	check_rotation(even);
	check_rotation(even + SLOT);
}

/* A cookie is for one client and one service, and for nobody else's. */
static void test_others(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
	} rows[] = {
		{ "another port of the client's", { .sport = CLIENT_PORT + 1 } },
		{ "another client", { .from = CLIENT_TWO } },
		{ "another address of the service", { .to = SERVER_TWO } },
		{ "another port of the service", { .dport = 81 } },
		{ "IPv6", { .ipv6 = true } },
	};
	autoprog struct prog prog = {};
	struct talk talk, other;

	if (!load(&prog, CONFIG(""), PROG_NOW) ||
	    !talk_begin(&talk, &prog, &(struct pkt_spec){}, COOKIE))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		other = talk;
		other.spec = rows[i].spec;
		ask(&other, rows[i].what, FOREIGN);
	}
	ask(&talk, "and its own", BUSY);
}

/* Numbers that fit by chance, at a connection that is there. */
static void check_guard(bool ipv6)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};
	struct pkt_spec syn;
	struct talk talk;

	if (!CHECK_EQ("a connection is opened", connection_open(&connection, ipv6, PORT), 0) ||
	    !load(&prog, CONFIG(""), PROG_NOW))
		return;
	syn = connection_syn(&connection, TALK_SEQUENCE);
	syn.ipv6 = ipv6;
	if (!talk_begin(&talk, &prog, &syn, COOKIE))
		return;
	for (uint32_t has = 0; has < 100; has += 9)
		talk_turn(&talk, "a segment of a connection passes",
			  &(struct talk_turn){
				  .flags = ACK_PSH, .data = GET, .has = has, .want = FOREIGN });
	talk_turn(&talk, "its end too",
		  &(struct talk_turn){ .flags = PKT_ACK | PKT_FIN, .want = FOREIGN });
	connection_reset(&connection);
	ask(&talk, "once it is gone, they are ours", BUSY);
}

static void test_guard(void)
{
	check_guard(false);
	check_guard(true);
}

static void test_reload(void)
{
	autoprog struct prog prog = {};
	struct talk talk;

	if (!load(&prog, CONFIG(""), PROG_NOW) ||
	    !talk_begin(&talk, &prog, &(struct pkt_spec){}, COOKIE))
		return;
	if (!prog_load(&prog, CONFIG("on_stop: keep\n"), PROG_NOW))
		return;
	ask(&talk, "after a reload it goes on", BUSY);
	if (!prog_load(&prog,
		       "rate_limiters: {l: {keys: [], limit: 1, window: 1h}}\n"
		       "listeners: {web: {rate_limiter_name: l}}\n",
		       PROG_NOW))
		return;
	ask(&talk, "where nobody speaks any more it does not", FOREIGN);
}

static void test_budget(void)
{
	autoprog struct prog prog = {};
	struct talk talk;

	if (!load(&prog, CONFIG("replies_per_second: 1\n"), PROG_NOW) ||
	    !talk_begin(&talk, &prog, &(struct pkt_spec){}, COOKIE))
		return;
	CHECK_STR_EQ("a second SYN-ACK is withheld", prog_send(&prog, &(struct pkt_spec){}),
		     "drop limited web/l=limited withheld");
	for (int i = 0; i < 5; i++)
		ask(&talk, "whoever has one is answered", BUSY);
}

static void test_watchdog(void)
{
	autoprog struct prog prog = {};
	struct talk talk;

	if (!load(&prog, CONFIG("watchdog: {after: 10s, then: count}\n"), PROG_NOW))
		return;
	prog_heartbeat(&prog, PROG_NOW);
	if (!talk_begin(&talk, &prog, &(struct pkt_spec){}, COOKIE))
		return;
	prog_heartbeat(&prog, PROG_NOW - 11 * NSEC_PER_SEC);
	CHECK_STR_EQ("a SYN passes", prog_send(&prog, &(struct pkt_spec){}),
		     "pass counted web/l=counted");
	ask(&talk, "a conversation goes on", BUSY);
}

CHECK_SUITE(busy_life, { "cookies of the slot before", test_rotation },
	    { "cookies of others", test_others }, { "connections are never touched", test_guard },
	    { "reload", test_reload }, { "replies_per_second", test_budget },
	    { "watchdog", test_watchdog });
