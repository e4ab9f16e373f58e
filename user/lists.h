/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trusted and the blocked list, changed at once and without a daemon (stile block, trust, ...).
 * Entries that a command made are kept through reloads; those of the file belong to the file.
 *
 * All return -ENOENT where nothing is attached, and -EPROTO where another version's maps are.
 */
#ifndef STILE_LISTS_H
#define STILE_LISTS_H

#include <stdint.h>

#include "pins.h"
#include "prefix.h"

enum lists_name { LISTS_TRUSTED, LISTS_BLOCKED };

/*
 * @lifetime in ns; 0: for good. What a command put there before is replaced. 0 or negative errno:
 * -EEXIST where it stands in the file, for good; -ENOSPC where the list is full.
 */
int lists_add(const struct pins *pins, enum lists_name name, const struct prefix *prefix,
	      uint64_t lifetime);

/* -ESRCH: not listed; -EBUSY: it stands in the file, where it must be removed. */
int lists_remove(const struct pins *pins, enum lists_name name, const struct prefix *prefix);

/* Changes nothing. 0: a command put it there; -EBUSY: the file did; -ESRCH; or as above. */
int lists_look(const struct pins *pins, enum lists_name name, const struct prefix *prefix);

/* Removes what has expired. The number removed, or negative errno. */
int lists_expire(const struct pins *pins);

#endif /* STILE_LISTS_H */
