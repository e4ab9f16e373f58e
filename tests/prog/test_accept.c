/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is let in while the accept queue of a real socket fills: nobody accepts here. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <bpf/bpf.h>

#include "check.h"
#include "connection.h"
#include "holder.h"
#include "prog.h"
#include "util.h"

#define PORT 8080
#define BACKLOG 7 /* eight places */
#define PLACES (BACKLOG + 1)
#define SHED "reply accept_queue reset"
#define LET_IN "pass unlimited"

static const char plain[] = "listeners: {web: {protocol: tcp, ports: [8080], "
			    "accept_queue_limit: 75%}}\n"; /* six of eight */

/* A socket that listens for both families, and those that wait for it. */
struct crowd {
	int listener, clients[PLACES];
	unsigned int n;
};
#define autocrowd __attribute__((cleanup(crowd_close)))

static void crowd_close(struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->n; i++)
		close(crowd->clients[i]);
	fd_release(&crowd->listener);
}

static bool crowd_open(struct crowd *crowd)
{
	const struct sockaddr_in6 address = { .sin6_family = AF_INET6,
					      .sin6_port = htons(PORT),
					      .sin6_addr = in6addr_any };
	const int off = 0, on = 1;

	*crowd = (struct crowd){ .listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	return CHECK(
		"a service listens",
		setsockopt(crowd->listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0 &&
			setsockopt(crowd->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ==
				0 &&
			bind(crowd->listener, (const struct sockaddr *)&address, sizeof(address)) ==
				0 &&
			listen(crowd->listener, BACKLOG) == 0);
}

/* So many wait in all. */
static void crowd_fill(struct crowd *crowd, unsigned int n)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(PORT),
					     .sin_addr = { htonl(INADDR_LOOPBACK) } };

	while (crowd->n < n) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		crowd->clients[crowd->n++] = fd;
		CHECK("one more waits",
		      connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	}
}

/* One is accepted, and closed. */
static void crowd_serve(const struct crowd *crowd)
{
	int fd = accept4(crowd->listener, NULL, NULL, SOCK_CLOEXEC);

	if (CHECK("one is served", fd >= 0))
		close(fd);
}

static const char *knock(struct prog *prog, const char *from)
{
	const bool ipv6 = strchr(from, ':') != NULL;
	const struct pkt_spec syn = { .from = from, .dport = PORT, .ipv6 = ipv6 };

	return prog_send(prog, &syn);
}

static void test_threshold(void)
{
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};

	if (!crowd_open(&crowd) || !prog_load(&prog, plain, PROG_NOW))
		return;
	for (unsigned int n = 0; n < 6; n++) {
		crowd_fill(&crowd, n);
		for (int i = 0; i < 5; i++)
			CHECK_STR_EQ("below its limit the queue sheds nobody",
				     knock(&prog, "198.51.100.5"), LET_IN);
	}
	crowd_fill(&crowd, 6);
	CHECK_STR_EQ("at it, those who have asked often are shed", knock(&prog, "198.51.100.5"),
		     SHED);
	CHECK_STR_EQ("with two places free, who has asked for none", knock(&prog, CLIENT_ONE),
		     LET_IN);
	CHECK_STR_EQ("or for one", knock(&prog, CLIENT_ONE), LET_IN);
	CHECK_STR_EQ("but not for two", knock(&prog, CLIENT_ONE), SHED);
	CHECK_STR_EQ("nor more", knock(&prog, CLIENT_ONE), SHED);
	CHECK_STR_EQ("another client has its own turn", knock(&prog, CLIENT_TWO), LET_IN);
	crowd_fill(&crowd, 7);
	CHECK_STR_EQ("with one place free, who has asked once is shed", knock(&prog, CLIENT_TWO),
		     SHED);
	CHECK_STR_EQ("and who has not is let in", knock(&prog, CLIENT_FAR), LET_IN);
	crowd_fill(&crowd, PLACES);
	CHECK_STR_EQ("full, nobody is let in", knock(&prog, "198.51.100.77"), SHED);
	for (int i = 0; i < 3; i++)
		crowd_serve(&crowd);
	CHECK_STR_EQ("below the limit again, all are", knock(&prog, CLIENT_ONE), LET_IN);
}

