/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a flood of forged sources makes a bucket table forget who abuses the service, in virtual
 * time: ten million packets a second, from 1 to 64 of each forged source back to back. The table is
 * the one that a configuration with max_keys: 100000 gets. Every round is the same.
 */
#include <errno.h>
#include <stdio.h>

#include "abuser.h"
#include "bench/bench.h"
#include "util.h"

#define TICK 4000000 /* ns: HZ=250 */

static const char settings[] = "algorithm: token_bucket, limit: 10, window: 1s, burst: 20, "
			       "max_keys: 100000";

struct storm_row {
	struct stile_limiter limiter;
	struct abuser_plan plan;
};

static int measure(struct bench_row *row, double *ret_values)
{
	const struct storm_row *storm = row->context;
	struct abuser_result result;

	if (!abuser_run(&storm->plan, &result))
		return -ENOMEM;
	ret_values[0] = 100 * (double)result.abuser_admitted / (double)result.abuser_exact;
	ret_values[1] = (double)result.abuser_admitted;
	ret_values[2] = (double)result.abuser_exact;
	ret_values[3] = (double)result.client_refused;
	return 0;
}

static bool add_row(struct bench *bench, const char *group, const struct abuser_plan *shape)
{
	static struct storm_row storms[BENCH_ROWS];
	struct storm_row *storm = &storms[bench->n_rows];
	struct bench_row *row;

	if (!abuser_limiter(settings, shape->tick, &storm->limiter))
		return false;
	storm->plan = (struct abuser_plan){
		.limiter = &storm->limiter,
		.tick = shape->tick,
		.duration = 2000000000,
		.seed = 1,
		.flood = 10000000,
		.packets = shape->packets,
		.between = shape->between,
		.clients = 1000,
		.client_rate = 5,
		.abusers = 100,
		.abuser_rate = 100,
	};
	row = bench_add(bench, measure, storm, "%u of each source", shape->packets);
	row->group = group;
	row->most = shape->between ? 0 : 105; /* the bar is for floods back to back */
	return true;
}

int main(void)
{
	static struct bench bench = {
		.section = "abuser",
		.title = "What abusers get under a flood of forged sources, against a table that "
			 "never forgets",
		.columns = { "% of exact", "admitted", "exact", "clients refused" },
		.rounds = 1,
	};
	static const struct {
		const char *group;
		struct abuser_plan shape;
	} groups[] = {
		{ "tick clock", { .tick = TICK } },
		{ "precise clock", {} },
		/* So that sources look as if they came back. */
		{ "tick clock, packets of a source 10 ms apart",
		  { .tick = TICK, .between = 99999 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		for (unsigned int packets = 1; packets <= 64; packets *= 2) {
			struct abuser_plan shape = groups[i].shape;

			shape.packets = packets;
			if (!add_row(&bench, groups[i].group, &shape))
				return 1;
		}
	return bench_run(&bench) || bench_end(&bench);
}
