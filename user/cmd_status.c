/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile status: what is attached where and how, what it is to do, and what it has done so far. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"
#include "status.h"

#define NS_PER_S UINT64_C(1000000000)

void status_each_limiter(const struct stile_policy *policy, const uint16_t *judges, size_t n,
			 void (*each)(const char *name, void *context), void *context)
{
	for (size_t i = 0; i < n && judges[i]; i++) {
		const struct stile_attachment *at = &policy->attachments[judges[i]];

		if (!at->new_sources)
			each(policy->limiters[at->limiter].name, context);
	}
}

const char *status_new_sources(const struct stile_policy *policy, const uint16_t *judges)
{
	for (size_t i = 0; i < STILE_JUDGES_MAX && judges[i]; i++)
		if (policy->attachments[judges[i]].new_sources)
			return policy->limiters[policy->attachments[judges[i]].limiter].name;
	return NULL;
}

const char *status_edge(const struct stile_policy *policy, uint32_t slot)
{
	for (size_t i = 1; i < STILE_LISTENERS_MAX; i++) {
		uint16_t edge = policy->listeners[i].edges[slot];

		if (*policy->listeners[i].name && edge)
			return policy->limiters[policy->attachments[edge].limiter].name;
	}
	return NULL;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now); /* cannot fail: Linux has these clocks */
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* 0 or negative errno. */
static int read_status(const struct pins *pins, struct status *status)
{
	const struct snapshot *snapshot = status->snapshot;
	int r;

	status->instance = reading_instance(pins);
	status->uptime = clock_ns(CLOCK_BOOTTIME) - snapshot->policy.since;
	status->since = (time_t)((clock_ns(CLOCK_REALTIME) - status->uptime) / NS_PER_S);
	r = snapshot_read_ports(pins, snapshot, &status->ports, &status->n_ports);
	if (r == 0)
		r = snapshot_read_sources(pins, snapshot, &status->sources, &status->n_sources);
	return r;
}

static int show(const struct pins *pins, bool json)
{
	struct status status = { 0 };
	int r;

	r = reading_take(pins, &status.snapshot);
	if (r != COMMAND_DONE)
		return r;
	r = read_status(pins, &status);
	if (r < 0)
		r = reading_failed(pins, r);
	else if (json)
		r = reading_print_json(status_json(&status));
	else if (status_print(&status, stdout) < 0)
		r = command_failed("print the status: %s", strerror(ENOMEM));
	free(status.ports);
	free(status.sources);
	snapshot_free(status.snapshot);
	return r;
}

int cmd_status(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, {} };
	bool json = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option != 'j')
			return command_bad_option(command, option, argv);
		json = true;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	return show(pins, json);
}
