/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program given packets on one CPU, or on several at once, as a row's measurement. A sample in
 * which not nearly every packet got the decision that its row is about is an error.
 */
#ifndef STILE_BENCH_SUBJECT_H
#define STILE_BENCH_SUBJECT_H

#include <stdint.h>

#include <stile/abi.h>

#include "bench.h"
#include "drive.h"

#define STAGE_CPUS 2 /* at most */

/* The CPUs that may be used, the last ones first, and a driver for each. */
struct stage {
	int cpus[STAGE_CPUS];
	struct drive *drives[STAGE_CPUS];
	int n_cpus;
};

/* 0 or -errno. */
int stage_init(struct stage *stage);
void stage_release(struct stage *stage);

struct subject {
	const struct stage *stage;
	int n_cpus;
	int program;
	struct drive_plan plan;
	int decisions; /* the map that counts them; -1: do not look */
	uint32_t attachment;
	enum stile_decision decision; /* what is meant */
};

/* Without a plan, and without a map of decisions; it lives as long as the process. */
struct subject *subject_new(const struct stage *stage, int n_cpus, int program);

/* For struct bench_row: ns of CPU per packet; the mean of the CPUs. */
int subject_measure(struct bench_row *row, double *ret_values);

#endif /* STILE_BENCH_SUBJECT_H */
