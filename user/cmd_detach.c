/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stile detach: everything out of the kernel, whether a daemon lives or not. One that lives keeps
 * its memory of what it attached, and puts it back when it is told to reload; so it is mentioned.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "apply.h"
#include "command.h"
#include "control.h"
#include "pidfile.h"
#include "util.h"

#define PATIENCE_S 2 /* with a daemon that does nothing: it is only told */

/* Collects the names of the interfaces, with a comma between them. */
static int add_name(const char *ifname, void *context)
{
	FILE *names = context;

	fprintf(names, "%s%s", ftell(names) > 0 ? ", " : "", ifname);
	return 0;
}

/* *ret_names is malloc'ed; "" where nothing is attached. */
static int attached_names(const struct pins *pins, char **ret_names)
{
	size_t length;
	FILE *names = open_memstream(ret_names, &length);
	int result;

	if (!names)
		return -ENOMEM;
	result = pins_each_link(pins, add_name, names);
	return fclose(names) == EOF ? -ENOMEM : result;
}

/* Tells it what was done, so that no reload that was asked for before undoes it. */
static void tell_daemon(const struct pins *pins)
{
	autofree char *text = NULL;
	int result = control_call(pins->control, "detached", PATIENCE_S, &text);

	if (result >= 0) /* whatever it says, it lives */
		fprintf(stderr,
			"stile: the daemon still runs: it attaches again when it reloads\n");
	else if (result == -ETIMEDOUT)
		fprintf(stderr, "stile: the daemon does not answer: %s\n",
			text ? text : "too many ask it already");
}

/* What a killed daemon left of itself. */
static void sweep(const struct pins *pins)
{
	pidfile_sweep(pins->pid);
	control_sweep(pins->control);
}

static int report(const char *names, bool dry_run)
{
	if (!*names)
		printf("nothing is attached\n");
	else
		printf("%s %s\n", dry_run ? "would detach" : "detached", names);
	return COMMAND_DONE;
}

int cmd_detach(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = { { "dry-run", no_argument, NULL, 'n' }, {} };
	autofree char *names = NULL;
	bool dry_run = false;
	int option, result;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":n", options, NULL)) != -1) {
		if (option != 'n')
			return command_bad_option(command, option, argv);
		dry_run = true;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	result = attached_names(pins, &names);
	if (result < 0)
		return command_failed("look for attachments in '%s': %s", pins->root,
				      command_reason(result));
	if (dry_run)
		return report(names, dry_run);
	result = apply_detach(pins);
	if (result < 0)
		return command_failed("take out what is pinned in '%s': %s", pins->root,
				      command_reason(result));
	(void)report(names, dry_run);
	(void)fflush(stdout); /* main() asks whether it was written */
	sweep(pins);
	tell_daemon(pins);
	return COMMAND_DONE;
}
