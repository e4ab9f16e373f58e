/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is charged when: nobody for a SYN, and who brings its cookie back as for a SYN. No connection
 * comes of these segments, which the other program makes; where one has to be there, it is made by
 * this host itself. The answers' bytes are looked at in test_prove_answers.c.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <bpf/bpf.h>

#include "check.h"
#include "connection.h"
#include "prog.h"
#include "util.h"

#define PORT 8080
#define SEQUENCE 0xfffffffeU
#define SLOT (1ULL << 35) /* ns that a cookie is good for, and once more */
#define LATE 65535	  /* bytes that may be lost before what came */
#define CHALLENGED "reply challenged challenge"
#define ALLOWED "pass allowed web/l=allowed"
#define LIMITED "reply limited web/l=limited reset"
#define REPEATED "pass repeated"
#define ESTABLISHED "pass established"
#define UNPROVEN "drop unproven"

/* A client that was challenged. */
struct client {
	struct prog *prog;
	struct pkt_spec spec;
	uint32_t number; /* that it has to bring back */
};

static bool begin(struct prog *prog, int *ret_listening, const char *text)
{
	*ret_listening = connection_listen(PORT);
	return CHECK("a service listens", *ret_listening >= 0) && prog_load(prog, text, PROG_NOW);
}

static const char *ask(struct client *client, struct prog *prog, const char *from, uint16_t port)
{
	const bool ipv6 = strchr(from, ':') != NULL;
	const char *text;

	client->prog = prog;
	client->spec = (struct pkt_spec){ .from = from,
					  .to = strcmp(from, "127.0.0.1") == 0 ? from : NULL,
					  .ipv6 = ipv6,
					  .sport = port,
					  .dport = PORT,
					  .sequence = SEQUENCE };
	text = prog_send(prog, &client->spec);
	memcpy(&client->number, prog->back.bytes + 14 + (ipv6 ? 40 : 20) + 4, 4);
	client->number = ntohl(client->number);
	return text;
}

static bool challenged(struct client *client, struct prog *prog, const char *from, uint16_t port)
{
	return CHECK_STR_EQ("it is challenged", ask(client, prog, from, port), CHALLENGED);
}

/* The client's next segment; @ahead bytes lie between its SYN and that. */
static const char *bring(const struct client *client, uint16_t flags, uint32_t ahead,
			 uint16_t payload)
{
	struct pkt_spec segment = client->spec;

	segment.flags = flags;
	segment.sequence = SEQUENCE + 1 + ahead;
	segment.acknowledgment = client->number + 1;
	segment.payload = payload;
	return prog_send(client->prog, &segment);
}

static const char *acknowledge(const struct client *client)
{
	return bring(client, PKT_ACK, 0, 0);
}

/* A SYN, its cookie, and that brought back. */
static const char *shake(struct prog *prog, const char *from, uint16_t port)
{
	struct client client;

	return challenged(&client, prog, from, port) ? acknowledge(&client) : "";
}

#define WEB "listeners: {web: {ports: [8080], prove_sources: always, "
#define TWO_PER_HOUR "rate_limiters: {l: {limit: 2, window: 1h, max_keys: 64}}\n"

static const char one_limiter[] = TWO_PER_HOUR WEB "rate_limiter_name: l}}\n";

static bool is_empty(const struct prog *prog, const char *limiter)
{
	static const struct stile_set empty;
	struct prog_table table;

	if (!prog_table(prog, limiter, &table))
		return false;
	for (uint32_t i = 0; i < table.n_sets; i++)
		if (memcmp(table.sets[i].state, empty.state, sizeof(empty.state)) != 0)
			return false;
	return true;
}

/* No bucket is made, however many ask. */
static void test_nothing(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client;
	char from[32];

	if (!begin(&prog, &listening, one_limiter))
		return;
	for (int i = 1; i < 200; i++) {
		snprintf(from, sizeof(from), "198.51.100.%d", i);
		if (!challenged(&client, &prog, from, CLIENT_PORT))
			return;
	}
	CHECK("nobody has a bucket", is_empty(&prog, "l"));
	CHECK_STR_EQ("the last one proves itself", acknowledge(&client), ALLOWED);
	CHECK("and has one", !is_empty(&prog, "l"));
}

