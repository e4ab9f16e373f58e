/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the description of the terminal says that it can do; <curses.h> has to come first. */
#include <curses.h>
#include <term.h>
#include <unistd.h>

#include "top_terminal.h"

const char *top_terminal_unfit(void)
{
	const char *unfit;
	int known = 0;

	if (setupterm(NULL, STDOUT_FILENO, &known) == ERR)
		return known == 0 ? "it is of a kind that is not known (TERM)"
				  : "there are no descriptions of terminals (TERMINFO)";
	unfit = cursor_address && clear_screen ? NULL : "it cannot place its cursor (TERM)";
	(void)del_curterm(cur_term); /* the screen has one of its own */
	return unfit;
}
