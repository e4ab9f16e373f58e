/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is charged when: nobody for a SYN, and who brings its cookie back as for a SYN. No connection
 * comes of these segments, which the other program makes; where one has to be there, it is made by
 * this host itself. The answers' bytes are looked at in test_prove_answers.c.
 */
#include <arpa/inet.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <bpf/bpf.h>

#include "check.h"
#include "connection.h"
#include "loader.h"
#include "prover.h"
#include "util.h"

#define SLOT (1ULL << 35) /* ns that a cookie is good for, and once more */
#define LATE 32767	  /* bytes that may be lost before what came */

static const char one_limiter[] = TWO_PER_HOUR WEB "rate_limiter_name: l}}\n";

/* No bucket is made, however many ask. */
static void test_nothing(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;
	char from[32];

	if (!prover_begin(&prog, &listening, one_limiter))
		return;
	for (int i = 1; i < 200; i++) {
		snprintf(from, sizeof(from), "198.51.100.%d", i);
		if (!prover_challenged(&client, &prog, from, CLIENT_PORT))
			return;
	}
	CHECK("nobody has a bucket", prover_is_empty(&prog, "l"));
	CHECK_STR_EQ("the last one proves itself", prover_acknowledge(&client), ALLOWED);
	CHECK("and has one", !prover_is_empty(&prog, "l"));
}

/* The segment comes to the other program, which makes its connection; but not in a test run. */
static void arrive(const struct prover *client)
{
	struct __sk_buff context = {};
	struct pkt_frame frame = client->prog->sent;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes,
		    .data_size_in = (uint32_t)frame.size, .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = 1);

	CHECK_EQ("it runs", bpf_prog_test_run_opts(loader_admit(client->prog->loader), &options),
		 0);
	CHECK_EQ("and lets it pass", (int)options.retval, TC_ACT_UNSPEC);
}

/* How many segments the kernel was asked to make a connection of, which it never does here. */
static uint64_t arrived(const struct prog *prog)
{
	struct stile_proven *counts = calloc(prog->n_cpus, sizeof(*counts));
	const uint32_t slot = 1;
	uint64_t failed = 0;

	if (counts && CHECK_EQ("they are counted",
			       bpf_map_lookup_elem(prog_map(prog, "proven"), &slot, counts), 0))
		for (unsigned int i = 0; i < prog->n_cpus; i++)
			failed += counts[i].failed;
	free(counts);
	return failed;
}

