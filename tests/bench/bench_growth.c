/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How costs grow: of a decision with the number of clients, each table being built for as many; of
 * a reload, which puts a new program in the place of one that has the same policy, with the
 * listeners and the sources that the policy has. No packet waits for a reload.
 */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "loader.h"
#include "lru.h"
#include "subject.h"
#include "util.h"

#define PACKETS 200000
#define BYTES 200 /* of a client, in both tables, or less */

static const uint32_t numbers[] = { 1000, 10000, 100000, 1000000, 10000000 };

static const struct pkt_spec syn = { .dport = 80 };

/* The programs for one number of clients. */
struct size {
	struct load load;
	struct lru lru;
};

/* Both tables of @n clients take less than half of the memory. */
static bool fits(uint32_t n)
{
	return (double)n * BYTES <
	       (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;
}

static int size_load(const struct stage *stage, uint32_t n, struct size *size)
{
	const struct drive_plan fill = {
		.spec = &syn,
		.sources = DRIVER_TURN,
		.clients = n,
		.repeat = n,
	};
	char config[512];
	double ns;
	int result;

	snprintf(config, sizeof(config),
		 "interfaces: {lo: {}}\n"
		 "rate_limiters:\n"
		 "  a: {algorithm: token_bucket, limit: 1, window: 1h, action: drop,\n"
		 "      max_keys: %u}\n"
		 "listeners:\n"
		 "  web: {protocol: tcp, ports: [80], rate_limiter_name: a}\n",
		 n);
	result = load_config(config, NULL, &size->load);
	if (result == 0)
		result = lru_load(&size->load, n, &size->lru);
	if (result == 0)
		result = drive_run(stage->drives[0], loader_program(size->load.loader), &fill, &ns);
	if (result == 0)
		result = drive_run(stage->drives[0], lru_program(&size->lru), &fill, &ns);
	return result;
}

/* @program: a negative one is not there. */
static struct bench_row *add_size(struct bench *bench, const struct stage *stage, uint32_t n,
				  int program)
{
	struct subject *subject = subject_new(stage, 1, program);
	struct bench_row *row;

	subject->plan = (struct drive_plan){
		.spec = &syn,
		.sources = DRIVER_RANDOM,
		.clients = n,
		.warmup = n < PACKETS ? n * 2 : PACKETS,
		.repeat = PACKETS,
	};
	row = bench_add(bench, subject_measure, subject, "%u clients", n);
	if (program < 0)
		bench_skip(row, "there is too little memory");
	return row;
}

static void add_sizes(struct bench *bench, const struct stage *stage, const struct size *sizes)
{
	struct bench_row *floor, *stile, *lru;

	floor = add_size(bench, stage, 1000000, drive_parse_program(stage->drives[0]));
	snprintf(floor->name, sizeof(floor->name), "parse only");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		bool is_there = sizes[i].load.loader;

		stile = add_size(bench, stage, numbers[i],
				 is_there ? loader_program(sizes[i].load.loader) : -1);
		stile->floor = floor;
		stile->group = "Stile, SYN refused";
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		bool is_there = sizes[i].lru.skeleton;

		lru = add_size(bench, stage, numbers[i],
			       is_there ? lru_program(&sizes[i].lru) : -1);
		lru->floor = floor;
		lru->group = "LRU hash, SYN refused";
		bench->rows[i + 1].beside[0] = lru;
	}
}

static int tell_clients(void)
{
	static struct bench bench = {
		.section = "growth-clients",
		.title = "A decision, by the number of clients: ns of CPU",
		.columns = { "ns/packet" },
		.ratios = { "of LRU" },
		.rounds = 9,
	};
	static struct size sizes[ARRAY_SIZE(numbers)];
	struct stage stage = {};
	int result = stage_init(&stage);

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && result == 0 && fits(numbers[i]); i++)
		result = size_load(&stage, numbers[i], &sizes[i]);
	if (result == 0) {
		add_sizes(&bench, &stage, sizes);
		result = bench_run(&bench) || bench_end(&bench);
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		lru_release(&sizes[i].lru);
		load_release(&sizes[i].load);
	}
	stage_release(&stage);
	return result;
}

/* A policy of a size, as text. */
struct shape {
	unsigned int listeners, sources;
	char *text;
	struct load load;
};

static struct shape shapes[] = {
	{ .listeners = 1 },
	{ .listeners = 16 },
	{ .listeners = 250 },
	{ .listeners = 1, .sources = 10 },
	{ .listeners = 1, .sources = 1000 },
	{ .listeners = 1, .sources = 100000 },
};

static void write_shape(FILE *file, const struct shape *shape)
{
	fprintf(file, "interfaces: {lo: {}}\n"
		      "rate_limiters:\n"
		      "  a: {limit: 600, window: 1m}\n"
		      "listeners:\n");
	for (unsigned int i = 0; i < shape->listeners; i++)
		fprintf(file, "  l%u: {protocol: tcp, ports: [%u], rate_limiter_name: a%s", i,
			1000 + i, i + 1 < shape->listeners || !shape->sources ? "}\n" : "");
	if (!shape->sources)
		return;
	fprintf(file, ", sources: {\n");
	for (unsigned int i = 0; i < shape->sources; i++)
		fprintf(file, "    10.%u.%u.%u/32: none%s\n", i >> 16, i >> 8 & 255, i & 255,
			i + 1 < shape->sources ? "," : "");
	fprintf(file, "  }}\n");
}

static int shape_load(struct shape *shape)
{
	size_t size;
	FILE *file = open_memstream(&shape->text, &size);

	if (!file)
		return -errno;
	write_shape(file, shape);
	if (fclose(file) != 0)
		return -errno;
	return load_config(shape->text, NULL, &shape->load);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* this clock is always there */
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int measure_reload(struct bench_row *row, double *ret_values)
{
	const struct shape *shape = row->context;
	autoload struct load next = {};
	double began, cpu;
	int result;

	began = now_ms();
	result = load_check(shape->text);
	if (result)
		return result;
	ret_values[2] = now_ms() - began;
	began = now_ms();
	cpu = bench_cpu_ns();
	result = load_config(shape->text, &shape->load, &next);
	ret_values[0] = now_ms() - began;
	ret_values[1] = (bench_cpu_ns() - cpu) / 1e6;
	return result;
}

static int tell_reloads(void)
{
	static struct bench bench = {
		.section = "growth-reload",
		.title = "A reload, by the size of the policy",
		.columns = { "ms", "CPU ms", "text ms" },
		.rounds = 7,
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shapes) && result == 0; i++) {
		struct shape *shape = &shapes[i];

		result = shape_load(shape);
		if (shape->sources)
			bench_add(&bench, measure_reload, shape, "1 listener, %u sources",
				  shape->sources);
		else
			bench_add(&bench, measure_reload, shape, "%u listener%s", shape->listeners,
				  shape->listeners == 1 ? "" : "s");
	}
	if (result == 0)
		result = bench_run(&bench) || bench_end(&bench);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		load_release(&shapes[i].load);
		free(shapes[i].text);
	}
	return result;
}

int main(void)
{
	int result = tell_clients();

	if (result == 0)
		result = tell_reloads();
	if (result < 0)
		fprintf(stderr, "growth: %s\n", strerror(-result));
	return result ? 1 : 0;
}
