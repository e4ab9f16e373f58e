/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program under test, loaded the way the daemon does it: config.c, policy.c, loader.c, with the
 * clock that the kernel has. Nothing is attached or pinned.
 */
#ifndef STILE_BENCH_LOAD_H
#define STILE_BENCH_LOAD_H

#include "policy.h"

struct loader;

struct load {
	struct policy policy;
	struct loader *loader;
};

/*
 * Loads @config (text); what is wrong with it is told on stderr. 0 or -errno. @previous is a load
 * whose tables and counters go on, as in a reload, or NULL.
 */
int load_config(const char *config, const struct load *previous, struct load *ret_load);

/* Compiles @config and loads nothing. 0 or -errno. */
int load_check(const char *config);

void load_release(struct load *load);
#define autoload __attribute__((cleanup(load_release)))

/* The fd of a map by the name it would be pinned by, "limiter-NAME" included; borrowed. -1: none */
int load_map(const struct load *load, const char *name);

/* The slot of the attachment that @limiter has in the first listener that names it; 0: none. */
uint32_t load_attachment(const struct load *load, const char *limiter);

/* What a map of decisions has counted at @attachment, summed over the CPUs. 0 or -errno. */
int load_decisions(int map, uint32_t attachment, uint64_t ret_counts[_STILE_DECISION_MAX]);

/* Bytes of kernel memory that a map takes, by its fdinfo; 0: it cannot be told. */
uint64_t load_map_bytes(int map);

#endif /* STILE_BENCH_LOAD_H */