static void check_charge(const char *from)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client;

	if (!begin(&prog, &listening, one_limiter) ||
	    !challenged(&client, &prog, from, CLIENT_PORT))
		return;
	CHECK_STR_EQ("a SYN again", ask(&client, &prog, from, CLIENT_PORT), CHALLENGED);
	CHECK_STR_EQ("one of two", acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("two", shake(&prog, from, 1001), ALLOWED);
	for (uint16_t port = 1002; port < 1006; port++)
		CHECK_STR_EQ("no more", shake(&prog, from, port), LIMITED);
}

static void test_charge(void)
{
	check_charge(CLIENT_ONE);
	check_charge(CLIENT_ONE_V6);
}

/* RFC 9293, 3.10.7.1: a reset has the number that the segment acknowledged, and no ACK. */
static void check_refusal(struct prog *prog, const char *from, uint16_t flags, uint16_t payload)
{
	struct pkt_spec want = { .sport = PORT, .dport = 1003, .flags = PKT_RST, .answer = true };
	struct pkt_frame frame;
	struct client client;

	if (!challenged(&client, prog, from, 1003))
		return;
	want.from = client.spec.ipv6 ? SERVER_ONE_V6 : SERVER_ONE;
	want.to = from;
	want.sequence = client.number + 1;
	CHECK_STR_EQ("it is refused", bring(&client, flags, 0, payload), LIMITED);
	pkt_build(&want, &frame);
	if (CHECK_EQ("by a reset", prog->back.size, frame.size))
		CHECK_MEM_EQ("of its own connection", prog->back.bytes, frame.bytes, frame.size);
}

