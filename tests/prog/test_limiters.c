/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each algorithm admits, at moments that the test chooses. */
#include <stdio.h>
#include <time.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define STEPS 6
#define MSEC (NSEC_PER_SEC / 1000)

static const struct row {
	const char *what;
	const char *limiter;
	struct {
		uint64_t at; /* ms from the start of a window */
		unsigned int sent, admitted;
	} steps[STEPS];
} rows[] = {
	{ "sliding_window: the limit, and no more",
	  "algorithm: sliding_window, limit: 10, window: 10s",
	  { { 0, 30, 10 }, { 9999, 30, 0 } } },
	{ "sliding_window: the window before weighs what is left of it",
	  "algorithm: sliding_window, limit: 10, window: 10s",
	  { { 0, 10, 10 }, { 10000, 10, 0 }, { 11000, 10, 1 }, { 15000, 9, 4 }, { 19999, 9, 4 } } },
	{ "sliding_window: two windows later all is forgotten",
	  "algorithm: sliding_window, limit: 10, window: 10s",
	  { { 9999, 30, 10 }, { 20000, 30, 10 } } },
	{ "sliding_window: a fraction of an event is none",
	  "algorithm: sliding_window, limit: 3, window: 10s",
	  { { 0, 3, 3 }, { 13333, 1, 0 }, { 13334, 2, 1 } } },
	{ "sliding_window is what stands there if nothing does",
	  "limit: 600, window: 1m",
	  { { 0, 700, 600 }, { 90000, 700, 300 } } },
	{ "sliding_window: a single event in an hour",
	  "limit: 1, window: 1h",
	  { { 0, 3, 1 }, { 90000, 3, 0 }, { 7199999, 3, 0 }, { 7200000, 3, 1 } } },
	{ "fixed_window: the limit in each",
	  "algorithm: fixed_window, limit: 10, window: 10s",
	  { { 0, 5, 5 }, { 9999, 30, 5 }, { 10000, 30, 10 }, { 20000, 30, 10 } } },
	{ "token_bucket: the burst, then a token at a time, and never more than the burst",
	  "algorithm: token_bucket, limit: 10, window: 100s, burst: 3",
	  { { 0, 10, 3 },
	    { 9999, 10, 0 },
	    { 10000, 10, 1 },
	    { 19999, 10, 0 },
	    { 20000, 10, 1 },
	    { 90000, 10, 3 } } },
	{ "token_bucket: the burst is the limit if there is none",
	  "algorithm: token_bucket, limit: 20, window: 20s",
	  { { 0, 50, 20 }, { 10000, 50, 10 }, { 90000, 50, 20 } } },
	{ "count lets all pass", "limit: 10, window: 10s, action: count", { { 0, 30, 30 } } },
};

/* One configuration for all rows, a limiter and a port for each. */
static void write_config(char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size, "rate_limiters:\n");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		length += (size_t)snprintf(text + length, size - length,
					   "  l%zu: {max_keys: 8, %s}\n", i, rows[i].limiter);
	length += (size_t)snprintf(text + length, size - length, "listeners:\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		length += (size_t)snprintf(
			text + length, size - length,
			"  at%zu: {protocol: tcp, ports: [%zu], rate_limiter_name: l%zu}\n", i,
			i + 1, i);
}

static void send_step(struct prog *prog, size_t row, size_t step)
{
	const struct pkt_spec spec = { .dport = (uint16_t)(row + 1) };
	char what[160];

	snprintf(what, sizeof(what), "%s, at %llu ms", rows[row].what,
		 (unsigned long long)rows[row].steps[step].at);
	CHECK_EQ(what, prog_passing(prog, &spec, rows[row].steps[step].sent),
		 rows[row].steps[step].admitted);
}

/* The earliest moment of all next steps; UINT64_MAX after the last. */
static uint64_t next_moment(const size_t next[ARRAY_SIZE(rows)])
{
	uint64_t moment = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (next[i] < STEPS && rows[i].steps[next[i]].sent &&
		    rows[i].steps[next[i]].at < moment)
			moment = rows[i].steps[next[i]].at;
	return moment;
}

