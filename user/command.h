/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of commands (main.c), what each is given, and what all of them say alike. */
#ifndef STILE_COMMAND_H
#define STILE_COMMAND_H

#include <stile/version.h>

#include "pins.h"

#define STILE_CONFIG_PATH "/etc/stile/stile.yaml"

/* Exit codes: public, see stile.8. */
enum command_exit { COMMAND_DONE, COMMAND_FAILED, COMMAND_USAGE };

struct command {
	const char *name;
	int (*run)(const struct command *command, const struct pins *pins, int argc, char **argv);
	const char *arguments; /* for the synopsis */
	const char *what;      /* one line for --help */
	const char *options;   /* lines for COMMAND --help; "" where it has none */
};

/*
 * argv[0] is the command's name; options of stile itself and --help are gone, and getopt has not
 * been called before. Each returns an exit code.
 */
typedef int command_function(const struct command *command, const struct pins *pins, int argc,
			     char **argv);
command_function cmd_run, cmd_check, cmd_reload, cmd_status, cmd_clients, cmd_explain, cmd_block,
	cmd_detach, cmd_doctor, cmd_replay, cmd_top, cmd_version;

/* Prints "stile COMMAND: reason" and the synopsis to standard error. Returns COMMAND_USAGE. */
__attribute__((format(printf, 2, 3))) int command_usage(const struct command *command,
							const char *format, ...);

/*
 * The same for what getopt_long() found wrong: @result is '?' or, where the option string begins
 * with ':', ':' for a missing value.
 */
int command_bad_option(const struct command *command, int result, char **argv);

/* The same for a word that is left over. */
int command_too_many(const struct command *command, const char *word);

/* Prints the help of @command to standard output. Returns COMMAND_DONE. */
int command_help(const struct command *command);

/* Prints "stile: message" to standard error. Returns COMMAND_FAILED. */
__attribute__((format(printf, 1, 2))) int command_failed(const char *format, ...);

/* Negative errno in words; where a privilege is missing, they say so. */
const char *command_reason(int error);

#endif /* STILE_COMMAND_H */