static void test_refusal(void)
{
	static const char *const clients[] = { CLIENT_ONE, CLIENT_ONE_V6 };
	autofd int listening = -1;
	autoprog struct prog prog = {};

	if (!begin(&prog, &listening, one_limiter))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		CHECK_STR_EQ("one of two", shake(&prog, clients[i], 1001), ALLOWED);
		CHECK_STR_EQ("two", shake(&prog, clients[i], 1002), ALLOWED);
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
	struct client client, other;

	if (!begin(&prog, &listening, one_limiter))
		return;
	other = (struct client){ &prog, { .dport = PORT, .from = CLIENT_TWO }, 0x12345678 };
	CHECK_STR_EQ("nobody was challenged yet", acknowledge(&other), ESTABLISHED);
	if (!challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("a number that nobody gave", acknowledge(&other), ESTABLISHED);
	other = client;
	other.number++;
	CHECK_STR_EQ("one that is close", acknowledge(&other), ESTABLISHED);
	other = client;
	other.number ^= 1U << 31;
	CHECK_STR_EQ("of another time", acknowledge(&other), ESTABLISHED);
	other = client;
	other.spec.from = CLIENT_TWO;
	CHECK_STR_EQ("another's", acknowledge(&other), ESTABLISHED);
	CHECK_STR_EQ("bytes before the first", bring(&client, PKT_ACK, -1U, 0), ESTABLISHED);
	CHECK_STR_EQ("bytes far ahead", bring(&client, PKT_ACK, LATE + 1, 0), ESTABLISHED);
	CHECK_STR_EQ("a reset", bring(&client, PKT_RST | PKT_ACK, 0, 0), ESTABLISHED);
	CHECK_STR_EQ("one without an ACK", bring(&client, PKT_RST, 0, 0), ESTABLISHED);
	CHECK_STR_EQ("an answer to a SYN", bring(&client, PKT_SYN | PKT_ACK, 0, 0), ESTABLISHED);
	CHECK_STR_EQ("flags of nothing", bring(&client, PKT_FIN | PKT_URG | PKT_PSH, 0, 0),
		     "drop bad_flags");
	CHECK("none was charged", is_empty(&prog, "l"));
	CHECK_STR_EQ("the client's own is good all the while", acknowledge(&client), ALLOWED);
}

/* Segments that overtake the first; it is sent again if it was lost, and so are they. */
static void test_early(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client;

	if (!begin(&prog, &listening, one_limiter) ||
	    !challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("the second comes first", bring(&client, PKT_ACK, 1, 100), UNPROVEN);
	CHECK_STR_EQ("the last of a window", bring(&client, PKT_ACK, LATE, 100), UNPROVEN);
	CHECK_STR_EQ("a FIN", bring(&client, PKT_ACK | PKT_FIN, 100, 0), UNPROVEN);
	CHECK("none was charged", is_empty(&prog, "l"));
	CHECK_STR_EQ("the first, with data", bring(&client, PKT_ACK | PKT_PSH, 0, 100), ALLOWED);
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
	address.sin_port = htons(PORT);
	return connect(fd, (const struct sockaddr *)&address, sizeof(address));
}

/* Nothing that fits a cookie is looked at any further once a connection is there. */
static void test_connection(void)
{
	autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client;

	if (!begin(&prog, &listening, one_limiter) ||
	    !challenged(&client, &prog, "127.0.0.1", CLIENT_PORT) ||
	    !CHECK_EQ("a connection is opened", connect_from(fd, CLIENT_PORT), 0))
		return;
	CHECK_STR_EQ("the proof again", acknowledge(&client), ESTABLISHED);
	CHECK_STR_EQ("what comes later", bring(&client, PKT_ACK, 1000, 100), ESTABLISHED);
	CHECK_STR_EQ("a SYN", prog_send(&prog, &client.spec), REPEATED);
	client.spec.sequence++;
	CHECK_STR_EQ("another SYN", prog_send(&prog, &client.spec), REPEATED);
	CHECK("none was charged", is_empty(&prog, "l"));
}

/* What a listener could not take a connection of is charged at the SYN. */
static void test_elsewhere(void)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client;
	struct pkt_spec syn;

	if (!CHECK_EQ("a connection is opened", connection_open(&connection, false, PORT), 0))
		return;
	connection_linger(&connection);
	syn = connection_syn(&connection, 1000);
	connection_close(&connection);
	if (!begin(&prog, &listening, one_limiter))
		return;
	CHECK_STR_EQ("a tuple in TIME_WAIT", prog_send(&prog, &syn), ALLOWED);
	CHECK("its neighbour has to prove itself",
	      challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT));
	close(listening);
	listening = -1;
	CHECK_STR_EQ("nobody listens any more: the proof", acknowledge(&client), ESTABLISHED);
	CHECK_STR_EQ("a SYN", ask(&client, &prog, CLIENT_ONE, CLIENT_PORT), ALLOWED);
	CHECK_STR_EQ("which is charged", ask(&client, &prog, CLIENT_ONE, CLIENT_PORT), ALLOWED);
	CHECK_STR_EQ("as ever", ask(&client, &prog, CLIENT_ONE, CLIENT_PORT), LIMITED);
}

static void test_time(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	const uint64_t begins = PROG_NOW / SLOT * SLOT;
	struct client client;

	if (!begin(&prog, &listening, one_limiter) || !prog_move(&prog, begins + SLOT - 1) ||
	    !challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT) ||
	    !prog_move(&prog, begins + 2 * SLOT - 1))
		return;
	CHECK_STR_EQ("at the end of the next slot", acknowledge(&client), ALLOWED);
	if (!challenged(&client, &prog, CLIENT_ONE, 1001) || !prog_move(&prog, begins + 3 * SLOT) ||
	    !challenged(&client, &prog, CLIENT_TWO, 1001))
		return;
	client.spec.from = CLIENT_ONE;
	CHECK_STR_EQ("another's, though the slot is new", acknowledge(&client), ESTABLISHED);
}

