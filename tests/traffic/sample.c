/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Latencies one by one: a storm is bounded, so all of them fit, and quantiles need no estimate. */
#include "sample.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

int sample_add(struct sample *sample, uint64_t microseconds)
{
	if (sample->n_values == sample->size) {
		size_t size = sample->size ? 2 * sample->size : 1024;
		uint32_t *values = reallocarray(sample->values, size, sizeof(*values));

		if (!values)
			return -ENOMEM;
		sample->values = values;
		sample->size = size;
	}
	if (microseconds > UINT32_MAX)
		microseconds = UINT32_MAX;
	sample->values[sample->n_values++] = (uint32_t)microseconds;
	return 0;
}

void sample_release(struct sample *sample)
{
	free(sample->values);
	*sample = (struct sample){};
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

uint32_t sample_quantile(struct sample *sample, double quantile)
{
	size_t rank;

	if (sample->n_values == 0)
		return 0;
	qsort(sample->values, sample->n_values, sizeof(*sample->values), compare);
	rank = (size_t)(quantile * (double)sample->n_values + 0.999999);
	if (rank < 1)
		rank = 1;
	if (rank > sample->n_values)
		rank = sample->n_values;
	return sample->values[rank - 1];
}

void sample_print_json(struct sample *sample, FILE *out)
{
	fprintf(out, "{\"count\": %zu, \"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}",
		sample->n_values, sample_quantile(sample, 0.5), sample_quantile(sample, 0.99),
		sample_quantile(sample, 1.0));
}

uint64_t sample_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}
