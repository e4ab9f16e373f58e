/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Filling maps and making bucket tables, for loader.c alone. It does not know the skeleton. */
#ifndef STILE_LOADER_MAPS_H
#define STILE_LOADER_MAPS_H

#include <stdbool.h>

#include <stile/abi.h>

struct bpf_object;
struct policy;

/* Puts the policy's tables and lists into the maps of the loaded object. 0 or negative errno. */
int loader_fill_maps(const struct bpf_object *object, const struct policy *policy);

/*
 * What the outer map is told its tables are like. Kernel 6.1 lets a table in only if the template's
 * values have a struct's type as well, whichever; clang leaves that out of the object file. The fd
 * is the caller's.
 */
int loader_create_template(void);

/* An empty bucket table for @limiter, described by the object's BTF. An fd or negative errno. */
int loader_create_table(const struct bpf_object *object, const struct stile_limiter *limiter);

/* Whether the table @fd is one that @limiter can go on with. */
bool loader_table_fits(int fd, const struct stile_limiter *limiter);

#endif /* STILE_LOADER_MAPS_H */
