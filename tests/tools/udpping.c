/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the answers of a UDP echo service: answered, refused (ICMP port unreachable), lost. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "traffic/options.h"
#include "traffic/ping.h"

static const char usage[] =
	"usage: udpping --target ADDRESS:PORT [OPTION]...\n"
	"  --from ADDRESS     source address\n"
	"  --count N          datagrams (default 10)\n"
	"  --interval US      between two, in microseconds (default 0: all at once)\n"
	"  --timeout MS       how long to wait after the last one (default 500)\n"
	"  --json             print JSON\n";

static const struct option options[] = {
	{ "target", required_argument, NULL, 't' },  { "from", required_argument, NULL, 'f' },
	{ "count", required_argument, NULL, 'n' },   { "interval", required_argument, NULL, 'i' },
	{ "timeout", required_argument, NULL, 'o' }, { "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, '?' },	     {},
};

static void set_option(struct ping_plan *plan, int option, const char *text)
{
	switch (option) {
	case 't':
		options_target(text, &plan->target);
		break;
	case 'f':
		options_sources(text, &plan->sources);
		break;
	case 'n':
		plan->count = (unsigned int)options_number("count", text, PING_COUNT_MAX);
		break;
	case 'i':
		plan->interval_us = (unsigned int)options_number("interval", text, 60000000);
		break;
	default: /* timeout */
		plan->timeout_ms = (unsigned int)options_number("timeout", text, 60000);
		break;
	}
}

static void print_result(struct ping_result *result, bool json)
{
	if (!json) {
		printf("sent %u, answered %u, refused %u, lost %u, strange %u\n", result->sent,
		       result->answered, result->refused, result->lost, result->strange);
		return;
	}
	printf("{\"sent\": %u, \"answered\": %u, \"refused\": %u, \"lost\": %u, \"strange\": %u, "
	       "\"latency\": ",
	       result->sent, result->answered, result->refused, result->lost, result->strange);
	sample_print_json(&result->latency, stdout);
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct ping_plan plan = { .count = 10, .timeout_ms = 500 };
	struct ping_result result = {};
	bool json = false;
	int option, r;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			options_fail("see the options\n%s", usage);
		if (option == 'j')
			json = true;
		else
			set_option(&plan, option, optarg);
	}
	if (plan.target.length == 0 || optind != argc)
		options_fail("it needs a target\n%s", usage);
	r = ping_run(&plan, &result);
	if (r < 0)
		options_fail("udpping: %s", strerror(-r));
	print_result(&result, json);
	ping_release(&result);
	return 0;
}
