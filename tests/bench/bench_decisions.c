/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a packet costs in the loaded program, beside one that only parses. */
#include "bench.h"
#include "drive.h"
#include "load.h"
#include "loader.h"

static const char config[] = "interfaces: {lo: {}}\n"
			     "rate_limiters:\n"
			     "  a: {limit: 10, window: 1s, algorithm: token_bucket, burst: 20,\n"
			     "      action: drop, max_keys: 1000000}\n"
			     "listeners:\n"
			     "  web: {protocol: tcp, ports: [80], rate_limiter_name: a}\n";

struct subject {
	struct drive *drive;
	int program;
	struct drive_plan plan;
};

static int measure(struct bench_row *row, double *ret_values)
{
	const struct subject *subject = row->context;

	return drive_run(subject->drive, subject->program, &subject->plan, ret_values);
}

int main(void)
{
	static struct bench bench = {
		.section = "decisions",
		.title = "A packet in the loaded program: ns of CPU",
		.columns = { "ns/packet" },
		.rounds = 9,
		.warmups = 1,
	};
	static const struct pkt_spec syn = { .dport = 80 };
	struct drive *drive = NULL;
	autoload struct load load = {};
	struct subject parse, hot;
	int result;

	result = drive_new(&drive);
	if (result == 0)
		result = load_config(config, NULL, &load);
	if (result == 0) {
		parse = (struct subject){ drive,
					  drive_parse_program(drive),
					  { &syn, DRIVER_ONE, 1, 150000 } };
		hot = (struct subject){ drive,
					loader_program(load.loader),
					{ &syn, DRIVER_ONE, 1, 150000 } };
		struct bench_row *floor = bench_add(&bench, measure, &parse, "parse only");
		bench_add(&bench, measure, &hot, "SYN refused, one client")->floor = floor;
		result = bench_run(&bench);
	}
	if (result == 0)
		result = bench_end(&bench);
	drive_free(drive);
	return result ? 1 : 0;
}
