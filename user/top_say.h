/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What another command of this program says, so that stile top says it in the same words. */
#ifndef STILE_TOP_SAY_H
#define STILE_TOP_SAY_H

/* Runs `stile @argv...`, ended by NULL. Its text, freed by the caller; NULL: it cannot be run. */
char *top_say(char *const argv[]);

#endif /* STILE_TOP_SAY_H */