/* All rows go through time together. */
static void test_algorithms(void)
{
	size_t next[ARRAY_SIZE(rows)] = { 0 };
	autoprog struct prog prog = {};
	char config[PROG_CONFIG_SIZE];
	uint64_t moment;

	write_config(config, sizeof(config));
	while ((moment = next_moment(next)) != UINT64_MAX) {
		if (!prog_load(&prog, config, PROG_NOW + moment * MSEC))
			return;
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			if (next[i] < STEPS && rows[i].steps[next[i]].sent &&
			    rows[i].steps[next[i]].at == moment)
				send_step(&prog, i, next[i]++);
	}
}

/* Under count an event over the limit is recorded, so that it weighs in the next window. */
static void test_count_records(void)
{
	static const char config[] = "rate_limiters: {l: {limit: 10, window: 10s, action: count}}\n"
				     "listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_EQ("all pass", prog_passing(&prog, &(struct pkt_spec){}, 40), 40);
	if (!prog_move(&prog, PROG_NOW + 17 * NSEC_PER_SEC))
		return;
	CHECK_STR_EQ("30 % of 40 are over the limit", prog_send(&prog, &(struct pkt_spec){}),
		     "pass counted web/l=counted");
	if (!prog_move(&prog, PROG_NOW + 18 * NSEC_PER_SEC))
		return;
	CHECK_STR_EQ("20 % of them and that one are not", prog_send(&prog, &(struct pkt_spec){}),
		     "pass allowed web/l=allowed");
}

/* A limit that is lowered in the middle of an attack hands nobody a fresh burst. */
static void test_reload(void)
{
	static const char before[] = "rate_limiters: {l: {limit: 10, window: 1h}}\n"
				     "listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n";
	static const char lower[] = "rate_limiters: {l: {limit: 5, window: 1h}}\n"
				    "listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n";
	static const char higher[] = "rate_limiters: {l: {limit: 12, window: 1h}}\n"
				     "listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n";
	autoprog struct prog prog = {};

	if (!prog_load(&prog, before, PROG_NOW))
		return;
	CHECK_EQ("seven of ten", prog_passing(&prog, &(struct pkt_spec){}, 7), 7);
	if (!prog_load(&prog, lower, PROG_NOW))
		return;
	CHECK_EQ("are more than five", prog_passing(&prog, &(struct pkt_spec){}, 10), 0);
	if (!prog_load(&prog, higher, PROG_NOW))
		return;
	CHECK_EQ("and leave five of twelve", prog_passing(&prog, &(struct pkt_spec){}, 10), 5);
}

static uint64_t now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail: the clock exists */
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

/*
 * The machine's own clocks: what is admitted over an interval is never more than burst and rate
 * allow, and the bucket does fill again.
 */
static void check_clock(const char *what, const char *config, enum stile_clock clock,
			uint64_t token)
{
	autoprog struct prog prog = {};
	uint64_t begin, end, span;
	unsigned int admitted = 0, sent = 0;

	if (!prog_load_ticking(&prog, config))
		return;
	CHECK_EQ(what, prog.policy.kernel.limiters[prog_limiter(&prog, "l")].clock, clock);
	begin = now();
	do {
		admitted += prog_passing(&prog, &(struct pkt_spec){}, 1);
		sent++;
		end = now();
	} while (admitted < 5 && end - begin < 10 * NSEC_PER_SEC);
	/* A tick clock's answer may come with the tick: as if asked one tick earlier or later. */
	span = end - begin + (clock == STILE_CLOCK_TICK ? prog.policy.kernel.tick : 0);
	CHECK_EQ(what, admitted, 5);
	CHECK("it refused meanwhile", sent > admitted);
	CHECK("it admitted no more than the rate allows", (admitted - 1) * token <= span);
}

static void test_clocks(void)
{
	check_clock(
		"a token of 100 ms, with a burst of one, is for the tick clock",
		"rate_limiters: {l: {algorithm: token_bucket, limit: 10, window: 1s, burst: 1}}\n"
		"listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n",
		STILE_CLOCK_TICK, 100 * MSEC);
	check_clock(
		"a token of 2 ms, with a burst of one, is for the precise clock",
		"rate_limiters: {l: {algorithm: token_bucket, limit: 500, window: 1s, burst: 1}}\n"
		"listeners: {web: {protocol: tcp, rate_limiter_name: l}}\n",
		STILE_CLOCK_PRECISE, 2 * MSEC);
}

CHECK_SUITE(limiters, { "what each algorithm admits", test_algorithms },
	    { "action count records", test_count_records },
	    { "a changed limit keeps the history", test_reload },
	    { "the machine's clocks", test_clocks });
