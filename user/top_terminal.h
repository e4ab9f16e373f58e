/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Apart from top_screen.h, because <term.h> takes words such as `lines` and `columns`. */
#ifndef STILE_TOP_TERMINAL_H
#define STILE_TOP_TERMINAL_H

/* Why the terminal of standard output cannot be drawn on, or NULL. */
const char *top_terminal_unfit(void);

#endif /* STILE_TOP_TERMINAL_H */
