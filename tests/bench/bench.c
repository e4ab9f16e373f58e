/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows, rounds, and what is told of them. A sample that took part in no round is NAN, and so is
 * whatever would be made of it.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define STRIDE 7 /* rows that the next round begins further on; few tables have a multiple of it */

struct bench_row *bench_add(struct bench *bench,
			    int (*measure)(struct bench_row *row, double *ret_values),
			    void *context, const char *format, ...)
{
	struct bench_row *row;
	va_list arguments;

	if (bench->n_rows == BENCH_ROWS) {
		fprintf(stderr, "%s: more than %d rows\n", bench->section, BENCH_ROWS);
		abort();
	}
	row = &bench->rows[bench->n_rows++];
	va_start(arguments, format);
	vsnprintf(row->name, sizeof(row->name), format, arguments);
	va_end(arguments);
	row->measure = measure;
	row->context = context;
	for (int column = 0; column < BENCH_COLUMNS; column++)
		for (int i = 0; i < BENCH_ROUNDS; i++)
			row->samples[column][i] = NAN;
	return row;
}

int bench_skip(struct bench_row *row, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(row->reason, sizeof(row->reason), format, arguments);
	va_end(arguments);
	row->skipped = true;
	return 1;
}

int bench_rounds(const struct bench *bench)
{
	const char *text = getenv("BENCH_ROUNDS");
	int rounds = text ? atoi(text) : BENCH_ROUNDS;

	if (rounds < 1 || rounds > bench->rounds)
		rounds = bench->rounds;
	return rounds > BENCH_ROUNDS ? BENCH_ROUNDS : rounds;
}

/* Round @round of @row; one that is negative does not count. */
static int measure(struct bench_row *row, int round)
{
	double values[BENCH_COLUMNS];
	int result;

	for (int column = 0; column < BENCH_COLUMNS; column++)
		values[column] = NAN;
	result = row->measure(row, values);
	if (result || round < 0)
		return result;
	for (int column = 0; column < BENCH_COLUMNS; column++)
		row->samples[column][round] = values[column];
	return 0;
}

/* On a terminal only; no rounds: nothing more. */
static void show_progress(const struct bench *bench, int round, int rounds)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (rounds)
		fprintf(stderr, "\r%s: round %d of %d ", bench->section, round, rounds);
	else
		fprintf(stderr, "\r\033[K"); /* ECMA-48: erase in line */
}

void bench_wait_turn(void)
{
	static int fd = -1;

	if (fd >= 0)
		return;
	fd = open("/run/stile-bench.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return;
	fprintf(stderr, "waiting for another benchmark to end\n");
	(void)flock(fd, LOCK_EX); /* at worst, the two disturb each other */
}

int bench_run(struct bench *bench)
{
	int rounds = bench_rounds(bench), result;

	bench_wait_turn();
	for (int round = -bench->warmups; round < rounds; round++) {
		for (int i = 0; i < bench->n_rows; i++) {
			int at = (i + (round + bench->warmups) * STRIDE) % bench->n_rows;
			struct bench_row *row = &bench->rows[at];

			result = row->skipped ? 0 : measure(row, round);
			if (result < 0) {
				fprintf(stderr, "%s: %s: %s\n", bench->section, row->name,
					strerror(-result));
				return result;
			}
		}
		show_progress(bench, round + 1, rounds);
	}
	show_progress(bench, 0, 0);
	return 0;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Of the values that are numbers; it sorts them. */
static double quantile(double *values, int n_values, double share)
{
	int n = 0, below;
	double at;

	for (int i = 0; i < n_values; i++) {
		if (!isnan(values[i]))
			values[n++] = values[i];
	}
	if (n == 0)
		return NAN;
	qsort(values, (size_t)n, sizeof(values[0]), compare);
	at = share * (n - 1);
	below = (int)at;
	if (below == n - 1)
		return values[below];
	return values[below] + (values[below + 1] - values[below]) * (at - below);
}

double bench_quantile(const struct bench_row *row, int column, double share)
{
	double values[BENCH_ROUNDS];

	memcpy(values, row->samples[column], sizeof(values));
	return quantile(values, BENCH_ROUNDS, share);
}

static double net_of_round(const struct bench_row *row, int round)
{
	double net = row->samples[0][round];

	return row->floor ? net - row->floor->samples[0][round] : net;
}

double bench_net(const struct bench_row *row)
{
	double values[BENCH_ROUNDS];

	for (int round = 0; round < BENCH_ROUNDS; round++)
		values[round] = net_of_round(row, round);
	return quantile(values, BENCH_ROUNDS, 0.5);
}

double bench_ratio(const struct bench_row *row, int i)
{
	double values[BENCH_ROUNDS];

	if (!row->beside[i])
		return NAN;
	for (int round = 0; round < BENCH_ROUNDS; round++)
		values[round] = net_of_round(row, round) / net_of_round(row->beside[i], round);
	return quantile(values, BENCH_ROUNDS, 0.5);
}

double bench_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* this clock is always there */
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
