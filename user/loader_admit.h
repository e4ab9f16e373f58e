/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that makes connections of proofs: an object of its own, since it needs a function of
 * newer kernels (Linux 6.9), that lives on the maps of the other one. For loader.c alone.
 */
#ifndef STILE_LOADER_ADMIT_H
#define STILE_LOADER_ADMIT_H

#include <stile/abi.h>

struct admit_bpf;
struct bpf_object;

/* Loads it with @policy and the maps of @main, which is loaded. 0 or negative errno. */
int loader_admit_load(const struct bpf_object *main, const struct stile_policy *policy,
		      struct admit_bpf **ret_admit);
void loader_admit_free(struct admit_bpf *admit);

/* The program's fd, borrowed. */
int loader_admit_program(const struct admit_bpf *admit);

#endif /* STILE_LOADER_ADMIT_H */
