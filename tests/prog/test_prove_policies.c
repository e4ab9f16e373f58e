/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proofs of sources together with all else that a policy can say. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"
#include "connection.h"
#include "prover.h"
#include "util.h"

static void test_lists(void)
{
	static const char config[] = "trusted: [" CLIENT_TWO "]\n" TWO_PER_HOUR WEB
				     "rate_limiter_name: l, sources: {" CLIENT_FAR ": none}}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;

	if (!prover_begin(&prog, &listening, config))
		return;
	for (uint16_t port = 1001; port < 1004; port++) {
		CHECK_STR_EQ("trusted", prover_shake(&prog, CLIENT_TWO, port),
			     "pass exempt web/l=exempt");
		CHECK_STR_EQ("with a policy of none", prover_shake(&prog, CLIENT_FAR, port),
			     "pass exempt web/l=exempt");
	}
	if (!prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	prog_list(&prog, "blocked", CLIENT_ONE, 0);
	CHECK_STR_EQ("blocked meanwhile", prover_acknowledge(&client), "drop blocked");
	CHECK_STR_EQ("blocked", prover_ask(&client, &prog, CLIENT_ONE, CLIENT_PORT),
		     "drop blocked");
}

static void test_unlimited(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};

	if (prover_begin(&prog, &listening,
			 "listeners: {web: {ports: [8080], prove_sources: always}}\n"))
		CHECK_STR_EQ("nothing limits it", prover_shake(&prog, CLIENT_ONE, 1001),
			     "pass unlimited");
}

static void test_several(void)
{
	static const char config[] =
		"rate_limiters: {l: {limit: 1, window: 1h}, n: {limit: 9, window: 1h}}\n" WEB
		"rate_limiter_name: [n, l]}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};

	if (!prover_begin(&prog, &listening, config))
		return;
	CHECK_STR_EQ("both are charged", prover_shake(&prog, CLIENT_ONE, 1001),
		     "pass allowed web/l=allowed web/n=allowed");
	for (uint16_t port = 1002; port < 1014; port++)
		CHECK_STR_EQ("one refuses, and the other is not charged",
			     prover_shake(&prog, CLIENT_ONE, port), LIMITED);
	CHECK_STR_EQ("another", prover_shake(&prog, CLIENT_TWO, 1001),
		     "pass allowed web/l=allowed web/n=allowed");
}

static void test_actions(void)
{
	static const struct {
		const char *action, *want;
	} rows[] = {
		{ "reset", LIMITED },
		{ "reject", LIMITED },
		{ "drop", "drop limited web/l=limited" },
		{ "count", "pass counted web/l=counted" },
		{ "close", LIMITED },
	};
	char config[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofd int listening = -1;
		autoprog struct prog prog = {};
		struct prover late;

		snprintf(config, sizeof(config),
			 "rate_limiters: {l: {limit: 1, window: 1h, action: %s}}\n" WEB
			 "rate_limiter_name: l}}\n",
			 rows[i].action);
		if (!prover_begin(&prog, &listening, config) ||
		    !prover_challenged(&late, &prog, CLIENT_ONE, CLIENT_PORT))
			continue;
		CHECK_STR_EQ(rows[i].action, prover_shake(&prog, CLIENT_ONE, 1001), ALLOWED);
		CHECK_STR_EQ(rows[i].action, prover_acknowledge(&late), rows[i].want);
	}
}