static void test_ipv6(void)
{
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};

	if (!crowd_open(&crowd) || !prog_load(&prog, plain, PROG_NOW))
		return;
	crowd_fill(&crowd, 7);
	CHECK_STR_EQ("the first of a /64", knock(&prog, CLIENT_ONE_V6), LET_IN);
	CHECK_STR_EQ("another address of it is the same client", knock(&prog, CLIENT_TWO_V6), SHED);
	CHECK_STR_EQ("one of another /64 is not", knock(&prog, CLIENT_FAR_V6), LET_IN);
}

/* A number of connections, and what asks for more than the queue has places. */
static void test_number(void)
{
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {}, never = {};

	if (!crowd_open(&crowd) ||
	    !prog_load(&prog,
		       "listeners: {web: {protocol: tcp, ports: [8080], accept_queue_limit: 3}}\n",
		       PROG_NOW) ||
	    !prog_load(&never,
		       "listeners: {web: {protocol: tcp, ports: [8080], accept_queue_limit: 99}}\n",
		       PROG_NOW))
		return;
	crowd_fill(&crowd, 3);
	for (int i = 0; i < 5; i++)
		CHECK_STR_EQ("three wait, five places are free", knock(&prog, CLIENT_ONE), LET_IN);
	CHECK_STR_EQ("the sixth is shed", knock(&prog, CLIENT_ONE), SHED);
	crowd_fill(&crowd, 7);
	for (int i = 0; i < 9; i++)
		CHECK_STR_EQ("more than there are places", knock(&never, CLIENT_ONE), LET_IN);
	crowd_fill(&crowd, PLACES);
	CHECK_STR_EQ("is reached when the queue is full", knock(&never, CLIENT_ONE), SHED);
}

/* Limiters come first, and are charged for nobody whom the queue sheds. */
static void test_limiters(void)
{
	static const char config[] =
		"rate_limiters:\n"
		"  l: {limit: 2, window: 1h}\n"
		"  all: {limit: 9, window: 1h, keys: []}\n"
		"listeners:\n"
		"  web: {protocol: tcp, ports: [8080], rate_limiter_name: l, "
		"accept_queue_limit: 100%}\n"
		"  more: {protocol: tcp, ports: [8081], rate_limiter_name: [l, all], "
		"accept_queue_limit: 100%}\n";
	const struct pkt_spec elsewhere = { .dport = PORT + 1 };
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};

	if (!crowd_open(&crowd) || !prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_STR_EQ("one of two", knock(&prog, CLIENT_ONE), "pass allowed web/l=allowed");
	crowd_fill(&crowd, PLACES);
	for (int i = 0; i < 3; i++)
		CHECK_STR_EQ("the queue sheds, and nothing is charged", knock(&prog, CLIENT_ONE),
			     SHED);
	crowd_serve(&crowd);
	CHECK_STR_EQ("so that the second is there", knock(&prog, CLIENT_ONE),
		     "pass allowed web/l=allowed");
	CHECK_STR_EQ("and no third", knock(&prog, CLIENT_ONE), "reply limited web/l=limited reset");
	crowd_fill(&crowd, PLACES);
	CHECK_STR_EQ("the limiter's word comes first", knock(&prog, CLIENT_ONE),
		     "reply limited web/l=limited reset");
	CHECK_STR_EQ("without a socket there is no queue",
		     prog_send(&prog, &(struct pkt_spec){ .from = CLIENT_TWO, .dport = PORT + 1 }),
		     "pass allowed more/l=allowed more/all=allowed");
	CHECK_STR_EQ("several limiters", prog_send(&prog, &elsewhere),
		     "reply limited more/l=limited reset");
}

static void test_exempt(void)
{
	static const char config[] =
		"trusted: [" CLIENT_TWO "]\n"
		"rate_limiters: {l: {limit: 2, window: 1h}}\n"
		"listeners: {web: {protocol: tcp, ports: [8080], rate_limiter_name: l, "
		"accept_queue_limit: 100%, sources: {" CLIENT_FAR ": none}}}\n";
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};

	if (!crowd_open(&crowd) || !prog_load(&prog, config, PROG_NOW))
		return;
	crowd_fill(&crowd, PLACES);
	CHECK_STR_EQ("who is trusted comes to the queue itself", knock(&prog, CLIENT_TWO),
		     "pass exempt web/l=exempt");
	CHECK_STR_EQ("who has a policy of none", knock(&prog, CLIENT_FAR),
		     "pass exempt web/l=exempt");
	CHECK_STR_EQ("nobody else", knock(&prog, CLIENT_ONE), SHED);
}

