/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TCP flags: what opens a connection, what belongs to one, and what belongs to none. */
#include <stdio.h>

#include "check.h"
#include "prog.h"
#include "util.h"

static const char config[] = "rate_limiters: {plenty: {limit: 1000000, window: 1h}}\n"
			     "listeners: {web: {protocol: tcp, rate_limiter_name: plenty}}\n";

#define OPENS "pass allowed web/plenty=allowed"
#define BELONGS "pass established"
#define BAD "drop bad_flags"

static void test_named(void)
{
	static const struct {
		const char *what;
		uint16_t flags;
		const char *want;
	} rows[] = {
		{ "a SYN opens a connection", PKT_SYN, OPENS },
		{ "a SYN that offers ECN, too", PKT_SYN | PKT_ECE | PKT_CWR, OPENS },
		{ "a SYN with PSH, too", PKT_SYN | PKT_PSH, OPENS },
		{ "a SYN with URG, too", PKT_SYN | PKT_URG, OPENS },
		{ "an answer to a SYN is of a connection that we opened", PKT_SYN | PKT_ACK,
		  BELONGS },
		{ "an ACK belongs to a connection", PKT_ACK, BELONGS },
		{ "data do", PKT_PSH | PKT_ACK, BELONGS },
		{ "an end does", PKT_FIN | PKT_ACK, BELONGS },
		{ "urgent data and an end do", PKT_FIN | PKT_PSH | PKT_URG | PKT_ACK, BELONGS },
		{ "a reset does", PKT_RST, BELONGS },
		{ "a reset with ACK does", PKT_RST | PKT_ACK, BELONGS },
		{ "no flags at all are of no connection", PKT_NO_FLAGS, BAD },
		{ "nor is PSH alone", PKT_PSH, BAD },
		{ "nor URG alone", PKT_URG, BAD },
		{ "nor ECE and CWR alone", PKT_ECE | PKT_CWR, BAD },
		{ "nor SYN and FIN", PKT_SYN | PKT_FIN, BAD },
		{ "nor SYN and FIN with ACK", PKT_SYN | PKT_FIN | PKT_ACK, BAD },
		{ "nor SYN and RST", PKT_SYN | PKT_RST, BAD },
		{ "nor FIN and RST", PKT_FIN | PKT_RST, BAD },
		{ "nor the Christmas tree", PKT_FIN | PKT_PSH | PKT_URG, BAD },
		{ "nor all flags", 0xff, BAD },
	};
	autoprog struct prog prog = {};
	struct pkt_spec spec;

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		spec = (struct pkt_spec){ .flags = rows[i / 2].flags, .ipv6 = i % 2 };
		CHECK_STR_EQ(rows[i / 2].what, prog_send(&prog, &spec), rows[i / 2].want);
	}
}

/* None, SYN+FIN, SYN+RST, FIN+RST, Xmas. */
static const char *want_of(unsigned int flags)
{
	unsigned int of_a_phase = !!(flags & PKT_SYN) + !!(flags & PKT_FIN) + !!(flags & PKT_RST);

	if (flags & PKT_ACK)
		return of_a_phase > 1 ? BAD : BELONGS;
	if (of_a_phase != 1)
		return BAD;
	if (flags & PKT_SYN)
		return OPENS;
	return flags & PKT_FIN && flags & PKT_PSH && flags & PKT_URG ? BAD : BELONGS;
}

static void test_every_combination(void)
{
	autoprog struct prog prog = {};
	struct pkt_spec spec;
	char what[32];

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (unsigned int flags = 0; flags < 256; flags++) {
		spec = (struct pkt_spec){ .flags = flags ? (uint16_t)flags : PKT_NO_FLAGS };
		snprintf(what, sizeof(what), "flags 0x%02x", flags);
		CHECK_STR_EQ(what, prog_send(&prog, &spec), want_of(flags));
	}
}

CHECK_SUITE(flags, { "by name", test_named }, { "every combination", test_every_combination });
