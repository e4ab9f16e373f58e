/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A well-behaved client: asks for a small page on a new connection every so many milliseconds,
 * whether or not the one before was answered, and says how it was served.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "traffic/engine.h"
#include "traffic/options.h"

#define SECONDS_MAX 600

static volatile sig_atomic_t stop;

static const char usage[] =
	"usage: goodclient --target ADDRESS:PORT [OPTION]...\n"
	"  --from ADDRESS     source address\n"
	"  --get PATH         what it asks for (default /)\n"
	"  --interval MS      from one request to the next (default 100)\n"
	"  --seconds S        no new request after that (default 10)\n"
	"  --timeout MS       of one request (default 2000)\n"
	"  --series FILE      a line for each request: seconds, outcome, microseconds\n"
	"  --json             print JSON\n";

static const struct option options[] = {
	{ "target", required_argument, NULL, 't' },  { "from", required_argument, NULL, 'f' },
	{ "get", required_argument, NULL, 'g' },     { "interval", required_argument, NULL, 'i' },
	{ "seconds", required_argument, NULL, 's' }, { "timeout", required_argument, NULL, 'o' },
	{ "series", required_argument, NULL, 'l' },  { "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, '?' },	     {},
};

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void set_option(struct engine_plan *plan, int option, const char *text)
{
	switch (option) {
	case 't':
		options_target(text, &plan->target);
		break;
	case 'f':
		options_sources(text, &plan->sources);
		break;
	case 'g':
		plan->path = text;
		break;
	case 'i':
		plan->rate = 1000.0 / (double)options_number("interval", text, 60000);
		break;
	case 's':
		plan->seconds = options_fraction("seconds", text, SECONDS_MAX);
		break;
	case 'o':
		plan->timeout_ms = (unsigned int)options_number("timeout", text, 60000);
		break;
	default: /* series */
		plan->series = fopen(text, "w");
		if (!plan->series)
			options_fail("--series: cannot write '%s'", text);
		break;
	}
}

static void print_result(struct engine_result *result, bool json)
{
	unsigned long long served = result->outcomes[ENGINE_SUCCEEDED];
	unsigned long long failed = result->attempts - served;
	uint32_t p50 = sample_quantile(&result->success, 0.5);
	uint32_t p99 = sample_quantile(&result->success, 0.99);

	if (json)
		printf("{\"requests\": %llu, \"served\": %llu, \"failed\": %llu, \"p50_us\": %u, "
		       "\"p99_us\": %u, \"refused\": %llu, \"reset\": %llu, \"timed_out\": %llu}\n",
		       (unsigned long long)result->attempts, served, failed, p50, p99,
		       (unsigned long long)result->outcomes[ENGINE_REFUSED],
		       (unsigned long long)result->outcomes[ENGINE_RESET],
		       (unsigned long long)result->outcomes[ENGINE_TIMED_OUT]);
	else
		printf("served %llu, failed %llu, p50 %u us, p99 %u us\n", served, failed, p50,
		       p99);
}

int main(int argc, char **argv)
{
	struct engine_plan plan = {
		.connections = UINT64_MAX,
		.rate = 10,
		.concurrency = 1024,
		.seconds = 10,
		.timeout_ms = 2000,
		.path = "/",
		.stop = &stop,
	};
	struct engine_result result = {};
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
	(void)signal(SIGTERM, on_signal);
	(void)signal(SIGINT, on_signal);
	r = engine_run(&plan, &result);
	if (r < 0)
		options_fail("goodclient: %s", strerror(-r));
	print_result(&result, json);
	engine_release(&result);
	if (plan.series && fclose(plan.series) != 0)
		options_fail("--series: cannot write all of it");
	return 0;
}
