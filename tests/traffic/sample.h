/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Latencies in microseconds, kept one by one, so that quantiles are exact. */
#ifndef STILE_TRAFFIC_SAMPLE_H
#define STILE_TRAFFIC_SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sample {
	uint32_t *values;
	size_t n_values, size;
};

/* 0 or -ENOMEM. */
int sample_add(struct sample *sample, uint64_t microseconds);
void sample_release(struct sample *sample);

/* Sorts the sample. The value that @quantile (0 to 1) of them do not exceed; 0: it is empty. */
uint32_t sample_quantile(struct sample *sample, double quantile);

/* {"count": n, "p50_us": n, "p99_us": n, "max_us": n} */
void sample_print_json(struct sample *sample, FILE *out);

/* ns of CLOCK_MONOTONIC */
uint64_t sample_now(void);

#endif /* STILE_TRAFFIC_SAMPLE_H */
