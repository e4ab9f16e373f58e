/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many requests a second are refused with 429 by Stile, and by servers that are made for it.
 * Each sample is one run of refusals.sh, in network namespaces of its own.
 */
#include "bench.h"

#include <errno.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "util.h"

#define SECONDS 3  /* of a run of wrk */
#define NOT_HERE 3 /* the script's status where something is missing */

static const struct variant {
	const char *argument, *name; /* the first is for the script */
} variants[] = {
	{ "nginx", "nginx, return 429" },
	{ "stile", "Stile, native" },
	{ "generic", "Stile, generic" },
	{ "haproxy", "HAProxy, http-request deny" },
};

static int measure(struct bench_row *row, double *ret_values)
{
	const struct variant *variant = row->context;
	char command[128], line[128] = "";
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "sh tests/bench/refusals.sh %s %d", variant->argument,
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
	if (status != 0 || sscanf(line, "%lf %lf", &ret_values[0], &ret_values[1]) != 2)
		return -EIO;
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
		.section = "refusals",
		.title = "Requests that are refused with 429, by wrk without keep-alive",
		.columns = { "refusals/s", "segments/refusal" },
		.ratios = { "of nginx" },
		.rounds = 5,
	};
	const struct bench_row *nginx = NULL;
	int result = argc > 0 ? tell_folder(argv[0]) : -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		struct bench_row *row = bench_add(&bench, measure, (void *)(uintptr_t)&variants[i],
						  "%s", variants[i].name);

		row->beside[0] = nginx;
		if (!nginx)
			nginx = row;
	}
	if (result == 0)
		result = bench_run(&bench);
	if (result == 0)
		result = bench_end(&bench);
	return result ? 1 : 0;
}
