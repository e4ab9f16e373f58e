/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which listener stands at an address and a port, looked up in the tables of the kernel side. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "policy_text.h"
#include "util.h"

#define HOST "192.0.2.1"
#define HOST_SIX "2001:db8::1"
#define HOST_OTHER "192.0.2.99"

static void test_precedence(void)
{
	static const char text[] =
		"listeners:\n"
		"  all: {}\n"
		"  port: {ports: [80, 8000-8099]}\n"
		"  host: {addresses: [192.0.2.1, \"2001:db8::1\"]}\n"
		"  host-port: {addresses: 192.0.2.1, ports: [8050, 443, 65535, 1]}\n"
		"  dns: {protocol: udp, ports: 53}\n"
		"  dns-host: {protocol: udp, addresses: 192.0.2.1, ports: 53}\n";
	static const struct {
		const char *what, *address;
		enum stile_protocol protocol;
		unsigned int port;
		const char *want;
	} rows[] = {
		{ "any address, a port that nobody names", NULL, STILE_PROTOCOL_TCP, 22, "all" },
		{ "any address, port 0", NULL, STILE_PROTOCOL_TCP, 0, "all" },
		{ "any address, the last port", NULL, STILE_PROTOCOL_TCP, 65535, "all" },
		{ "any address, a port", NULL, STILE_PROTOCOL_TCP, 80, "port" },
		{ "before a range", NULL, STILE_PROTOCOL_TCP, 7999, "all" },
		{ "first of a range", NULL, STILE_PROTOCOL_TCP, 8000, "port" },
		{ "last of a range", NULL, STILE_PROTOCOL_TCP, 8099, "port" },
		{ "after a range", NULL, STILE_PROTOCOL_TCP, 8100, "all" },
		{ "an address that nobody names", HOST_OTHER, STILE_PROTOCOL_TCP, 80, "port" },
		{ "all ports of an address win over a port of every one", HOST, STILE_PROTOCOL_TCP,
		  80, "host" },
		{ "of IPv6 too", HOST_SIX, STILE_PROTOCOL_TCP, 8000, "host" },
		{ "a port of an address wins over all its ports", HOST, STILE_PROTOCOL_TCP, 8050,
		  "host-port" },
		{ "its last port", HOST, STILE_PROTOCOL_TCP, 65535, "host-port" },
		{ "its first port", HOST, STILE_PROTOCOL_TCP, 1, "host-port" },
		{ "not of another address of the listener beneath", HOST_SIX, STILE_PROTOCOL_TCP,
		  443, "host" },
		{ "another protocol", NULL, STILE_PROTOCOL_UDP, 53, "dns" },
		{ "another protocol at an address", HOST, STILE_PROTOCOL_UDP, 53, "dns-host" },
		{ "another protocol, nobody", NULL, STILE_PROTOCOL_UDP, 80, "-" },
		{ "another protocol, nobody at the address", HOST, STILE_PROTOCOL_UDP, 54, "-" },
		{ "of every address, where the address has none of the protocol", HOST_SIX,
		  STILE_PROTOCOL_UDP, 53, "dns" },
	};
	struct policy policy;

	if (!policy_text_compile(text, NULL, &policy))
		return;
	CHECK_EQ("a row for each address and one for all", policy.n_ports, 3);
	CHECK_EQ("two addresses", policy.n_hosts, 2);
	CHECK_EQ("the program asks for addresses", policy.kernel.has_addresses, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(
			rows[i].what,
			policy_text_at(&policy, rows[i].address, rows[i].protocol, rows[i].port),
			rows[i].want);
	policy_release(&policy);
}

static void test_pages(void)
{
	static const struct {
		const char *what, *listeners;
		size_t n_pages, n_ports;
	} rows[] = {
		{ "nobody: one page of zeros", "{}", 1, 1 },
		{ "all ports: one page more", "{a: {}}", 2, 1 },
		{ "one port: one page more", "{a: {ports: 80}}", 2, 1 },
		{ "the same port in another page", "{a: {ports: [80, 336]}}", 2, 1 },
		{ "all and one", "{a: {}, b: {ports: 80}}", 3, 1 },
		{ "addresses that are alike share all", "{a: {addresses: [10.0.0.1, 10.0.0.2]}}", 2,
		  3 },
		{ "an address named twice is one row",
		  "{a: {addresses: 10.0.0.1, ports: 80}, b: {addresses: 10.0.0.1, ports: 81}}", 2,
		  2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct policy policy;
		char text[256];

		snprintf(text, sizeof(text), "listeners: %s", rows[i].listeners);
		if (!policy_text_compile(text, NULL, &policy))
			continue;
		CHECK_EQ(rows[i].what, policy.n_pages, rows[i].n_pages);
		CHECK_EQ(rows[i].what, policy.n_ports, rows[i].n_ports);
		policy_release(&policy);
	}
}

static void test_conflicts(void)
{
	static const struct {
		const char *what, *listeners, *printed;
	} rows[] = {
		{ "a port", "{a: {ports: 80},\n b: {ports: 80}}",
		  "f:2:13: listener 'b' claims tcp port 80, which listener 'a' (line 1) has "
		  "already\n" },
		{ "a range over a range", "{a: {ports: 80-90},\n b: {ports: 85-95}}",
		  "f:2:13: listener 'b' claims tcp port 85, which listener 'a' (line 1) has "
		  "already\n" },
		{ "every port", "{a: {protocol: udp},\n b: {protocol: udp}}",
		  "f:2:2: listener 'b' claims every udp port, which listener 'a' (line 1) has "
		  "already\n" },
		{ "an address in other words",
		  "{a: {addresses: \"::ffff:10.0.0.1\"},\n b: {addresses: 10.0.0.1}}",
		  "f:2:2: listener 'b' claims every tcp port of 10.0.0.1, which listener 'a' "
		  "(line 1) has already\n" },
		{ "other protocols", "{a: {ports: 80},\n b: {ports: 80, protocol: udp}}", "" },
		{ "other addresses",
		  "{a: {ports: 80, addresses: 10.0.0.1},\n b: {ports: 80, addresses: 10.0.0.2}}",
		  "" },
		{ "one is more specific", "{a: {ports: 80, addresses: 10.0.0.1},\n b: {ports: 80}}",
		  "" },
		{ "a listener with itself", "{a: {ports: [80, 70-90]}}", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofree char *printed = NULL;
		char text[256];

		snprintf(text, sizeof(text), "listeners: %s", rows[i].listeners);
		printed = policy_text_diag(text, NULL);
		CHECK_STR_EQ(rows[i].what, printed, rows[i].printed);
	}
}

/*
 * 255 listeners with a port in each of 256 pages, at an address of their own: 65,280 pages that
 * differ. Where an address has two of them it has another 256 pages.
 */
static char *write_pages(const char *format)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "listeners:\n");
	for (unsigned int host = 0; host < 255; host++) {
		fprintf(out, "  n%u: {addresses: [", host);
		fprintf(out, format, host, host, host + 1);
		fprintf(out, "], ports: [");
		for (unsigned int page = 0; page < 256; page++)
			fprintf(out, "%u, ", page * 256 + (page + 128 * (host & 1) + 64) % 256);
		fprintf(out, "]}\n");
	}
	(void)fclose(out);
	return text;
}

static void test_too_many_pages(void)
{
	autofree char *most = write_pages("10.0.0.%u");
	autofree char *more = write_pages("10.0.0.%u, 10.0.1.%u, 10.0.1.%u");
	autofree char *printed = policy_text_diag(more, NULL);
	struct policy policy;

	if (policy_text_compile(most, NULL, &policy)) {
		CHECK_EQ("pages", policy.n_pages, 65281);
		CHECK_STR_EQ("the last one", policy_text_at(&policy, "10.0.0.254", 0, 65535 - 64),
			     "-");
		CHECK_STR_EQ("a port in it",
			     policy_text_at(&policy, "10.0.0.254", 0, 255 * 256 + 63), "n254");
		policy_release(&policy);
	}
	CHECK_STR_EQ("more", printed,
		     "f: the ports of the listeners' addresses differ too much from each other: "
		     "write fewer addresses, or ranges of ports that they share\n");
}

CHECK_SUITE(policy_ports, { "the more specific listener wins", test_precedence },
	    { "pages", test_pages }, { "conflicts", test_conflicts },
	    { "many pages", test_too_many_pages });
