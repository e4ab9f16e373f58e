/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose a program is that is in the way. */
#ifndef STILE_APPLY_OWNER_H
#define STILE_APPLY_OWNER_H

#include <stdint.h>

#define APPLY_OWNER_SIZE 256

/* "pinned as PATH", "held by process N, NAME", or that nothing is known; by the program's id. */
void apply_owner_find(uint32_t program, char ret_text[APPLY_OWNER_SIZE]);

#endif /* STILE_APPLY_OWNER_H */
