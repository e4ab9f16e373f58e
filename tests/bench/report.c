/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A measured table as text for the terminal, and as a section of the file of all benchmarks. The
 * file says of which machine it tells; sections that other benchmarks left there stay.
 */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include <jansson.h>

#include "util.h"

#define CELL 9 /* characters of a number's column, at least */

static const struct {
	const char *name;
	double share;
} quantiles[] = { { "p10", 0.1 }, { "p90", 0.9 }, { "least", 0 } };

static bool has_floor(const struct bench *bench)
{
	for (int i = 0; i < bench->n_rows; i++) {
		if (bench->rows[i].floor)
			return true;
	}
	return false;
}

static void print_title(const char *title)
{
	printf("  %*s", CELL, title);
}

static void print_value(const char *title, double value, int digits)
{
	int width = (int)strlen(title) > CELL ? (int)strlen(title) : CELL;

	if (isnan(value))
		printf("  %*s", width, "-");
	else
		printf("  %*.*f", width, digits, value);
}

/* As many decimals as mean something. */
static int digits_of(double value)
{
	return fabs(value) < 1 ? 3 : fabs(value) < 100 ? 1 : 0;
}

static void print_titles(const struct bench *bench)
{
	printf("%-*s", BENCH_NAME, "");
	for (int i = 0; i < BENCH_COLUMNS && bench->columns[i]; i++) {
		print_title(bench->columns[i]);
		for (size_t q = 0; i == 0 && q < ARRAY_SIZE(quantiles); q++)
			print_title(quantiles[q].name);
		if (i == 0 && has_floor(bench))
			print_title("net");
	}
	for (int i = 0; i < BENCH_RATIOS && bench->ratios[i]; i++)
		print_title(bench->ratios[i]);
	printf("\n");
}

static void print_row(const struct bench *bench, const struct bench_row *row)
{
	double value;

	printf("  %-*s", BENCH_NAME - 2, row->name);
	if (row->skipped) {
		printf("  skipped: %s\n", row->reason);
		return;
	}
	for (int i = 0; i < BENCH_COLUMNS && bench->columns[i]; i++) {
		value = bench_quantile(row, i, 0.5);
		print_value(bench->columns[i], value, digits_of(value));
		for (size_t q = 0; i == 0 && q < ARRAY_SIZE(quantiles); q++)
			print_value("", bench_quantile(row, 0, quantiles[q].share),
				    digits_of(value));
		if (i == 0 && has_floor(bench))
			print_value("", row->floor ? bench_net(row) : NAN, 1);
	}
	for (int i = 0; i < BENCH_RATIOS && bench->ratios[i]; i++)
		print_value(bench->ratios[i], bench_ratio(row, i), 2);
	printf("\n");
}

static void print_bar(const struct bench_row *row, const char *of, double value, double most)
{
	if (most == 0 || isnan(value))
		return;
	printf("  bar: %s%s%s: %.2f %s, at most %.2f: %s\n", row->group ? row->group : "",
	       row->group ? ": " : "", row->name, value, of, most,
	       value <= most ? "met" : "NOT MET");
}

static void print_table(const struct bench *bench)
{
	const char *group = NULL;

	printf("\n%s\n(medians of %d rounds; differences and ratios are taken within a round)\n\n",
	       bench->title, bench_rounds(bench));
	print_titles(bench);
	for (int i = 0; i < bench->n_rows; i++) {
		const struct bench_row *row = &bench->rows[i];

		if (row->group && row->group != group)
			printf("%s\n", row->group);
		group = row->group;
		print_row(bench, row);
	}
	for (int i = 0; i < bench->n_rows; i++) {
		const struct bench_row *row = &bench->rows[i];

		print_bar(row, row->floor ? "net" : bench->columns[0], bench_net(row), row->most);
		for (int k = 0; k < BENCH_RATIOS; k++)
			print_bar(row, bench->ratios[k], bench_ratio(row, k), row->most_of[k]);
	}
	fflush(stdout);
}

static void put_number(json_t *object, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(object, name, json_real(value));
}

static json_t *column_to_json(const struct bench_row *row, int column)
{
	json_t *object = json_object(), *samples = json_array();

	put_number(object, "median", bench_quantile(row, column, 0.5));
	for (size_t q = 0; q < ARRAY_SIZE(quantiles); q++)
		put_number(object, quantiles[q].name,
			   bench_quantile(row, column, quantiles[q].share));
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		if (!isnan(row->samples[column][i]))
			json_array_append_new(samples, json_real(row->samples[column][i]));
	}
	json_object_set_new(object, "samples", samples);
	return object;
}

