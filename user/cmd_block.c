/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile block, unblock, trust, untrust: the lists, changed by hand. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "diag.h"
#include "duration.h"
#include "lists.h"
#include "prefix.h"

/* What a command's name stands for. */
struct verb {
	const char *name;
	enum lists_name list;
	bool adds;
	const char *state; /* of the prefix, when it is done */
};

static const struct verb verbs[] = {
	{ "block", LISTS_BLOCKED, true, "blocked" },
	{ "unblock", LISTS_BLOCKED, false, "blocked" },
	{ "trust", LISTS_TRUSTED, true, "trusted" },
	{ "untrust", LISTS_TRUSTED, false, "trusted" },
};

struct request {
	const struct verb *verb;
	struct prefix prefix;
	char text[PREFIX_TEXT_SIZE]; /* the prefix */
	const char *span;	     /* the lifetime as it was written; NULL: for good */
	uint64_t lifetime;	     /* ns */
	bool dry_run;
};

static int parse_prefix(const struct command *command, const char *text, struct request *request)
{
	int result = prefix_parse(text, &request->prefix);
	char quoted[DIAG_QUOTE_SIZE];

	diag_quote(text, quoted);
	if (result == 0 || result == -ERANGE)
		prefix_format(&request->prefix, request->text);
	if (result == -ERANGE)
		return command_usage(command, "%s has bits set past its length, did you mean %s?",
				     quoted, request->text);
	if (result == -EDOM)
		return command_usage(command,
				     "%s holds all of IPv4 too (as ::ffff:0:0/96), expected a "
				     "longer IPv6 prefix",
				     quoted);
	if (result < 0)
		return command_usage(command,
				     "expected an address or a prefix such as 192.0.2.0/24, got %s",
				     quoted);
	return COMMAND_DONE;
}

/* A century: with the clock's part it fits the kernel's 64 bits. */
#define LIFETIME_MAX (36525 * UINT64_C(86400000000000))

static int parse_lifetime(const struct command *command, struct request *request)
{
	int result = duration_parse(request->span, &request->lifetime);
	char quoted[DIAG_QUOTE_SIZE];

	diag_quote(request->span, quoted);
	if (result == -ERANGE || (result == 0 && request->lifetime > LIFETIME_MAX))
		return command_usage(command,
				     "%s is more than a hundred years; without --for it is for "
				     "good",
				     quoted);
	if (result < 0 || request->lifetime == 0)
		return command_usage(command,
				     "expected a time such as 30s, 10m, 1h30m or 7d after --for, "
				     "got %s",
				     quoted);
	return COMMAND_DONE;
}

static int parse_options(const struct command *command, int argc, char **argv,
			 struct request *request)
{
	static const struct option options[] = {
		{ "for", required_argument, NULL, 'f' },
		{ "dry-run", no_argument, NULL, 'n' },
		{},
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":n", options, NULL)) != -1) {
		if (option == 'n')
			request->dry_run = true;
		else if (option == 'f')
			request->span = optarg;
		else
			return command_bad_option(command, option, argv);
	}
	if (request->span && !request->verb->adds)
		return command_usage(command, "'--for' is for block and trust");
	if (request->span && parse_lifetime(command, request) != COMMAND_DONE)
		return COMMAND_USAGE;
	if (optind == argc)
		return command_usage(command, "expected an address or a prefix");
	if (optind + 1 < argc)
		return command_too_many(command, argv[optind + 1]);
	return parse_prefix(command, argv[optind], request);
}

static int report_failure(const struct request *request, int error)
{
	const struct verb *verb = request->verb;

	switch (-error) {
	case ENOENT:
		return command_failed("%s %s: nothing is attached; 'stile run' attaches",
				      verb->name, request->text);
	case ESRCH:
		return command_failed("%s %s: it is not on the %s list; 'stile status' shows what "
				      "is",
				      verb->name, request->text, verb->state);
	case EBUSY:
		return command_failed("%s %s: it is on the %s list of the configuration file, "
				      "remove it there and 'stile reload'",
				      verb->name, request->text, verb->state);
	case ENOSPC:
		return command_failed("%s %s: the %s list is full", verb->name, request->text,
				      verb->state);
	case EPROTO:
		return command_failed("%s %s: what is attached is of another version; 'stile "
				      "detach' takes it out",
				      verb->name, request->text);
	default:
		return command_failed("%s %s: %s", verb->name, request->text,
				      command_reason(error));
	}
}

static int add(const struct pins *pins, const struct request *request)
{
	const struct verb *verb = request->verb;
	int result;

	if (request->dry_run)
		result = lists_look(pins, verb->list, &request->prefix);
	else
		result = lists_add(pins, verb->list, &request->prefix, request->lifetime);
	if (result == -EEXIST || (request->dry_run && result == -EBUSY)) {
		printf("%s is %s already, by the configuration file\n", request->text, verb->state);
		return COMMAND_DONE;
	}
	if (result < 0 && !(request->dry_run && result == -ESRCH))
		return report_failure(request, result);
	printf("%s %s %s%s%s\n", request->text, request->dry_run ? "would be" : "is", verb->state,
	       request->span ? " for " : "", request->span ? request->span : "");
	return COMMAND_DONE;
}

static int undo(const struct pins *pins, const struct request *request)
{
	const struct verb *verb = request->verb;
	int result;

	if (request->dry_run)
		result = lists_look(pins, verb->list, &request->prefix);
	else
		result = lists_remove(pins, verb->list, &request->prefix);
	if (result < 0)
		return report_failure(request, result);
	printf("%s %s on the %s list\n", request->text,
	       request->dry_run ? "would no longer be" : "is no longer", verb->state);
	return COMMAND_DONE;
}

int cmd_block(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	struct request request = { .verb = verbs };
	int result;

	while (strcmp(request.verb->name, command->name) != 0)
		request.verb++; /* main.c has no other names for this function */
	result = parse_options(command, argc, argv, &request);
	if (result != COMMAND_DONE)
		return result;
	return request.verb->adds ? add(pins, &request) : undo(pins, &request);
}