/* As if @client had that many connections open at the listener. */
static void hold(const struct prog *prog, const char *client, uint32_t n)
{
	struct stile_holder_key key;
	struct stile_holder holder;
	struct address address;
	struct prefix prefix;

	CHECK_EQ("the client's address can be read", prefix_parse(client, &prefix), 0);
	memcpy(&address, prefix.address, sizeof(address));
	holder_key(&address, prog->policy.kernel.listeners[1].serial, &key);
	holder.state = holder_first(&key) + n - 1;
	CHECK_EQ("it holds some",
		 bpf_map_update_elem(prog_map(prog, "holders"), &key, &holder, BPF_ANY), 0);
}

static void test_holders(void)
{
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};

	if (!crowd_open(&crowd) || !prog_load(&prog, plain, PROG_NOW))
		return;
	hold(&prog, CLIENT_ONE, 2);
	hold(&prog, CLIENT_TWO, 1);
	hold(&prog, CLIENT_ONE_V6, 5);
	CHECK_STR_EQ("below the limit, what a client holds does not matter",
		     knock(&prog, CLIENT_ONE), LET_IN);
	crowd_fill(&crowd, 6);
	CHECK_STR_EQ("two places are free: not for one who holds two", knock(&prog, CLIENT_ONE),
		     SHED);
	CHECK_STR_EQ("for one who holds one", knock(&prog, CLIENT_TWO), LET_IN);
	CHECK_STR_EQ("but not twice", knock(&prog, CLIENT_TWO), SHED);
	CHECK_STR_EQ("nor for a /64 that holds five", knock(&prog, CLIENT_TWO_V6), SHED);
	CHECK_STR_EQ("for others", knock(&prog, CLIENT_FAR_V6), LET_IN);
}

/* Handshakes that are not completed: the service wants data first. */
static void test_in_flight(void)
{
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};
	const int seconds = 30;

	if (!crowd_open(&crowd) || !prog_load(&prog, plain, PROG_NOW))
		return;
	CHECK("the service waits for data",
	      setsockopt(crowd.listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds,
			 sizeof(seconds)) == 0);
	crowd_fill(&crowd, BACKLOG);
	for (int i = 0; i < PLACES; i++)
		CHECK_STR_EQ("they weigh on one who may have made them, up to all places",
			     knock(&prog, CLIENT_ONE), LET_IN);
	CHECK_STR_EQ("no further", knock(&prog, CLIENT_ONE), SHED);
	CHECK_STR_EQ("and on nobody else", knock(&prog, CLIENT_TWO), LET_IN);
}

/* The tuple of a connection that waits for its end is no way past the queue. */
static void test_time_wait(void)
{
	autoconnection struct connection connection = { -1, -1, -1, false, 0, 0 };
	autocrowd struct crowd crowd = { .listener = -1 };
	autoprog struct prog prog = {};
	struct pkt_spec syn;

	if (!CHECK_EQ("a connection is opened", connection_open(&connection, false, PORT), 0))
		return;
	connection_linger(&connection);
	syn = connection_syn(&connection, 1000);
	connection_close(&connection);
	if (!crowd_open(&crowd) || !prog_load(&prog, plain, PROG_NOW))
		return;
	crowd_fill(&crowd, PLACES);
	CHECK_STR_EQ("it is shed as any other", prog_send(&prog, &syn), SHED);
}

CHECK_SUITE(accept, { "below, at and above its limit", test_threshold },
	    { "IPv6 clients are a /64", test_ipv6 }, { "a number of connections", test_number },
	    { "limiters judge first, and are not charged", test_limiters },
	    { "exempt clients", test_exempt }, { "what clients hold", test_holders },
	    { "handshakes in flight", test_in_flight }, { "in TIME_WAIT", test_time_wait });
