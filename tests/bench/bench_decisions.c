/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a packet costs in the loaded program: by what becomes of it, by how many clients there are,
 * on one CPU and on two, over IPv4 and IPv6; beside a program that only parses, whose cost is taken
 * off everywhere, and beside the same program with its buckets in the kernel's LRU hash.
 *
 * Every client of a row has its bucket before the first sample. A sample in which not nearly every
 * packet got the decision that its row is about ends the benchmark.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "loader.h"
#include "lru.h"
#include "subject.h"
#include "util.h"

#define CLIENTS_MAX 1000000
#define PACKETS 200000 /* of a sample */
#define FLOOD 3000000  /* new addresses that fill a table before the first sample */

/* What the measurements are held to; ratios are to the LRU hash. */
#define BAR_UNPROTECTED 15
#define BAR_OPEN 25
#define BAR_HOT 25
#define BAR_MANY 0.5
#define BAR_NEW 0.25

/* Ports by what becomes of a SYN there; the limiter has the listener's name. */
static const char config[] =
	"interfaces: {lo: {}}\n"
	"replies_per_second: 10000000\n" /* that every answer is made */
	"rate_limiters:\n"
	"  admit: {algorithm: token_bucket, limit: 10000000, window: 1s, max_keys: 1000000}\n"
	"  drop: {algorithm: token_bucket, limit: 1, window: 1h, action: drop, max_keys: 1000000}\n"
	"  reset: {algorithm: token_bucket, limit: 1, window: 1h, action: reset,\n"
	"          max_keys: 1000000}\n"
	"  new: {algorithm: token_bucket, limit: 10, window: 1s, burst: 20, action: drop,\n"
	"        max_keys: 1000000}\n"
	"  full: {algorithm: token_bucket, limit: 1, window: 1h, action: drop, max_keys: 1000000}\n"
	"  slide: {limit: 1000000, window: 1s, max_keys: 1000000}\n"
	"  slide-drop: {limit: 1, window: 1h, action: drop, max_keys: 1000000}\n"
	"listeners:\n"
	"  admit: {protocol: tcp, ports: [80], rate_limiter_name: admit}\n"
	"  drop: {protocol: tcp, ports: [81], rate_limiter_name: drop}\n"
	"  reset: {protocol: tcp, ports: [82], rate_limiter_name: reset}\n"
	"  new: {protocol: tcp, ports: [83], rate_limiter_name: new}\n"
	"  full: {protocol: tcp, ports: [84], rate_limiter_name: full}\n"
	"  slide: {protocol: tcp, ports: [85], rate_limiter_name: slide}\n"
	"  slide-drop: {protocol: tcp, ports: [86], rate_limiter_name: slide-drop}\n";

#define PORT_FIRST 80
#define PORT_UNPROTECTED 8080

static const struct listener {
	const char *limiter, *what;
	enum stile_decision decision; /* on its packets */
	bool compared;		      /* with the LRU hash, and held to the bars */
} listeners[] = {
	{ "admit", "SYN admitted", STILE_DECISION_ALLOWED, true },
	{ "drop", "SYN refused, dropped", STILE_DECISION_LIMITED, true },
	{ "reset", "SYN refused, RST", STILE_DECISION_LIMITED, true },
	{ "new", "SYN admitted, a flood of new clients", STILE_DECISION_ALLOWED, true },
	{ "full", "The same, in a table where every bucket is live", STILE_DECISION_ALLOWED, true },
	{ "slide", "SYN admitted, sliding window", STILE_DECISION_ALLOWED, false },
	{ "slide-drop", "SYN refused, sliding window", STILE_DECISION_LIMITED, false },
};
#define LISTENERS ARRAY_SIZE(listeners)
#define LISTENER_RESET 2
#define LISTENER_NEW 3
#define LISTENER_FULL 4

static const uint64_t numbers[] = { 1, 1000, 100000, 1000000 };

#define WITH_STILE 0
#define WITH_LRU 1

/* The programs of one address family, and the packets they are given. */
struct family {
	const char *name;
	struct load load;
	struct lru lrus[LISTENERS];
	struct pkt_spec unprotected, open, syns[LISTENERS];
};

