/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every command says in the same words: its usage, its help, and that it failed. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static void print_synopsis(const struct command *command, FILE *out)
{
	fprintf(out, "Usage: stile %s%s%s\n", command->name, *command->arguments ? " " : "",
		command->arguments);
}

int command_usage(const struct command *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "stile %s: ", command->name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	print_synopsis(command, stderr);
	return COMMAND_USAGE;
}

int command_bad_option(const struct command *command, int result, char **argv)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	const char *word = argv[optind - 1];

	if (strncmp(word, "--", 2) != 0)
		word = letter; /* its word may hold others too */
	if (result == ':')
		return command_usage(command, "option '%s' needs a value", word);
	if (optopt && word != letter)
		return command_usage(command, "option '%s' takes no value", word);
	return command_usage(command, "unknown option '%s'", word);
}

int command_too_many(const struct command *command, const char *word)
{
	return command_usage(command, "one word too many: '%s'", word);
}

int command_help(const struct command *command)
{
	print_synopsis(command, stdout);
	printf("\n%s.\n", command->what);
	if (*command->options)
		printf("\nOptions:\n%s", command->options);
	return COMMAND_DONE;
}

int command_failed(const char *format, ...)
{
	va_list arguments;

	fputs("stile: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return COMMAND_FAILED;
}

const char *command_reason(int error)
{
	if (error == -EACCES || error == -EPERM)
		return "it takes root";
	if (error == -ETIMEDOUT)
		return "another process holds its lock below " PINS_RUN
		       " and does not go on: is it "
		       "stopped? 'fuser -v' names it";
	return strerror(-error);
}