/* Until there is a connection, what comes together with the first segment is of the same one. */
static void test_once(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;

	if (!prover_begin(&prog, &listening, one_limiter) ||
	    !prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("one of two", prover_acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("the next, with data", prover_bring(&client, PKT_ACK | PKT_PSH, 0, 100),
		     REPEATED);
	CHECK_STR_EQ("the one after", prover_bring(&client, PKT_ACK, 100, 100), REPEATED);
	arrive(&client);
	CHECK_EQ("which is not the first", arrived(&prog), 0);
	CHECK_STR_EQ("the first again", prover_acknowledge(&client), REPEATED);
	arrive(&client);
	CHECK_EQ("a connection is made of it", arrived(&prog), 1);
	arrive(&client);
	CHECK_EQ("and of it alone", arrived(&prog), 1);
	CHECK_STR_EQ("without one, what comes late is nothing",
		     prover_bring(&client, PKT_ACK, 100, 100), UNPROVEN);
	CHECK_STR_EQ("and another one is charged", prover_acknowledge(&client), ALLOWED);
	arrive(&client);
	CHECK_EQ("and made", arrived(&prog), 2);
	CHECK_STR_EQ("up to the limit", prover_acknowledge(&client), LIMITED);
}

static void check_charge(const char *from)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;

	if (!prover_begin(&prog, &listening, one_limiter) ||
	    !prover_challenged(&client, &prog, from, CLIENT_PORT))
		return;
	CHECK_STR_EQ("a SYN again", prover_ask(&client, &prog, from, CLIENT_PORT), CHALLENGED);
	CHECK_STR_EQ("one of two", prover_acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("two", prover_shake(&prog, from, 1001), ALLOWED);
	for (uint16_t port = 1002; port < 1006; port++)
		CHECK_STR_EQ("no more", prover_shake(&prog, from, port), LIMITED);
}

static void test_charge(void)
{
	check_charge(CLIENT_ONE);
	check_charge(CLIENT_ONE_V6);
}

/* RFC 9293, 3.10.7.1: a reset has the number that the segment acknowledged, and no ACK. */
static void check_refusal(struct prog *prog, const char *from, uint16_t flags, uint16_t payload)
{
	struct pkt_spec want = {
		.sport = PROVER_PORT, .dport = 1003, .flags = PKT_RST, .answer = true
	};
	struct pkt_frame frame;
	struct prover client;

	if (!prover_challenged(&client, prog, from, 1003))
		return;
	want.from = client.spec.ipv6 ? SERVER_ONE_V6 : SERVER_ONE;
	want.to = from;
	want.sequence = client.number + 1;
	CHECK_STR_EQ("it is refused", prover_bring(&client, flags, 0, payload), LIMITED);
	pkt_build(&want, &frame);
	if (CHECK_EQ("by a reset", prog->back.size, frame.size))
		CHECK_MEM_EQ("of its own connection", prog->back.bytes, frame.bytes, frame.size);
}

static void test_refusal(void)
{
	static const char *const clients[] = { CLIENT_ONE, CLIENT_ONE_V6 };
	autofd int listening = -1;
	autoprog struct prog prog = {};

	if (!prover_begin(&prog, &listening, one_limiter))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		CHECK_STR_EQ("one of two", prover_shake(&prog, clients[i], 1001), ALLOWED);
		CHECK_STR_EQ("two", prover_shake(&prog, clients[i], 1002), ALLOWED);
		check_refusal(&prog, clients[i], PKT_ACK, 0);
		check_refusal(&prog, clients[i], PKT_ACK | PKT_PSH, 700);
		check_refusal(&prog, clients[i], PKT_ACK | PKT_FIN, 0);
	}
}

/* What proves nothing, and is not the program's business. */
static void test_foreign(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client, other;

	if (!prover_begin(&prog, &listening, one_limiter))
		return;
	other = (struct prover){ &prog, { .dport = PROVER_PORT, .from = CLIENT_TWO }, 0x12345678 };
	CHECK_STR_EQ("nobody was challenged yet", prover_acknowledge(&other), ESTABLISHED);
	if (!prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("a number that nobody gave", prover_acknowledge(&other), ESTABLISHED);
	other = client;
	other.number++;
	CHECK_STR_EQ("one that is close", prover_acknowledge(&other), ESTABLISHED);
	other = client;
	other.number ^= 1U << 31;
	CHECK_STR_EQ("of another time", prover_acknowledge(&other), ESTABLISHED);
	other = client;
	other.spec.from = CLIENT_TWO;
	CHECK_STR_EQ("another's", prover_acknowledge(&other), ESTABLISHED);
	CHECK_STR_EQ("bytes before the first", prover_bring(&client, PKT_ACK, -1U, 0), ESTABLISHED);
	CHECK_STR_EQ("bytes far ahead", prover_bring(&client, PKT_ACK, LATE + 1, 0), ESTABLISHED);
	CHECK_STR_EQ("a reset", prover_bring(&client, PKT_RST | PKT_ACK, 0, 0), ESTABLISHED);
	CHECK_STR_EQ("one without an ACK", prover_bring(&client, PKT_RST, 0, 0), ESTABLISHED);
	CHECK_STR_EQ("an answer to a SYN", prover_bring(&client, PKT_SYN | PKT_ACK, 0, 0),
		     ESTABLISHED);
	CHECK_STR_EQ("flags of nothing", prover_bring(&client, PKT_FIN | PKT_URG | PKT_PSH, 0, 0),
		     "drop bad_flags");
	CHECK("none was charged", prover_is_empty(&prog, "l"));
	CHECK_STR_EQ("the client's own is good all the while", prover_acknowledge(&client),
		     ALLOWED);
}

/* Segments that overtake the first; it is sent again if it was lost, and so are they. */
static void test_early(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;

	if (!prover_begin(&prog, &listening, one_limiter) ||
	    !prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("the second comes first", prover_bring(&client, PKT_ACK, 1, 100), UNPROVEN);
	CHECK_STR_EQ("the last of a window", prover_bring(&client, PKT_ACK, LATE, 100), UNPROVEN);
	CHECK_STR_EQ("a FIN", prover_bring(&client, PKT_ACK | PKT_FIN, 100, 0), UNPROVEN);
	CHECK("none was charged", prover_is_empty(&prog, "l"));
	CHECK_STR_EQ("the first, with data", prover_bring(&client, PKT_ACK | PKT_PSH, 0, 100),
		     ALLOWED);
}

/* From a port that is known before there is a connection. 0 or -1. */
static int connect_from(int fd, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct linger at_once = { .l_onoff = 1 };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	address.sin_port = htons(PROVER_PORT);
	return connect(fd, (const struct sockaddr *)&address, sizeof(address));
}

/* Nothing that fits a cookie is looked at any further once a connection is there. */
static void test_connection(void)
{
	autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;

	if (!prover_begin(&prog, &listening, one_limiter) ||
	    !prover_challenged(&client, &prog, "127.0.0.1", CLIENT_PORT) ||
	    !CHECK_EQ("a connection is opened", connect_from(fd, CLIENT_PORT), 0))
		return;
	CHECK_STR_EQ("the proof again", prover_acknowledge(&client), ESTABLISHED);
	CHECK_STR_EQ("what comes later", prover_bring(&client, PKT_ACK, 1000, 100), ESTABLISHED);
	CHECK_STR_EQ("a SYN", prog_send(&prog, &client.spec), REPEATED);
	client.spec.sequence++;
	CHECK_STR_EQ("another SYN", prog_send(&prog, &client.spec), REPEATED);
	CHECK("none was charged", prover_is_empty(&prog, "l"));
}

/* What a listener could not take a connection of is charged at the SYN. */
static void test_elsewhere(void)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;
	struct pkt_spec syn;

	if (!CHECK_EQ("a connection is opened", connection_open(&connection, false, PROVER_PORT),
		      0))
		return;
	connection_linger(&connection);
	syn = connection_syn(&connection, 1000);
	connection_close(&connection);
	if (!prover_begin(&prog, &listening, one_limiter))
		return;
	CHECK_STR_EQ("a tuple in TIME_WAIT", prog_send(&prog, &syn), ALLOWED);
	CHECK("its neighbour has to prove itself",
	      prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT));
	close(listening);
	listening = -1;
	CHECK_STR_EQ("nobody listens any more: the proof", prover_acknowledge(&client),
		     ESTABLISHED);
	CHECK_STR_EQ("a SYN", prover_ask(&client, &prog, CLIENT_ONE, CLIENT_PORT), ALLOWED);
	CHECK_STR_EQ("which is charged", prover_ask(&client, &prog, CLIENT_ONE, CLIENT_PORT),
		     ALLOWED);
	CHECK_STR_EQ("as ever", prover_ask(&client, &prog, CLIENT_ONE, CLIENT_PORT), LIMITED);
}

static void test_time(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	const uint64_t begins = PROG_NOW / SLOT * SLOT;
	struct prover client;

	if (!prover_begin(&prog, &listening, one_limiter) || !prog_move(&prog, begins + SLOT - 1) ||
	    !prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT) ||
	    !prog_move(&prog, begins + 2 * SLOT - 1))
		return;
	CHECK_STR_EQ("at the end of the next slot", prover_acknowledge(&client), ALLOWED);
	if (!prover_challenged(&client, &prog, CLIENT_ONE, 1001) ||
	    !prog_move(&prog, begins + 3 * SLOT) ||
	    !prover_challenged(&client, &prog, CLIENT_TWO, 1001))
		return;
	client.spec.from = CLIENT_ONE;
	CHECK_STR_EQ("another's, though the slot is new", prover_acknowledge(&client), ESTABLISHED);
}