static struct drive_plan plan_of(const struct pkt_spec *spec, enum driver_sources sources,
				 uint64_t clients)
{
	struct drive_plan plan = {
		.spec = spec,
		.sources = sources,
		.clients = clients,
		.warmup = clients > 1 ? clients * 2 : 1000,
		.repeat = PACKETS,
	};

	if (plan.warmup > PACKETS)
		plan.warmup = PACKETS;
	return plan;
}

/* SYNs at @listener; without a plan yet. */
static struct subject *syn_subject(const struct stage *stage, int n_cpus, struct family *family,
				   size_t listener, int with)
{
	struct lru *lru = &family->lrus[listener];
	struct subject *subject = subject_new(stage, n_cpus, loader_program(family->load.loader));

	subject->decisions = load_map(&family->load, "decisions");
	if (with == WITH_LRU) {
		subject->program = lru_program(lru);
		subject->decisions = lru_decisions(lru);
	}
	subject->attachment = load_attachment(&family->load, listeners[listener].limiter);
	subject->decision = listeners[listener].decision;
	return subject;
}

/* Rows that are being added. */
struct table {
	struct bench *bench;
	const struct stage *stage;
	struct family *family;
	int n_cpus;
	struct bench_row *floors[_DRIVER_SOURCES_MAX];
};

static void add_floors(struct table *table)
{
	static const char *const names[] = {
		[DRIVER_ONE] = "parse only",
		[DRIVER_RANDOM] = "parse only, many addresses",
		[DRIVER_NEW] = "parse only, every address new",
	};
	int program = drive_parse_program(table->stage->drives[0]);

	for (int sources = 0; sources < _DRIVER_SOURCES_MAX; sources++) {
		struct subject *subject;

		if (!names[sources])
			continue;
		subject = subject_new(table->stage, table->n_cpus, program);
		subject->plan = plan_of(&table->family->open, sources, CLIENTS_MAX);
		table->floors[sources] =
			bench_add(table->bench, subject_measure, subject, "%s", names[sources]);
		table->floors[sources]->group = "the floor";
	}
}

/* A packet that asks no limiter. */
static void add_other(struct table *table, const struct pkt_spec *spec, const char *name,
		      double most)
{
	int program = loader_program(table->family->load.loader);
	struct subject *subject = subject_new(table->stage, table->n_cpus, program);
	struct bench_row *row;

	subject->plan = plan_of(spec, DRIVER_ONE, 1);
	row = bench_add(table->bench, subject_measure, subject, "%s", name);
	row->group = "no limiter is asked";
	row->floor = table->floors[DRIVER_ONE];
	row->most = table->n_cpus == 1 ? most : 0;
}

static struct bench_row *add_syn(struct table *table, size_t listener, int with, uint64_t n)
{
	enum driver_sources sources = n == 0 ? DRIVER_NEW : n == 1 ? DRIVER_ONE : DRIVER_RANDOM;
	struct subject *subject =
		syn_subject(table->stage, table->n_cpus, table->family, listener, with);
	const char *suffix = with == WITH_LRU ? ", LRU hash" : "";
	struct bench_row *row;

	subject->plan = plan_of(&table->family->syns[listener], sources, n);
	if (n == 0)
		row = bench_add(table->bench, subject_measure, subject, "every address new%s",
				suffix);
	else
		row = bench_add(table->bench, subject_measure, subject, "%llu client%s%s",
				(unsigned long long)n, n == 1 ? "" : "s", suffix);
	row->group = listeners[listener].what;
	row->floor = table->floors[sources];
	return row;
}

static void add_pair(struct table *table, size_t listener, uint64_t n)
{
	struct bench_row *stile = add_syn(table, listener, WITH_STILE, n);

	if (!listeners[listener].compared)
		return;
	stile->beside[0] = add_syn(table, listener, WITH_LRU, n);
	if (n == 1 && listener != LISTENER_RESET && table->n_cpus == 1)
		stile->most = BAR_HOT;
	if (n >= 100000)
		stile->most_of[0] = BAR_MANY;
	if (n == 0)
		stile->most_of[0] = BAR_NEW;
}

