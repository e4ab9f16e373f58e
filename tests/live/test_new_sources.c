/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On UDP, where no source can be proven: a resolver that is known already, and one that is not,
 * while queries come from forged sources.
 */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"
#include "service.h"
#include "util.h"

#define FIRST_SOURCE 0x0a4e0001U /* 10.78.0.1 */
#define ROUNDS 10
#define FORGED 1000		     /* queries in each, from a source of its own */
#define NEW_ONES 50		     /* sources that are let in */
#define JUDGED (ROUNDS * FORGED / 2) /* at least: a link may lose some of a burst */

#define CONFIG(judges)                                                                             \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters:\n"                                                                         \
	"  mine: {limit: 100, window: 1h, max_keys: 1000}\n"                                       \
	"  new: {keys: [], limit: 50, window: 1h}\n"                                               \
	"listeners:\n"                                                                             \
	"  names: {protocol: udp, ports: [53], app_protocol: dns,\n"                               \
	"          rate_limiter_name: " judges "}\n"                                               \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static const char unbound[] = "server:\n"
			      "  interface: 0.0.0.0\n"
			      "  access-control: 0.0.0.0/0 allow\n"
			      "  do-daemonize: no\n"
			      "  use-syslog: no\n"
			      "  username: \"\"\n"
			      "  chroot: \"\"\n"
			      "  directory: \".\"\n"
			      "  pidfile: \"\"\n"
			      "  module-config: \"iterator\"\n"
			      "  local-zone: example. static\n"
			      "  local-data: \"service.example. A 192.0.2.7\"\n"
			      "remote-control:\n"
			      "  control-enable: no\n";

struct query {
	struct iphdr ip;
	struct udphdr udp;
	uint8_t dns[33]; /* RFC 1035, 4.1 */
};

/* Without a checksum, which IPv4 allows (RFC 768). */
static struct query make_query(uint32_t source)
{
	struct query query = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP },
		.dns = "\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07service\x07"
		       "example\0\0\x01\0\x01",
	};

	query.ip.saddr = htonl(FIRST_SOURCE + source);
	(void)inet_pton(AF_INET, SERVER_IPV4, &query.ip.daddr); /* it is an address */
	query.ip.tot_len = htons(sizeof(query));
	query.udp.source = htons(1024);
	query.udp.dest = htons(53);
	query.udp.len = htons(sizeof(query) - sizeof(query.ip));
	return query;
}

/* As the client's side; answers go back there, where they end. */
static bool forge(const struct live *live, uint32_t round)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	autofd int fd = -1;
	uint32_t sent = 0;

	(void)inet_pton(AF_INET, SERVER_IPV4, &to.sin_addr); /* as above */
	live_enter(live, LIVE_CLIENT);
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	live_leave(live);
	for (uint32_t i = 0; i < FORGED && fd >= 0; i++) {
		const struct query query = make_query(round * FORGED + i);

		sent += sendto(fd, &query, sizeof(query), 0, (const struct sockaddr *)&to,
			       sizeof(to)) == sizeof(query);
	}
	return CHECK_EQ("forged queries are sent", sent, FORGED);
}

static bool most_judged(void *context)
{
	const struct live *live = context;

	return live_metric_now(live, "stile_ratelimit_decisions_total", "limiter=\"new\"") >=
	       JUDGED;
}

static bool begin(struct live *live, const char *name, const char *config)
{
	if (!live_begin(live, name) || !live_write(live, "unbound.conf", unbound) ||
	    !service_start(live, "exec unbound -d -c unbound.conf",
			   "dig +tries=1 +time=1 @127.0.0.1 service.example | grep 192.0.2.7") ||
	    !live_start(live, config))
		return false;
	live_shell(live, LIVE_SERVER, "ip route add 10.78.0.0/15 via " CLIENT_ONE);
	return true;
}

/* Whether what a command prints for people has @words. */
static void check_says(const struct live *live, const char *command, const char *words, bool has)
{
	autooutput struct output output = live_stile(live, "%s", command);

	CHECK_EQ("it says whom that limiter judges", strstr(output.text, words) != NULL, has);
}

static const char ask[] = "dig -b $CLIENT +tries=1 @$SERVER service.example";
static const char ask_new[] = "dig -b " CLIENT_TWO " +tries=1 @$SERVER service.example";

/* The resolver that is known is answered by UDP all along; the new one is sent to TCP. */
static void test_known(void)
{
	autolive struct live live;

	if (!begin(&live, "new-sources", CONFIG("mine, new_sources_rate_limiter_name: new")))
		return;
	service_says(&live, ask, "(UDP)");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (!forge(&live, i))
			return;
		service_says(&live, ask, "(UDP)");
	}
	CHECK("the forged queries were judged", live_wait(most_judged, &live));
	CHECK_EQ("the table has those admitted",
		 live_metric_now(&live, "stile_ratelimit_keys", "limiter=\"mine\""), NEW_ONES);
	CHECK_EQ("as many were",
		 live_metric_now(&live, "stile_ratelimit_decisions_total",
				 "limiter=\"new\",result=\"allowed\""),
		 NEW_ONES);
	service_says(&live, ask_new, ";; Truncated, retrying in TCP mode.");
	service_says(&live, ask_new, "192.0.2.7");
	check_says(&live, "explain " CLIENT_TWO, "for new sources", true);
	check_says(&live, "explain " CLIENT_ONE, "for new sources", false);
	check_says(&live, "status", "mine, new (new ones)", true);
	check_says(&live, "status --json", "\"new_sources_limiter\": \"new\"", true);
	check_says(&live, "clients --limiter mine", CLIENT_ONE, true);
	check_says(&live, "clients --limiter mine", CLIENT_TWO, false);
}

/* The contrast: with the same limiter as one for all, the flood has spent what it needs. */
static void test_without(void)
{
	autolive struct live live;

	if (!begin(&live, "new-sources-not", CONFIG("[mine, new]")))
		return;
	service_says(&live, ask, "(UDP)");
	if (!forge(&live, 0))
		return;
	service_says(&live, ask, ";; Truncated, retrying in TCP mode.");
}

CHECK_SUITE(new_sources, { "a resolver that is known, in a forged flood", test_known },
	    { "without a limiter for new sources", test_without });
