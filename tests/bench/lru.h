/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same program with its buckets in the kernel's LRU hash (lru.bpf.c). */
#ifndef STILE_BENCH_LRU_H
#define STILE_BENCH_LRU_H

#include <stdint.h>

#include "load.h"

struct lru_bpf;

struct lru {
	struct lru_bpf *skeleton;
};

/* Loads it with the policy of @load, and room for @clients. 0 or -errno. */
int lru_load(const struct load *load, uint32_t clients, struct lru *ret_lru);
void lru_release(struct lru *lru);
#define autolru __attribute__((cleanup(lru_release)))

/* fds, borrowed */
int lru_program(const struct lru *lru);
int lru_map(const struct lru *lru);
int lru_decisions(const struct lru *lru); /* its own map of decisions */

#endif /* STILE_BENCH_LRU_H */
