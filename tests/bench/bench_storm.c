/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a well-behaved client of nginx gets while a storm lasts, by what stands in front of nginx: a
 * storm of connections, and one of requests over connections that are open already, at which Stile
 * does not look. Each sample is one run of storm.sh, in network namespaces of its own.
 */
#include "bench.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "util.h"

#define SECONDS 5  /* of a storm */
#define NOT_HERE 3 /* the script's status where something is missing */

static const struct variant {
	const char *group, *arguments, *name; /* the storm and the variant, for the script */
} variants[] = {
	{ "4 000 connections a second, of 8 addresses", "connections idle", "no storm" },
	{ "4 000 connections a second, of 8 addresses", "connections without", "nothing in front" },
	{ "4 000 connections a second, of 8 addresses", "connections stile", "Stile" },
	{ "4 000 connections a second, of 8 addresses", "connections nftables",
	  "nftables, prerouting raw" },
	{ "4 000 connections a second, of 8 addresses", "connections nginx",
	  "nginx limit_conn and limit_req" },
	{ "4 000 connections a second, of 8 addresses", "connections haproxy",
	  "HAProxy stick table" },
	{ "32 connections of one address, request upon request", "requests idle", "no storm" },
	{ "32 connections of one address, request upon request", "requests without",
	  "nothing in front" },
	{ "32 connections of one address, request upon request", "requests stile", "Stile" },
	{ "32 connections of one address, request upon request", "requests nginx",
	  "nginx limit_conn and limit_req" },
};

static int measure(struct bench_row *row, double *ret_values)
{
	const struct variant *variant = row->context;
	char command[128], line[128] = "";
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "sh tests/bench/storm.sh %s %d", variant->arguments,
		 SECONDS);
	fflush(stdout);
	pipe = popen(command, "re"); /* NOLINT(cert-env33-c): a constant of this file */
	if (!pipe)
		return -errno;
	if (!fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	status = pclose(pipe);
	line[strcspn(line, "\n")] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_HERE)
		return bench_skip(row, "%s", line);
	if (status != 0 || sscanf(line, "%lf %lf %lf %lf %lf", &ret_values[0], &ret_values[1],
				  &ret_values[2], &ret_values[3], &ret_values[4]) != 5)
		return -EIO;
	for (int i = 1; i <= 2 && ret_values[0] == 0; i++)
		ret_values[i] = NAN; /* nothing was served: it has no latency */
	return 0;
}

/* The script looks for the programs where this one was built, unless it is told. */
static int tell_folder(const char *program)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", program);
	return setenv("O", dirname(dirname(path)), 0) < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	static struct bench bench = {
		.section = "storm",
		.title = "A client that asks nginx 20 times a second, in a storm",
		.columns = { "served/s", "p50, ms", "p99, ms", "failed, %", "storm/s" },
		.rounds = 3,
	};
	int result = argc > 0 ? tell_folder(argv[0]) : -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(variants); i++)
		bench_add(&bench, measure, (void *)(uintptr_t)&variants[i], "%s", variants[i].name)
			->group = variants[i].group;
	if (result == 0)
		result = bench_run(&bench);
	if (result == 0)
		result = bench_end(&bench);
	return result ? 1 : 0;
}
