/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile version: of the program, and of the layout of what it pins. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include <stile/abi.h>

#include "command.h"
#include "reading.h"

int cmd_version(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, {} };
	bool json = false;
	int option;

	(void)pins; /* nothing is read */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option != 'j')
			return command_bad_option(command, option, argv);
		json = true;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	if (json)
		return reading_print_json(json_pack("{s:s, s:i}", "version", STILE_VERSION, "abi",
						    STILE_ABI_VERSION));
	printf("stile %s (pinned maps: version %d)\n", STILE_VERSION, STILE_ABI_VERSION);
	return COMMAND_DONE;
}
