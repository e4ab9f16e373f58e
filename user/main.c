/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of commands. Options of stile itself may stand before or after the command's name, so
 * they are taken out before the command sees its words.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "diag.h"
#include "util.h"

#define OPTION_JSON "  --json            as JSON\n"
#define OPTION_DRY_RUN "  -n, --dry-run     say what would be done, and do nothing\n"
#define OPTION_CONFIG "  -c, --config FILE the configuration; default " STILE_CONFIG_PATH "\n"
#define OPTION_FOR                                                                                 \
	"  --for TIME        until then only: 30s, 10m, 1h30m; default: for good\n" OPTION_DRY_RUN

static const struct command commands[] = {
	{ "run", cmd_run, "[-c FILE] [-i IFACE]...", "Protects: the daemon, in the foreground",
	  OPTION_CONFIG
	  "  -i, --interface IFACE\n"
	  "                    attach there, and not where the configuration says\n" },
	{ "check", cmd_check, "[-c FILE] [--elsewhere] [--json]",
	  "Reads a configuration: what is wrong with it, or what it would do",
	  OPTION_CONFIG
	  "  --elsewhere       for another host: nothing of this one is looked at\n" OPTION_JSON },
	{ "reload", cmd_reload, "[--control PATH]",
	  "Makes the daemon load its configuration again, or says why it was refused",
	  "  --control PATH    the daemon's control socket, where its configuration sets one\n" },
	{ "status", cmd_status, "[--json]",
	  "What is attached where and how, listeners, limiters, totals, lists", OPTION_JSON },
	{ "clients", cmd_clients, "[--limiter NAME] [--sort KEY] [--top N] [--all] [--json]",
	  "The clients that limiters keep track of",
	  "  --limiter NAME    of this rate limiter; default: of all\n"
	  "  --sort KEY        refused, admitted, wait, idle, open or address; default:\n"
	  "                    refused\n"
	  "  --top N           the first N, 0 for all; default: 20\n"
	  "  --all             those too whose bucket is as good as new again\n" OPTION_JSON },
	{ "explain", cmd_explain,
	  "ADDRESS [--listener NAME | --port PORT [--to ADDRESS]] [-i IFACE] [--json]",
	  "What would become of a client now, by which rule, and when it will be admitted",
	  "  --listener NAME   at this listener; default: at each\n"
	  "  --port PORT       at those of this port: 443, tcp/443, udp/53\n"
	  "  --to ADDRESS      of the host's addresses, this one\n"
	  "  -i, --interface IFACE\n"
	  "                    arriving there; default: on any\n" OPTION_JSON },
	{ "top", cmd_top, "[--interval TIME] [--sort KEY] [--filter TEXT] [--once] [--json]",
	  "A live screen: rates by listener and limiter, busiest and most refused clients",
	  "  --interval TIME   between two looks, from 100ms to 1h; default: 1s\n"
	  "  --sort KEY        refusing, admitting, refused, admitted, open, wait or address\n"
	  "  --filter TEXT     only clients whose address or limiter has this in it\n"
	  "  --once            one screen as text, after one interval\n"
	  "  --json            a line an interval, until it is ended; with --once: one\n" },
	{ "block", cmd_block, "CIDR [--for TIME] [--dry-run]",
	  "Drops every TCP and UDP packet of a client or network, at once", OPTION_FOR },
	{ "unblock", cmd_block, "CIDR [--dry-run]", "Undoes block", OPTION_DRY_RUN },
	{ "trust", cmd_block, "CIDR [--for TIME] [--dry-run]",
	  "Exempts a client or network from every limiter, at once", OPTION_FOR },
	{ "untrust", cmd_block, "CIDR [--dry-run]", "Undoes trust", OPTION_DRY_RUN },
	{ "doctor", cmd_doctor, "[-c FILE] [-i IFACE]... [--json]",
	  "What this host can and cannot do for a configuration, and what to do about it",
	  OPTION_CONFIG "  -i, --interface IFACE\n"
			"                    instead of those of the configuration\n" OPTION_JSON },
	{ "replay", cmd_replay, "FILE [-c FILE] [--server CIDR]... [--top N] [--json]",
	  "Who of a capture's clients a configuration would have admitted, and shed",
	  OPTION_CONFIG
	  "  --server CIDR     judge only what goes there; default: to a listener\n"
	  "  --top N           the first N clients, 0 for all; default: 20\n" OPTION_JSON },
	{ "detach", cmd_detach, "[--dry-run]", "Takes everything out of the kernel",
	  OPTION_DRY_RUN },
	{ "version", cmd_version, "[--json]", "Says which version this is", OPTION_JSON },
};