/* A bar by the name of what it bounds: "net", the column's title, or the ratio's. */
static void put_bar(json_t *bars, const char *name, double value, double most)
{
	json_t *bar;

	if (most == 0 || isnan(value))
		return;
	bar = json_object();
	put_number(bar, "value", value);
	put_number(bar, "most", most);
	json_object_set_new(bar, "met", json_boolean(value <= most));
	json_object_set_new(bars, name, bar);
}

static json_t *row_to_json(const struct bench *bench, const struct bench_row *row)
{
	json_t *object = json_object(), *ratios = json_object(), *bars = json_object();

	if (row->group)
		json_object_set_new(object, "group", json_string(row->group));
	json_object_set_new(object, "name", json_string(row->name));
	if (row->skipped) {
		json_object_set_new(object, "skipped", json_string(row->reason));
		json_decref(ratios);
		json_decref(bars);
		return object;
	}
	for (int i = 0; i < BENCH_COLUMNS && bench->columns[i]; i++)
		json_object_set_new(object, bench->columns[i], column_to_json(row, i));
	if (row->floor)
		put_number(object, "net", bench_net(row));
	put_bar(bars, row->floor ? "net" : bench->columns[0], bench_net(row), row->most);
	for (int i = 0; i < BENCH_RATIOS && bench->ratios[i]; i++) {
		put_number(ratios, bench->ratios[i], bench_ratio(row, i));
		put_bar(bars, bench->ratios[i], bench_ratio(row, i), row->most_of[i]);
	}
	json_object_set_new(object, "ratios", ratios);
	json_object_set_new(object, "bars", bars);
	return object;
}

static json_t *titles_to_json(const char *const *titles, int most)
{
	json_t *array = json_array();

	for (int i = 0; i < most && titles[i]; i++)
		json_array_append_new(array, json_string(titles[i]));
	return array;
}

static json_t *table_to_json(const struct bench *bench)
{
	json_t *object = json_object(), *rows = json_array();

	json_object_set_new(object, "title", json_string(bench->title));
	json_object_set_new(object, "columns", titles_to_json(bench->columns, BENCH_COLUMNS));
	json_object_set_new(object, "ratios", titles_to_json(bench->ratios, BENCH_RATIOS));
	json_object_set_new(object, "rounds", json_integer(bench_rounds(bench)));
	for (int i = 0; i < bench->n_rows; i++)
		json_array_append_new(rows, row_to_json(bench, &bench->rows[i]));
	json_object_set_new(object, "rows", rows);
	return object;
}

/* The first "model name" of /proc/cpuinfo. */
static void processor(char *text, size_t size)
{
	autofile FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(text, size, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "model name", strlen("model name")) != 0 || !strchr(line, ':'))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, size, "%s", strchr(line, ':') + 2);
		return;
	}
}

static json_t *machine_to_json(void)
{
	json_t *object = json_object();
	struct utsname names;
	struct sysinfo info;
	char text[160], when[32];
	time_t now = time(NULL);
	struct tm calendar;

	processor(text, sizeof(text));
	json_object_set_new(object, "processor", json_string(text));
	json_object_set_new(object, "cpus", json_integer(get_nprocs()));
	if (uname(&names) == 0) {
		snprintf(text, sizeof(text), "%s %s", names.sysname, names.release);
		json_object_set_new(object, "kernel", json_string(text));
	}
	if (sysinfo(&info) == 0)
		json_object_set_new(object, "memory",
				    json_integer((json_int_t)info.totalram * info.mem_unit));
	if (gmtime_r(&now, &calendar) && strftime(when, sizeof(when), "%FT%TZ", &calendar) > 0)
		json_object_set_new(object, "when", json_string(when));
	return object;
}

static int save(const struct bench *bench)
{
	const char *path = getenv("BENCH_JSON");
	json_t *file, *sections;
	int result;

	if (!path)
		path = "build/bench.json";
	file = json_load_file(path, 0, NULL);
	if (!json_is_object(file)) {
		json_decref(file);
		file = json_object();
	}
	sections = json_object_get(file, "sections");
	if (!json_is_object(sections)) {
		sections = json_object();
		json_object_set_new(file, "sections", sections);
	}
	json_object_set_new(file, "machine", machine_to_json());
	json_object_set_new(sections, bench->section, table_to_json(bench));
	result = json_dump_file(file, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) ? -EIO : 0;
	json_decref(file);
	if (result)
		fprintf(stderr, "write '%s': it cannot be written\n", path);
	return result;
}

int bench_end(const struct bench *bench)
{
	print_table(bench);
	return save(bench);
}
