/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process that was killed in the middle of a load left behind. For apply.c alone. */
#ifndef STILE_APPLY_RECOVER_H
#define STILE_APPLY_RECOVER_H

#include "pins.h"

/*
 * Where a link runs the program of a generation that is not in force yet, its process was killed
 * between the first swap and the last step: all other links get that program too, and it is put in
 * force. 0, also where there is nothing to do; or negative errno.
 */
int apply_recover(const struct pins *pins);

#endif /* STILE_APPLY_RECOVER_H */