/* The slot after the next: others are challenged, and its number means nothing any more. */
static void test_expiry(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	const uint64_t begins = PROG_NOW / SLOT * SLOT;
	struct prover client, other;

	if (!prover_begin(&prog, &listening, one_limiter) || !prog_move(&prog, begins) ||
	    !prover_challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT) ||
	    !prog_move(&prog, begins + 2 * SLOT))
		return;
	CHECK_STR_EQ("nobody was challenged lately", prover_acknowledge(&client), ESTABLISHED);
	if (!prover_challenged(&other, &prog, CLIENT_TWO, CLIENT_PORT))
		return;
	CHECK_STR_EQ("another was", prover_acknowledge(&client), ESTABLISHED);
	CHECK("none was charged", prover_is_empty(&prog, "l"));
}

/* Cookies that are under way stay good, whatever the next configuration says. */
static void test_reload(void)
{
	static const char never[] = TWO_PER_HOUR
		"listeners: {web: {ports: [8080], rate_limiter_name: l}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client, early, other;

	if (!prover_begin(&prog, &listening, one_limiter) ||
	    !prover_challenged(&client, &prog, CLIENT_ONE, 1001) ||
	    !prover_challenged(&early, &prog, CLIENT_TWO, 1001) ||
	    !prog_load(&prog, never, PROG_NOW))
		return;
	CHECK_STR_EQ("a proof", prover_acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("what came too early", prover_bring(&early, PKT_ACK, 10, 0), UNPROVEN);
	CHECK_STR_EQ("a SYN is charged", prover_ask(&other, &prog, CLIENT_ONE, 1002), ALLOWED);
	CHECK_STR_EQ("to the same bucket", prover_ask(&other, &prog, CLIENT_ONE, 1003), LIMITED);
	if (!prog_load(&prog, one_limiter, PROG_NOW))
		return;
	CHECK_STR_EQ("and back", prover_acknowledge(&early), ALLOWED);
}

/* As the daemon would switch it. */
static void switch_auto(const struct prog *prog, uint64_t since)
{
	struct stile_proof proof;
	uint32_t slot = 1;
	int map = prog_map(prog, "proofs");

	CHECK_EQ("the state is read", bpf_map_lookup_elem(map, &slot, &proof), 0);
	proof.since = since;
	CHECK_EQ("and written", bpf_map_update_elem(map, &slot, &proof, BPF_ANY), 0);
}

static void test_auto(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct prover client;

	if (!prover_begin(&prog, &listening,
			  TWO_PER_HOUR "listeners: {web: {ports: [8080], prove_sources: auto, "
				       "rate_limiter_name: l}}\n"))
		return;
	CHECK_STR_EQ("off", prover_ask(&client, &prog, CLIENT_ONE, 1001), ALLOWED);
	switch_auto(&prog, PROG_NOW);
	if (!prover_challenged(&client, &prog, CLIENT_ONE, 1002))
		return;
	switch_auto(&prog, 0);
	CHECK_STR_EQ("off again, with a cookie under way", prover_acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("a SYN", prover_ask(&client, &prog, CLIENT_ONE, 1003), LIMITED);
}

CHECK_SUITE(prove, { "SYNs cost nothing", test_nothing }, { "proofs are charged", test_charge },
	    { "and once", test_once }, { "refusals", test_refusal },
	    { "what proves nothing", test_foreign }, { "what comes too early", test_early },
	    { "with a connection", test_connection },
	    { "without a socket that listens", test_elsewhere }, { "two slots of time", test_time },
	    { "and no more", test_expiry }, { "reloads", test_reload }, { "auto", test_auto });
