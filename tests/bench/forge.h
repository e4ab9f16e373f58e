/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A network namespace for filters of the kernel's own, and SYNs of forged sources through its
 * loopback. The process lives in it from then on.
 */
#ifndef STILE_BENCH_FORGE_H
#define STILE_BENCH_FORGE_H

#include <stdint.h>

/* 0 or -errno. */
int forge_namespace(void);

/* One SYN from each of @n sources, to port 80. 0 or -errno. */
int forge_syns(uint32_t n);

/* Entries of the hashlimit table @name. 0 or -errno. */
int forge_count_hashlimit(const char *name, double *ret_number);

/* Elements of the set @set of nftables' table "ip @table"; NAN: the kernel is too old to tell. */
int forge_count_set(const char *table, const char *set, double *ret_number);

#endif /* STILE_BENCH_FORGE_H */
