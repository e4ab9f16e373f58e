/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the description of the terminal says that it can do; <curses.h> has to come first. */
#include <curses.h>
#include <term.h>
#include <unistd.h>

#include "top_terminal.h"

const char *top_terminal_unfit(void)
{
	int known = 0;

	if (setupterm(NULL, STDOUT_FILENO, &known) == ERR)
		return known == 0 ? "it is of a kind that is not known (TERM)"
				  : "there are no descriptions of terminals (TERMINFO)";
	if (!cursor_address || !clear_screen)
		return "it cannot place its cursor (TERM)";
	return NULL;
}