/* The command line without the options of stile itself. */
struct words {
	const char *instance;
	bool help;
	int argc;
	char **argv; /* [0] is the command's name, where argc is not 0 */
};

static int print_help(FILE *out)
{
	fputs("Usage: stile [--instance NAME] COMMAND [ARGUMENT]...\n\n"
	      "Holds every client of a TCP or UDP service to its rate, in the kernel,\n"
	      "where packets arrive.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s%s\n", commands[i].name, commands[i].what);
	fputs("  help     Says this; with a command's name, what that command does\n\n"
	      "Options:\n"
	      "  --instance NAME  another instance than '" PINS_DEFAULT_INSTANCE "'\n"
	      "  --help           with a command: what it does\n"
	      "  --version        the same as 'stile version'\n",
	      out);
	return COMMAND_DONE;
}

__attribute__((format(printf, 1, 2))) static int usage(const char *format, ...)
{
	va_list arguments;

	fputs("stile: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs("\n'stile --help' lists the commands\n", stderr);
	return COMMAND_USAGE;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 2] = { [ARRAY_SIZE(commands)] = "help" };
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	nearest = diag_nearest(name, names);
	if (nearest)
		return usage("unknown command '%s', did you mean '%s'?", name, nearest);
	return usage("unknown command '%s'", name);
}

static int take_instance(struct words *words, const char *value)
{
	if (!value)
		return usage("option '--instance' needs a value");
	words->instance = value;
	return COMMAND_DONE;
}

static char version[] = "version"; /* what --version stands for */

/* One word that may be an option of stile itself. *ret_taken: how many words it took. */
static int take_option(struct words *words, char **argv, int *ret_taken)
{
	*ret_taken = 1;
	if (strcmp(argv[0], "--instance") == 0) {
		*ret_taken = argv[1] ? 2 : 1;
		return take_instance(words, argv[1]);
	}
	if (strncmp(argv[0], "--instance=", strlen("--instance=")) == 0)
		return take_instance(words, strchr(argv[0], '=') + 1);
	if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
		words->help = true;
	else if (words->argc == 0 && strcmp(argv[0], "--version") == 0)
		words->argv[words->argc++] = version;
	else if (words->argc == 0 && argv[0][0] == '-')
		return usage("unknown option '%s'", argv[0]);
	else
		*ret_taken = 0;
	return COMMAND_DONE;
}

/* @ret_words->argv has room for all of @argv and its NULL. */
static int split(char **argv, struct words *ret_words)
{
	bool options = true;
	int result, taken;

	for (argv++; *argv; argv += taken) {
		options = options && strcmp(*argv, "--") != 0;
		taken = 0;
		result = options ? take_option(ret_words, argv, &taken) : COMMAND_DONE;
		if (result != COMMAND_DONE)
			return result;
		if (taken == 0) {
			ret_words->argv[ret_words->argc++] = *argv;
			taken = 1;
		}
	}
	ret_words->argv[ret_words->argc] = NULL;
	return COMMAND_DONE;
}

static int help(const struct words *words)
{
	const struct command *command;

	if (words->argc < 2)
		return print_help(stdout);
	if (words->argc > 2)
		return usage("help: one word too many: '%s'", words->argv[2]);
	command = find(words->argv[1]);
	return command ? command_help(command) : unknown_command(words->argv[1]);
}

static int run(const struct words *words)
{
	const struct command *command;
	struct pins pins;

	if (pins_init(&pins, words->instance) < 0)
		return usage(
			"instance '%s': expected 1 to 32 of a-z A-Z 0-9 _ -, and not 'control'",
			words->instance);
	if (words->argc == 0) {
		if (words->help)
			return print_help(stdout);
		(void)print_help(stderr);
		return COMMAND_USAGE;
	}
	if (strcmp(words->argv[0], "help") == 0)
		return help(words);
	command = find(words->argv[0]);
	if (!command)
		return unknown_command(words->argv[0]);
	if (words->help)
		return command_help(command);
	return command->run(command, &pins, words->argc, words->argv);
}

int main(int argc, char **argv)
{
	autofree char **room = calloc((size_t)argc + 1, sizeof(*room));
	struct words words = { .instance = PINS_DEFAULT_INSTANCE, .argv = room };
	int result;

	if (!room)
		return command_failed("%s", strerror(ENOMEM));
	result = split(argv, &words);
	if (result == COMMAND_DONE)
		result = run(&words);
	if (fflush(stdout) == EOF || ferror(stdout))
		return command_failed("write to standard output: %s", strerror(errno));
	return result;
}
