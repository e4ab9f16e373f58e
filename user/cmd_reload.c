/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile reload: asks the daemon to load its configuration again. The work and the words are its. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "command.h"
#include "control.h"
#include "util.h"

#define PATIENCE_S 10 /* with a daemon that does nothing */

/* @text: what is known of a daemon that does not answer, or NULL. */
static int report_failure(const char *path, int error, const char *text)
{
	switch (-error) {
	case ENOENT:
	case ECONNREFUSED:
		return command_failed("reload: no daemon answers at '%s'; what is attached goes on "
				      "as it is",
				      path);
	case ETIMEDOUT:
		return command_failed("reload: the daemon at '%s' does not answer: %s", path,
				      text ? text : "too many ask it already");
	case EACCES:
	case EPERM:
		return command_failed(
			"reload: ask the daemon at '%s': it takes root, or a member of "
			"its control_group",
			path);
	case EPROTO:
		return command_failed("reload: what answers at '%s' is no daemon of this version",
				      path);
	default:
		return command_failed("reload: ask the daemon at '%s': %s", path,
				      command_reason(error));
	}
}

int cmd_reload(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = { { "control", required_argument, NULL, 'c' }, {} };
	const char *path = pins->control;
	autofree char *text = NULL;
	int option, result;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option != 'c')
			return command_bad_option(command, option, argv);
		path = optarg;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	result = control_call(path, "reload", PATIENCE_S, &text);
	if (result < 0)
		return report_failure(path, result, text);
	fputs(text, result ? stdout : stderr);
	return result ? COMMAND_DONE : COMMAND_FAILED;
}
