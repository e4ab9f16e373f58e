/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What clients of nginx have of proofs: one whose address is forged in a flood, by what stands in
 * front; and without a flood, one that makes a connection for every request. Each sample is one run
 * of proofs.sh, in network namespaces of its own.
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

#define NOT_HERE 3	    /* the script's status where something is missing */
#define BAR_SPEED (1 / 0.9) /* of the time that a request takes without proofs */

static const struct variant {
	const char *arguments, *name; /* the first for the script */
} floods[] = {
	{ "idle", "no flood" },
	{ "kernel", "kernel, SYN cookies" },
	{ "synproxy", "kernel, SYNPROXY (nftables)" },
	{ "never", "Stile, never" },
	{ "busy", "Stile, never, and a language" },
	{ "always", "Stile, always" },
}, speeds[] = {
	{ "wrk never", "Stile, never" },
	{ "wrk always", "Stile, always" },
};

/* Takes as many numbers as the script prints. */
static int measure(struct bench_row *row, double *ret_values)
{
	const struct variant *variant = row->context;
	char command[128], line[128] = "";
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "sh tests/bench/proofs.sh %s", variant->arguments);
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
				  &ret_values[2], &ret_values[3], &ret_values[4]) < 2)
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

static struct bench_row *add(struct bench *bench, const struct variant *variant)
{
	return bench_add(bench, measure, (void *)(uintptr_t)variant, "%s", variant->name);
}

int main(int argc, char **argv)
{
	static struct bench flood = {
		.section = "forged",
		.title = "A client that asks nginx 50 times a second, and whose address is forged",
		.columns = { "served/s", "p50, ms", "p99, ms", "failed, %", "forged/s" },
		.rounds = 3,
	};
	static struct bench speed = {
		.section = "proofs-speed",
		.title = "Requests by wrk without keep-alive, and no flood",
		.columns = { "us/request", "requests/s" },
		.ratios = { "of never" },
		.rounds = 5,
	};
	struct bench_row *never, *always;
	int result = argc > 0 ? tell_folder(argv[0]) : -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(floods); i++)
		add(&flood, &floods[i]);
	never = add(&speed, &speeds[0]);
	always = add(&speed, &speeds[1]);
	always->beside[0] = never;
	always->most_of[0] = BAR_SPEED;
	if (result == 0)
		result = bench_run(&flood) || bench_end(&flood);
	if (result == 0)
		result = bench_run(&speed) || bench_end(&speed);
	return result ? 1 : 0;
}
