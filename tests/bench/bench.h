/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frame of every measurement. A benchmark adds rows to a table; all rows are measured once a
 * round, each round from another row on, so that what the machine does besides hits all of them
 * alike. What is told of a row are medians over the rounds, and of the first column also the least
 * and the tenth and ninetieth percentile. Differences and ratios between rows are taken within each
 * round, and then their median: what slows the machine down for a while slows both sides. A table
 * is printed, and put as a section into the file that all benchmarks share (BENCH_JSON in the
 * environment, build/bench.json otherwise).
 *
 *	static struct bench bench = {
 *		.section = "flood", .title = "A flood of SYNs through veth",
 *		.columns = { "ns/packet", "packets/s" }, .ratios = { "of XDP drop" }, .rounds = 9,
 *	};
 *	drop = bench_add(&bench, measure_flood, &drop_setup, "XDP drop");
 *	stile = bench_add(&bench, measure_flood, &stile_setup, "Stile");
 *	stile->beside[0] = drop;
 *	return bench_run(&bench) || bench_end(&bench);
 */
#ifndef STILE_BENCH_H
#define STILE_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_COLUMNS 6
#define BENCH_RATIOS 3
#define BENCH_ROUNDS 40 /* at most */
#define BENCH_ROWS 100
#define BENCH_NAME 48
#define BENCH_REASON 120

struct bench_row {
	char name[BENCH_NAME];
	const char *group; /* a heading over the rows that have it in common, or NULL */
	/*
	 * Takes one sample: a number for each of the table's columns; NAN: none. 0; what
	 * bench_skip() returns; or a negative errno, which ends the benchmark.
	 */
	int (*measure)(struct bench_row *row, double *ret_values);
	void *context;		       /* for measure() */
	const struct bench_row *floor; /* its first column is taken off: "net". NULL: nothing is */
	const struct bench_row *beside[BENCH_RATIOS]; /* the rows that the ratios are to, or NULL */
	double most;				      /* the bar for the net; 0: none */
	double most_of[BENCH_RATIOS];		      /* the bars for the ratios; 0: none */
	/* Kept by the frame. */
	bool skipped;
	char reason[BENCH_REASON];
	double samples[BENCH_COLUMNS][BENCH_ROUNDS];
};

struct bench {
	const char *section; /* its name in the file */
	const char *title;
	const char *columns[BENCH_COLUMNS]; /* what each is, with its unit; NULL: no more */
	const char *ratios[BENCH_RATIOS];   /* titles of the ratios' columns; NULL: no more */
	int rounds;  /* at most BENCH_ROUNDS; BENCH_ROUNDS in the environment may lower it */
	int warmups; /* rounds before those, which do not count */
	struct bench_row rows[BENCH_ROWS];
	int n_rows;
};

/* A new row, named as printf() would; valid as long as the table. */
struct bench_row *bench_add(struct bench *bench,
			    int (*measure)(struct bench_row *row, double *ret_values),
			    void *context, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* @row cannot be measured here, and why. Returns a positive number. */
int bench_skip(struct bench_row *row, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* No two benchmarks measure at the same time; bench_run() waits too. */
void bench_wait_turn(void);

/* Measures every row, round after round. 0, or -errno, which it has told on stderr. */
int bench_run(struct bench *bench);

/* Of one column: the least where @share is 0, the median where it is 0.5. NAN: no samples. */
double bench_quantile(const struct bench_row *row, int column, double share);

/* The first column less its floor's: the median over the rounds. */
double bench_net(const struct bench_row *row);

/* Its net as a multiple of the net of the row that is beside it: likewise. */
double bench_ratio(const struct bench_row *row, int i);

/* How many rounds count. */
int bench_rounds(const struct bench *bench);

/* Prints the table, and puts it into the file in the place of its section. 0 or -errno. */
int bench_end(const struct bench *bench);

/* CPU time of the calling thread, ns. */
double bench_cpu_ns(void);

#endif /* STILE_BENCH_H */
