/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Real clients of services on UDP that are told in their own language that those are busy. */
#include <stdio.h>

#include "check.h"
#include "service.h"
#include "util.h"

#define CONFIG(port, keys)                                                                         \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {few: {limit: 2, window: 1h}}\n"                                           \
	"listeners: {service: {protocol: udp, ports: [" port "], rate_limiter_name: few, " keys    \
	"}}\n"                                                                                     \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

static const char unbound[] = "server:\n"
			      "  interface: 0.0.0.0\n"
			      "  interface: ::0\n"
			      "  access-control: 0.0.0.0/0 allow\n"
			      "  access-control: ::0/0 allow\n"
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

static bool start_unbound(struct live *live)
{
	return live_write(live, "unbound.conf", unbound) &&
	       service_start(live, "exec unbound -d -c unbound.conf",
			     "dig +tries=1 +time=1 @127.0.0.1 service.example | grep 192.0.2.7");
}

/* A resolver that is refused comes back by TCP, and gets its answer from the service itself. */
static void test_dns_truncated(void)
{
	static const char ask[] = "dig -b $CLIENT +tries=1 @$SERVER service.example";
	static const char ask6[] = "dig -b $CLIENT6 +tries=1 @$SERVER6 service.example";
	autolive struct live live;

	if (!live_begin(&live, "dns") || !start_unbound(&live) ||
	    !live_start(&live, CONFIG("53", "app_protocol: dns")))
		return;
	for (int i = 0; i < 2; i++) {
		service_says(&live, ask, "(UDP)");
		service_says(&live, ask6, "(UDP)");
	}
	service_says(&live, ask, ";; Truncated, retrying in TCP mode.");
	service_says(&live, ask, "192.0.2.7");
	service_says(&live, ask, "(TCP)");
	service_says(&live, ask6, ";; Truncated, retrying in TCP mode.");
	service_says(&live, ask6, "192.0.2.7");
	CHECK_EQ("the answers are counted",
		 live_metric_now(&live, "stile_replies_total", "kind=\"busy\""), 5);
}

static void test_dns_refused(void)
{
	static const char ask[] = "dig -b $CLIENT +tries=1 @$SERVER service.example";
	autolive struct live live;

	if (!live_begin(&live, "dns-refused") || !start_unbound(&live) ||
	    !live_start(&live, CONFIG("53", "app_protocol: dns, dns_answer: refused")))
		return;
	for (int i = 0; i < 2; i++)
		service_says(&live, ask, "status: NOERROR");
	service_says(&live, ask, "status: REFUSED");
}

/* Who comes by TCP, as after a truncated answer, or for a whole zone, is refused in words, too. */
static void test_dns_tcp(void)
{
	static const char config[] =
		"interfaces: {srv0: {}}\n"
		"rate_limiters: {few: {limit: 2, window: 1h}}\n"
		"listeners: {dns: {ports: [53], rate_limiter_name: few, app_protocol: dns}}\n"
		"metrics: {listen: \"127.0.0.1:9466\"}\n";
	static const char *const asks[] = {
		"dig +tcp -b $CLIENT +tries=1 @$SERVER service.example",
		"dig +tcp -b $CLIENT6 +tries=1 @$SERVER6 service.example",
	};
	autolive struct live live;

	if (!live_begin(&live, "dns-tcp") || !start_unbound(&live) || !live_start(&live, config))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		for (int j = 0; j < 2; j++)
			service_says(&live, asks[i], "status: NOERROR");
		service_says(&live, asks[i], "status: REFUSED");
	}
}

#define CHRONY "bindcmdaddress /\ncmdport 0\ndriftfile %s\n"

static void test_ntp(void)
{
	autolive struct live live;

	if (!live_begin(&live, "ntp") ||
	    !live_write(&live, "server.conf",
			"cmdport 0\nbindcmdaddress /\npidfile server.pid\nlocal stratum 8\n"
			"allow all\n") ||
	    !live_write(&live, "client.conf",
			"cmdport 0\nbindcmdaddress /\npidfile client.pid\nport 0\n"
			"server " SERVER_IPV4 " iburst minpoll 1 maxpoll 1\n") ||
	    !service_start(&live, "exec chronyd -d -x -u root -f server.conf",
			   "ss -Hlun sport = :123 | grep 123") ||
	    !live_start(&live, CONFIG("123", "app_protocol: ntp")))
		return;
	service_says_soon(&live, "timeout 9 chronyd -d -x -u root -f client.conf 2>&1",
			  "Received KoD RATE from " SERVER_IPV4);
}

static void test_coap(void)
{
	static const char ask[] = "coap-client-notls -a $CLIENT -B 3 -v 6 coap://$SERVER/time 2>&1";
	autolive struct live live;

	if (!live_begin(&live, "coap") ||
	    !service_start(&live, "exec coap-server-notls",
			   "coap-client-notls -B 1 coap://127.0.0.1/time") ||
	    !live_start(&live, CONFIG("5683", "app_protocol: coap")))
		return;
	for (int i = 0; i < 2; i++)
		service_says(&live, ask, ":");
	service_says(&live, ask, "5.03");
}

/* A call of sipp's own, from a port of its own, whose messages are written down. */
#define CALL                                                                                       \
	"rm -f call.log; TERM=dumb sipp -sn uac -m 1 -nostdin -timeout 9 -i %s -p %d -trace_msg "  \
	"-message_file call.log %s >/dev/null 2>&1; cat call.log"

static bool start_sipp(struct live *live)
{
	static const char wait[] = "ss -Hlun sport = :5060 | grep '%s'";
	static const char start[] =
		"TERM=dumb exec sipp -sn uas -nostdin -i '%s' -p 5060 >/dev/null";
	static const char *const addresses[] = { SERVER_IPV4, SERVER_IPV6 };
	char line[128], ready[128];

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		snprintf(line, sizeof(line), start, addresses[i]);
		snprintf(ready, sizeof(ready), wait, addresses[i]);
		if (!service_start(live, line, ready))
			return false;
	}
	return true;
}

static void call_says(const struct live *live, const char *const hosts[2], int port,
		      const char *words)
{
	char line[256];

	snprintf(line, sizeof(line), CALL, hosts[0], port, hosts[1]);
	service_says(live, line, words);
}

static void test_sip(void)
{
	static const char *const hosts[][2] = { { "$CLIENT", "$SERVER" },
						{ "$CLIENT6", "\"[$SERVER6]\"" } };
	autolive struct live live;

	if (!live_begin(&live, "sip") || !start_sipp(&live) ||
	    !live_start(&live, CONFIG("5060", "app_protocol: sip")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		for (int j = 0; j < 2; j++)
			call_says(&live, hosts[i], 5061 + j, "SIP/2.0 200 OK");
		call_says(&live, hosts[i], 5063, "SIP/2.0 503 Service Unavailable");
		call_says(&live, hosts[i], 5064, "Retry-After: ");
	}
}

CHECK_SUITE(datagrams, { "dig, and an unbound that answers by TCP", test_dns_truncated },
	    { "dig, refused", test_dns_refused }, { "dig, by TCP", test_dns_tcp },
	    { "chronyd", test_ntp }, { "coap-client", test_coap }, { "sipp", test_sip });
