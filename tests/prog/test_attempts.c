/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A SYN that is sent again: free of charge while its socket is there, and only then. */
#include <stdio.h>

#include "check.h"
#include "connection.h"
#include "prog.h"

#define PORT 8080
#define SEQUENCE 1000
#define ALLOWED "pass allowed web/l=allowed"
#define REPEATED "pass repeated"
#define LIMITED "reply limited web/l=limited reset"

static const char config[] =
	"rate_limiters: {l: {limit: 4, window: 1h}}\n"
	"listeners: {web: {protocol: tcp, ports: [8080], rate_limiter_name: l}}\n";

static const char *send_syn(struct prog *prog, const struct connection *connection,
			    uint32_t sequence)
{
	const struct pkt_spec syn = connection_syn(connection, sequence);

	return prog_send(prog, &syn);
}

static bool begin(struct prog *prog, struct connection *connection, bool ipv6)
{
	return CHECK_EQ("a connection is opened", connection_open(connection, ipv6, PORT), 0) &&
	       prog_load(prog, config, PROG_NOW);
}

static void check_socket(bool ipv6)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};

	if (!begin(&prog, &connection, ipv6))
		return;
	CHECK_STR_EQ("the first is charged", send_syn(&prog, &connection, SEQUENCE), ALLOWED);
	for (int i = 0; i < 9; i++)
		CHECK_STR_EQ("again it is free, while the connection is open",
			     send_syn(&prog, &connection, SEQUENCE), REPEATED);
	CHECK_STR_EQ("another sequence number is another attempt",
		     send_syn(&prog, &connection, SEQUENCE + 1), ALLOWED);
	connection_reset(&connection);
	CHECK_STR_EQ("once the connection is gone it is charged again",
		     send_syn(&prog, &connection, SEQUENCE), ALLOWED);
	CHECK_STR_EQ("each time", send_syn(&prog, &connection, SEQUENCE), ALLOWED);
	CHECK_STR_EQ("up to the limit", send_syn(&prog, &connection, SEQUENCE), LIMITED);
}

static void test_socket(void)
{
	check_socket(false);
	check_socket(true);
}

static void check_time_wait(bool ipv6)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};

	if (!begin(&prog, &connection, ipv6))
		return;
	CHECK_STR_EQ("the first is charged", send_syn(&prog, &connection, SEQUENCE), ALLOWED);
	CHECK_STR_EQ("again it is free", send_syn(&prog, &connection, SEQUENCE), REPEATED);
	connection_linger(&connection);
	CHECK_STR_EQ("what waits for its end is no attempt", send_syn(&prog, &connection, SEQUENCE),
		     ALLOWED);
}

static void test_time_wait(void)
{
	check_time_wait(false);
	check_time_wait(true);
}

/* Nobody opens these: remembered or not, each is charged. */
static void test_no_socket(void)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};
	struct pkt_spec syn = { .dport = PORT, .sequence = SEQUENCE };

	if (!begin(&prog, &connection, false))
		return;
	for (int i = 0; i < 4; i++)
		CHECK_STR_EQ("the same SYN, without a socket", prog_send(&prog, &syn), ALLOWED);
	CHECK_STR_EQ("is refused over the limit", prog_send(&prog, &syn), LIMITED);
	syn = connection_syn(&connection, SEQUENCE);
	syn.sport++;
	CHECK_STR_EQ("a socket that listens is none", prog_send(&prog, &syn), ALLOWED);
	CHECK_STR_EQ("however often", prog_send(&prog, &syn), ALLOWED);
}

/* What was refused is not remembered, though the connection is there. */
static void test_refused(void)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};

	if (!begin(&prog, &connection, false))
		return;
	for (uint32_t i = 0; i < 4; i++)
		CHECK_STR_EQ("the limit is used up", send_syn(&prog, &connection, SEQUENCE + i),
			     ALLOWED);
	for (int i = 0; i < 3; i++)
		CHECK_STR_EQ("a new attempt is refused each time",
			     send_syn(&prog, &connection, SEQUENCE + 77), LIMITED);
	CHECK_STR_EQ("the last that was let in is free", send_syn(&prog, &connection, SEQUENCE + 3),
		     REPEATED);
}

CHECK_SUITE(attempts, { "while the socket is there", test_socket },
	    { "in TIME_WAIT", test_time_wait }, { "without a socket", test_no_socket },
	    { "refused", test_refused });