/* Who can be told at the SYN is; everybody else proves that it is there. */
static void test_language(void)
{
	static const char config[] = "rate_limiters: {l: {limit: 1, window: 1h}}\n" WEB
				     "rate_limiter_name: l, app_protocol: http}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover late, client;

	if (!prover_begin(&prog, &listening, config) ||
	    !prover_challenged(&late, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("the first", prover_shake(&prog, CLIENT_ONE, 1001), ALLOWED);
	CHECK_STR_EQ("who was late has a connection, and loses it", prover_acknowledge(&late),
		     LIMITED);
	CHECK_STR_EQ("over its limit it will be told", prover_ask(&client, &prog, CLIENT_ONE, 1002),
		     "reply limited web/l=limited cookie");
	CHECK_STR_EQ("what it says", prover_bring(&client, PKT_ACK | PKT_PSH, 0, 300),
		     "reply busy busy");
	CHECK_STR_EQ("another", prover_shake(&prog, CLIENT_TWO, 1001), ALLOWED);
}

/* A place is taken by who has proven itself, and by nobody else. */
static void test_places(void)
{
	static const char config[] =
		"rate_limiters: {l: {algorithm: concurrency, limit: 1, max_keys: 64}}\n" WEB
		"rate_limiter_name: l}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover first, second;

	if (!prover_begin(&prog, &listening, config) ||
	    !prover_challenged(&first, &prog, CLIENT_ONE, 1001) ||
	    !prover_challenged(&second, &prog, CLIENT_ONE, 1002))
		return;
	CHECK("a SYN takes no place", prover_is_empty(&prog, "l"));
	CHECK_STR_EQ("its proof does", prover_acknowledge(&second), ALLOWED);
	CHECK_STR_EQ("there is no other", prover_acknowledge(&first), LIMITED);
	CHECK_STR_EQ("who has it has it once", prover_acknowledge(&second), REPEATED);
}

/* As the kernel: there is no connection yet, and the client sends its proof again. */
static void test_full(void)
{
	autoconnection struct connection crowd = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};
	struct prover client;

	if (!CHECK_EQ("the accept queue is full", connection_crowd(&crowd, PROVER_PORT), 0) ||
	    !prog_load(&prog, TWO_PER_HOUR WEB "rate_limiter_name: l}}\n", PROG_NOW) ||
	    !prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	for (int i = 0; i < 3; i++)
		CHECK_STR_EQ("its time has not come", prover_acknowledge(&client),
			     "drop accept_queue");
	CHECK("nobody was charged", prover_is_empty(&prog, "l"));
	close(accept4(crowd.listener, NULL, NULL, SOCK_CLOEXEC));
	CHECK_STR_EQ("there is room", prover_acknowledge(&client), ALLOWED);
}

/* An accept_queue_limit of its own sheds who has proven itself, and does not look at a SYN. */
static void test_queue(void)
{
	autoconnection struct connection crowd = { -1, -1, -1, false, 0, 0 };
	autoprog struct prog prog = {};
	struct prover client;

	if (!CHECK_EQ("one waits", connection_crowd(&crowd, PROVER_PORT), 0) ||
	    !CHECK_EQ("of some", listen(crowd.listener, 3), 0) ||
	    !prog_load(&prog, WEB "accept_queue_limit: 1}}\n", PROG_NOW))
		return;
	for (uint16_t port = 1001; port < 1004; port++)
		CHECK_STR_EQ("there are places", prover_shake(&prog, CLIENT_ONE, port),
			     "pass unlimited");
	if (prover_challenged(&client, &prog, CLIENT_ONE, 1004))
		CHECK_STR_EQ("for others", prover_acknowledge(&client), "reply accept_queue reset");
	CHECK_STR_EQ("who are let in", prover_shake(&prog, CLIENT_TWO, 1001), "pass unlimited");
}

/* The kernel makes no connection of Multipath TCP of a cookie, so the SYN is charged. */
static void test_multipath(void)
{
	autofd int listening = connection_listen_by(PROVER_PORT, IPPROTO_MPTCP);
	autoprog struct prog prog = {};
	struct prover client;

	if (listening == -EPROTONOSUPPORT) {
		CHECK_SKIP("the kernel has no Multipath TCP");
		return;
	}
	if (!CHECK("a service listens", listening >= 0) ||
	    !prog_load(&prog, TWO_PER_HOUR WEB "rate_limiter_name: l}}\n", PROG_NOW))
		return;
	CHECK_STR_EQ("one", prover_ask(&client, &prog, CLIENT_ONE, 1001), ALLOWED);
	CHECK_STR_EQ("two", prover_ask(&client, &prog, CLIENT_ONE, 1002), ALLOWED);
	CHECK_STR_EQ("no more", prover_ask(&client, &prog, CLIENT_ONE, 1003), LIMITED);
}

/* Any of these changes what the verifier sees. */
static void test_all(void)
{
	static const char *const parts[] = { "app_protocol: http, ", "accept_queue_limit: 75%, ",
					     "prove_sources: always, " };
	autofd int listening = connection_listen(PROVER_PORT);
	char config[512];

	for (unsigned int bits = 0; bits < 16; bits++) {
		autoprog struct prog prog = {};
		struct prover client;

		snprintf(config, sizeof(config),
			 "rate_limiters: {l: {algorithm: %s, limit: 2}}\n"
			 "listeners: {web: {%s%s%sports: [8080], rate_limiter_name: l}}\n",
			 bits & 8 ? "concurrency" : "token_bucket", bits & 1 ? parts[0] : "",
			 bits & 2 ? parts[1] : "", bits & 4 ? parts[2] : "");
		if (!prog_load(&prog, config, PROG_NOW))
			printf("%s", config);
		else if (bits & 4)
			CHECK_STR_EQ(config, prover_shake(&prog, CLIENT_ONE, 1001), ALLOWED);
		else
			CHECK_STR_EQ(config, prover_ask(&client, &prog, CLIENT_ONE, 1001), ALLOWED);
	}
}

CHECK_SUITE(prove_policies, { "lists", test_lists }, { "no limiter", test_unlimited },
	    { "several limiters", test_several }, { "actions", test_actions },
	    { "a language", test_language }, { "places", test_places },
	    { "a full accept queue", test_full }, { "a limit of it", test_queue },
	    { "Multipath TCP", test_multipath }, { "all together", test_all });
