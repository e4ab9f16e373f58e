/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flood of SYNs from forged addresses, bounded in number and rate: each address in turn, again
 * and again.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "traffic/forged.h"
#include "traffic/options.h"

#define SYNS_MAX 10000000
#define RATE_MAX 1e7
#define ADDRESSES_MAX (1U << 24)
#define NS_PER_SECOND 1000000000ULL

static const char usage[] = "usage: forge --target ADDRESS:PORT --first ADDRESS [OPTION]...\n"
			    "  --sources N        addresses, from the first on (default 65536)\n"
			    "  --syns N           (default 1000000)\n"
			    "  --rate R           SYNs per second (default 100000)\n";

static const struct option options[] = {
	{ "target", required_argument, NULL, 't' },
	{ "first", required_argument, NULL, 'f' },
	{ "sources", required_argument, NULL, 's' },
	{ "syns", required_argument, NULL, 'n' },
	{ "rate", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, '?' },
	{},
};

struct plan {
	struct forged forged;
	uint64_t sources, syns;
	double rate;
};

static struct sockaddr_in ipv4(const char *option, const struct endpoint *endpoint)
{
	struct sockaddr_in address = {};

	if (endpoint->address.ss_family != AF_INET)
		options_fail("--%s: an IPv4 address is needed", option);
	memcpy(&address, &endpoint->address, sizeof(address));
	return address;
}

static void set_option(struct plan *plan, int option, const char *text)
{
	struct endpoint endpoint = {};

	switch (option) {
	case 't':
		options_target(text, &endpoint);
		plan->forged.to = ipv4("target", &endpoint).sin_addr.s_addr;
		plan->forged.port = ntohs(ipv4("target", &endpoint).sin_port);
		break;
	case 'f':
		if (endpoint_parse_address(text, &endpoint) < 0)
			options_fail("--first: '%s' is no address", text);
		plan->forged.first = ntohl(ipv4("first", &endpoint).sin_addr.s_addr);
		break;
	case 's':
		plan->sources = options_number("sources", text, ADDRESSES_MAX);
		break;
	case 'n':
		plan->syns = options_number("syns", text, SYNS_MAX);
		break;
	default: /* rate */
		plan->rate = options_fraction("rate", text, RATE_MAX);
		break;
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* this clock is always there */
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void run(const struct plan *plan, int fd)
{
	const uint64_t groups = plan->sources / FORGED_GROUP, began = now_ns();
	uint64_t sent = 0;

	for (uint64_t i = 0; sent < plan->syns; i++) {
		uint64_t due = began + (uint64_t)((double)sent / plan->rate * 1e9);
		const struct timespec until = { (time_t)(due / NS_PER_SECOND),
						(long)(due % NS_PER_SECOND) };

		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		sent += forged_send(fd, &plan->forged, (uint32_t)(i % groups) * FORGED_GROUP,
				    (uint32_t)(i / groups));
	}
	printf("%.0f\n", (double)sent / (double)(now_ns() - began) * 1e9);
}

int main(int argc, char **argv)
{
	struct plan plan = { .sources = 65536, .syns = 1000000, .rate = 100000 };
	int option, fd;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			options_fail("see the options\n%s", usage);
		set_option(&plan, option, optarg);
	}
	if (!plan.forged.to || !plan.forged.first || plan.sources < FORGED_GROUP || optind != argc)
		options_fail("it needs a target and a first address\n%s", usage);
	fd = forged_socket();
	if (fd < 0)
		options_fail("a raw socket needs CAP_NET_RAW");
	run(&plan, fd);
	return 0;
}