/* Every client of it is new. */
static bool is_flood(size_t listener)
{
	return listener == LISTENER_NEW || listener == LISTENER_FULL;
}

static void add_rows(struct table *table)
{
	add_floors(table);
	add_other(table, &table->family->unprotected, "unprotected", BAR_UNPROTECTED);
	add_other(table, &table->family->open, "of an open connection", BAR_OPEN);
	for (size_t listener = 0; listener < LISTENERS; listener++) {
		if (is_flood(listener)) {
			add_pair(table, listener, 0);
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			add_pair(table, listener, numbers[i]);
	}
}

/* Gives every client of every limiter its bucket. */
static int fill(const struct stage *stage, struct family *family)
{
	for (size_t listener = 0; listener < LISTENERS; listener++) {
		bool is_new = is_flood(listener);
		const struct drive_plan plan = {
			.spec = &family->syns[listener],
			.sources = is_new ? DRIVER_NEW : DRIVER_TURN,
			.clients = is_new ? 0 : CLIENTS_MAX,
			.repeat = is_new ? FLOOD : CLIENTS_MAX,
		};
		struct lru *lru = &family->lrus[listener];
		double ns;
		int result;

		result = drive_run(stage->drives[0], loader_program(family->load.loader), &plan,
				   &ns);
		if (result == 0 && listeners[listener].compared)
			result = drive_run(stage->drives[0], lru_program(lru), &plan, &ns);
		if (result)
			return result;
	}
	return 0;
}

static int family_load(const struct stage *stage, bool ipv6, struct family *family)
{
	int result;

	family->unprotected = (struct pkt_spec){ .ipv6 = ipv6, .dport = PORT_UNPROTECTED };
	family->open = (struct pkt_spec){ .ipv6 = ipv6, .dport = PORT_FIRST, .flags = PKT_ACK };
	result = load_config(config, NULL, &family->load);
	for (size_t listener = 0; listener < LISTENERS && result == 0; listener++) {
		uint16_t port = (uint16_t)(PORT_FIRST + listener);

		family->syns[listener] = (struct pkt_spec){ .ipv6 = ipv6, .dport = port };
		if (listeners[listener].compared)
			result = lru_load(&family->load, CLIENTS_MAX, &family->lrus[listener]);
	}
	return result ? result : fill(stage, family);
}

static void family_release(struct family *family)
{
	for (size_t listener = 0; listener < LISTENERS; listener++)
		lru_release(&family->lrus[listener]);
	load_release(&family->load);
}

/* One table: one family on one CPU, or on two. */
static int tell(const struct stage *stage, struct family *family, int n_cpus)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct table table = { bench, stage, family, n_cpus, {} };
	char section[32], title[100];
	int result;

	if (!bench)
		return -ENOMEM;
	snprintf(section, sizeof(section), "decisions-%s-%dcpu", family->name, n_cpus);
	snprintf(title, sizeof(title), "A packet in the loaded program, IP%s, %s", family->name,
		 n_cpus == 1 ? "one CPU" : "two CPUs at once, each");
	bench->section = section;
	bench->title = title;
	bench->columns[0] = "ns/packet";
	bench->ratios[0] = "of LRU";
	bench->rounds = n_cpus == 1 ? 11 : 7;
	add_rows(&table);
	if (n_cpus > stage->n_cpus)
		for (int i = 0; i < bench->n_rows; i++)
			bench_skip(&bench->rows[i], "there is one CPU");
	result = bench_run(bench);
	if (result == 0)
		result = bench_end(bench);
	free(bench);
	return result;
}

int main(void)
{
	struct stage stage = {};
	int result = stage_init(&stage);

	for (int ipv6 = 0; ipv6 <= 1 && result == 0; ipv6++) {
		struct family family = { .name = ipv6 ? "v6" : "v4" };

		result = family_load(&stage, ipv6, &family);
		for (int n_cpus = 1; n_cpus <= STAGE_CPUS && result == 0; n_cpus++)
			result = tell(&stage, &family, n_cpus);
		family_release(&family);
	}
	stage_release(&stage);
	if (result)
		fprintf(stderr, "decisions: %s\n", strerror(-result));
	return result ? 1 : 0;
}