/* The slot after the next: others are challenged, and its number means nothing any more. */
static void test_expiry(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};
	const uint64_t begins = PROG_NOW / SLOT * SLOT;
	struct client client, other;

	if (!begin(&prog, &listening, one_limiter) || !prog_move(&prog, begins) ||
	    !challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT) ||
	    !prog_move(&prog, begins + 2 * SLOT))
		return;
	CHECK_STR_EQ("nobody was challenged lately", acknowledge(&client), ESTABLISHED);
	if (!challenged(&other, &prog, CLIENT_TWO, CLIENT_PORT))
		return;
	CHECK_STR_EQ("another was", acknowledge(&client), ESTABLISHED);
	CHECK("none was charged", is_empty(&prog, "l"));
}

static void test_lists(void)
{
	static const char config[] = "trusted: [" CLIENT_TWO "]\n" TWO_PER_HOUR WEB
				     "rate_limiter_name: l, sources: {" CLIENT_FAR ": none}}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client;

	if (!begin(&prog, &listening, config))
		return;
	for (int i = 0; i < 3; i++) {
		CHECK_STR_EQ("trusted", shake(&prog, CLIENT_TWO, 1001), "pass exempt web/l=exempt");
		CHECK_STR_EQ("with a policy of none", shake(&prog, CLIENT_FAR, 1001),
			     "pass exempt web/l=exempt");
	}
	if (!challenged(&client, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	prog_list(&prog, "blocked", CLIENT_ONE, 0);
	CHECK_STR_EQ("blocked meanwhile", acknowledge(&client), "drop blocked");
	CHECK_STR_EQ("blocked", ask(&client, &prog, CLIENT_ONE, CLIENT_PORT), "drop blocked");
}

static void test_unlimited(void)
{
	autofd int listening = -1;
	autoprog struct prog prog = {};

	if (begin(&prog, &listening, "listeners: {web: {ports: [8080], prove_sources: always}}\n"))
		CHECK_STR_EQ("nothing limits it", shake(&prog, CLIENT_ONE, 1001), "pass unlimited");
}

static void test_several(void)
{
	static const char config[] =
		"rate_limiters: {l: {limit: 1, window: 1h}, n: {limit: 9, window: 1h}}\n" WEB
		"rate_limiter_name: [n, l]}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};

	if (!begin(&prog, &listening, config))
		return;
	CHECK_STR_EQ("both are charged", shake(&prog, CLIENT_ONE, 1001),
		     "pass allowed web/l=allowed web/n=allowed");
	for (uint16_t port = 1002; port < 1014; port++)
		CHECK_STR_EQ("one refuses, and the other is not charged",
			     shake(&prog, CLIENT_ONE, port), LIMITED);
	CHECK_STR_EQ("another", shake(&prog, CLIENT_TWO, 1001),
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
		struct client late;

		snprintf(config, sizeof(config),
			 "rate_limiters: {l: {limit: 1, window: 1h, action: %s}}\n" WEB
			 "rate_limiter_name: l}}\n",
			 rows[i].action);
		if (!begin(&prog, &listening, config) ||
		    !challenged(&late, &prog, CLIENT_ONE, CLIENT_PORT))
			continue;
		CHECK_STR_EQ(rows[i].action, shake(&prog, CLIENT_ONE, 1001), ALLOWED);
		CHECK_STR_EQ(rows[i].action, acknowledge(&late), rows[i].want);
	}
}

/* Who can be told at the SYN is; everybody else proves that it is there. */
static void test_language(void)
{
	static const char config[] = "rate_limiters: {l: {limit: 1, window: 1h}}\n" WEB
				     "rate_limiter_name: l, app_protocol: http}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client late, client;

	if (!begin(&prog, &listening, config) || !challenged(&late, &prog, CLIENT_ONE, CLIENT_PORT))
		return;
	CHECK_STR_EQ("the first", shake(&prog, CLIENT_ONE, 1001), ALLOWED);
	CHECK_STR_EQ("who was late has a connection, and loses it", acknowledge(&late), LIMITED);
	CHECK_STR_EQ("over its limit it will be told", ask(&client, &prog, CLIENT_ONE, 1002),
		     "reply limited web/l=limited cookie");
	CHECK_STR_EQ("what it says", bring(&client, PKT_ACK | PKT_PSH, 0, 300), "reply busy busy");
	CHECK_STR_EQ("another", shake(&prog, CLIENT_TWO, 1001), ALLOWED);
}

/* A place is taken by who has proven itself, and by nobody else. */
static void test_places(void)
{
	static const char config[] =
		"rate_limiters: {l: {algorithm: concurrency, limit: 1, max_keys: 64}}\n" WEB
		"rate_limiter_name: l}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client first, second;

	if (!begin(&prog, &listening, config) || !challenged(&first, &prog, CLIENT_ONE, 1001) ||
	    !challenged(&second, &prog, CLIENT_ONE, 1002))
		return;
	CHECK("a SYN takes no place", is_empty(&prog, "l"));
	CHECK_STR_EQ("its proof does", acknowledge(&second), ALLOWED);
	CHECK_STR_EQ("there is no other", acknowledge(&first), LIMITED);
	CHECK_STR_EQ("who has it has it once", acknowledge(&second), REPEATED);
}

/* Cookies that are under way stay good, whatever the next configuration says. */
static void test_reload(void)
{
	static const char never[] = TWO_PER_HOUR
		"listeners: {web: {ports: [8080], rate_limiter_name: l}}\n";
	autofd int listening = -1;
	autoprog struct prog prog = {};
	struct client client, early, other;

	if (!begin(&prog, &listening, one_limiter) ||
	    !challenged(&client, &prog, CLIENT_ONE, 1001) ||
	    !challenged(&early, &prog, CLIENT_TWO, 1001) || !prog_load(&prog, never, PROG_NOW))
		return;
	CHECK_STR_EQ("a proof", acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("what came too early", bring(&early, PKT_ACK, 10, 0), UNPROVEN);
	CHECK_STR_EQ("a SYN is charged", ask(&other, &prog, CLIENT_ONE, 1002), ALLOWED);
	CHECK_STR_EQ("to the same bucket", ask(&other, &prog, CLIENT_ONE, 1003), LIMITED);
	if (!prog_load(&prog, one_limiter, PROG_NOW))
		return;
	CHECK_STR_EQ("and back", acknowledge(&early), ALLOWED);
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
	struct client client;

	if (!begin(&prog, &listening,
		   TWO_PER_HOUR "listeners: {web: {ports: [8080], prove_sources: auto, "
				"rate_limiter_name: l}}\n"))
		return;
	CHECK_STR_EQ("off", ask(&client, &prog, CLIENT_ONE, 1001), ALLOWED);
	switch_auto(&prog, PROG_NOW);
	if (!challenged(&client, &prog, CLIENT_ONE, 1002))
		return;
	switch_auto(&prog, 0);
	CHECK_STR_EQ("off again, with a cookie under way", acknowledge(&client), ALLOWED);
	CHECK_STR_EQ("a SYN", ask(&client, &prog, CLIENT_ONE, 1003), LIMITED);
}

CHECK_SUITE(prove, { "SYNs cost nothing", test_nothing }, { "proofs are charged", test_charge },
	    { "refusals", test_refusal }, { "what proves nothing", test_foreign },
	    { "what comes too early", test_early }, { "with a connection", test_connection },
	    { "without a socket that listens", test_elsewhere }, { "two slots of time", test_time },
	    { "and no more", test_expiry }, { "lists", test_lists },
	    { "no limiter", test_unlimited }, { "several limiters", test_several },
	    { "actions", test_actions }, { "a language", test_language }, { "places", test_places },
	    { "reloads", test_reload }, { "auto", test_auto });
