/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A connection storm, bounded in number and time: TCP connections from given source addresses as
 * fast as asked for, and what became of them.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "traffic/engine.h"
#include "traffic/options.h"

#define CONNECTIONS_MAX 10000000
#define RATE_MAX 1e6
#define SECONDS_MAX 600

static volatile sig_atomic_t stop;

static const char usage[] =
	"usage: storm --target ADDRESS:PORT [OPTION]...\n"
	"  --from LIST        source addresses: A, A-B, A/LENGTH, separated by commas\n"
	"  --connections N    at most (default 1000)\n"
	"  --rate R           new connections per second (default 0: no pause)\n"
	"  --concurrency C    sockets open at a time, held ones too (default 64)\n"
	"  --seconds S        no new connection after that (default 10)\n"
	"  --timeout MS       of one connection (default 3000)\n"
	"  --get PATH         ask for PATH by HTTP and read the answer\n"
	"  --hold[=MS]        keep connections open to the end, or for MS\n"
	"  --json             print JSON\n";

static const struct option options[] = {
	{ "target", required_argument, NULL, 't' },
	{ "from", required_argument, NULL, 'f' },
	{ "connections", required_argument, NULL, 'n' },
	{ "rate", required_argument, NULL, 'r' },
	{ "concurrency", required_argument, NULL, 'c' },
	{ "seconds", required_argument, NULL, 's' },
	{ "timeout", required_argument, NULL, 'o' },
	{ "get", required_argument, NULL, 'g' },
	{ "hold", optional_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, '?' },
	{},
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
	case 'n':
		plan->connections = options_number("connections", text, CONNECTIONS_MAX);
		break;
	case 'r':
		plan->rate = options_fraction("rate", text, RATE_MAX);
		break;
	case 'c':
		plan->concurrency =
			(unsigned int)options_number("concurrency", text, ENGINE_CONCURRENCY_MAX);
		break;
	case 's':
		plan->seconds = options_fraction("seconds", text, SECONDS_MAX);
		break;
	case 'o':
		plan->timeout_ms = (unsigned int)options_number("timeout", text, 60000);
		break;
	case 'g':
		plan->path = text;
		break;
	default: /* hold */
		plan->hold = true;
		plan->hold_ms = text ? (unsigned int)options_number("hold", text, 600000) : 0;
		break;
	}
}

static void print_json(struct engine_result *result)
{
	printf("{\"attempts\": %llu", (unsigned long long)result->attempts);
	for (int i = 0; i < _ENGINE_OUTCOME_MAX; i++)
		printf(", \"%s\": %llu", engine_outcome_names[i],
		       (unsigned long long)result->outcomes[i]);
	printf(", \"dropped\": %llu, \"seconds\": %.3f, \"success\": ",
	       (unsigned long long)result->dropped, result->seconds);
	sample_print_json(&result->success, stdout);
	printf(", \"refusal\": ");
	sample_print_json(&result->refusal, stdout);
	printf(", \"last_error\": \"%s\"}\n",
	       result->last_error ? strerror(result->last_error) : "");
}

static void print_latency(const char *what, struct sample *sample)
{
	if (sample->n_values)
		printf("%-10s p50 %u us, p99 %u us, max %u us\n", what,
		       sample_quantile(sample, 0.5), sample_quantile(sample, 0.99),
		       sample_quantile(sample, 1.0));
}

static void print_text(struct engine_result *result)
{
	printf("%-10s %llu in %.1f s\n", "attempts", (unsigned long long)result->attempts,
	       result->seconds);
	for (int i = 0; i < _ENGINE_OUTCOME_MAX; i++)
		printf("%-10s %llu\n", engine_outcome_names[i],
		       (unsigned long long)result->outcomes[i]);
	print_latency("success", &result->success);
	print_latency("refusal", &result->refusal);
	if (result->last_error)
		printf("%-10s %s\n", "last error", strerror(result->last_error));
}

int main(int argc, char **argv)
{
	struct engine_plan plan = {
		.connections = 1000,
		.concurrency = 64,
		.seconds = 10,
		.timeout_ms = 3000,
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
		options_fail("storm: %s", strerror(-r));
	(json ? print_json : print_text)(&result);
	engine_release(&result);
	return 0;
}
