/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What remembering a client costs in memory, in tables that are built for as many clients as then
 * come, one event each, none of which is as good as new meanwhile. BPF maps tell what they take;
 * of the kernel's own filters it is what slabs and vmalloc grew by, in a network namespace where
 * nothing else happens, but on a machine where something may.
 */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>

#include "drive.h"
#include "forge.h"
#include "key.h"
#include "load.h"
#include "loader.h"
#include "lru.h"
#include "util.h"

#define BAR 48 /* bytes a client, of the most clients */

/* Memory stands still when it changed by less in a number of looks, one after the other. */
#define SETTLE_BYTES 65536
#define SETTLE_NS 50000000
#define SETTLE_STILL 4
#define SETTLE_MAX 100

static const uint32_t numbers[] = { 100000, 1000000 };

static const struct pkt_spec syn = { .dport = 80 };

/* One event of each of @n clients. */
static int fill(int program, uint32_t n)
{
	const struct drive_plan plan = {
		.spec = &syn,
		.sources = DRIVER_TURN,
		.clients = n,
		.repeat = n,
	};
	struct drive *drive;
	double ns;
	int result = drive_new(0, &drive);

	if (result == 0) {
		result = drive_run(drive, program, &plan, &ns);
		drive_free(drive);
	}
	return result;
}

static int load_limiter(uint32_t n, struct load *ret_load)
{
	char config[512];

	snprintf(config, sizeof(config),
		 "interfaces: {lo: {}}\n"
		 "rate_limiters:\n"
		 "  a: {algorithm: token_bucket, limit: 1, window: 1h, max_keys: %u}\n"
		 "listeners:\n"
		 "  web: {protocol: tcp, ports: [80], rate_limiter_name: a}\n",
		 n);
	return load_config(config, NULL, ret_load);
}

/* @resident: clients that are still there afterwards; NAN where it cannot be told. */
static void tell(double *values, double bytes, double resident, uint32_t n)
{
	values[0] = bytes / (isnan(resident) ? n : resident);
	values[1] = 100 * resident / n;
	values[2] = bytes / 1e6;
}

static int measure_stile(struct bench_row *row, double *ret_values)
{
	const uint32_t n = *(const uint32_t *)row->context;
	autoload struct load load = {};
	struct stile_set *sets;
	uint32_t resident = 0;
	size_t size;
	int table, result = load_limiter(n, &load);

	if (result == 0)
		result = fill(loader_program(load.loader), n);
	if (result)
		return result;
	table = load_map(&load, "limiter-a");
	size = (size_t)load.policy.kernel.limiters[1].sets * sizeof(*sets);
	sets = mmap(NULL, size, PROT_READ, MAP_SHARED, table, 0);
	if (sets == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < size / sizeof(*sets); i++)
		for (int way = 0; way < STILE_SET_WAYS; way++)
			resident += sets[i].state[way] != 0;
	munmap(sets, size); /* cannot fail: it is the mapping */
	tell(ret_values, (double)load_map_bytes(table), resident, n);
	return 0;
}

static int measure_lru(struct bench_row *row, double *ret_values)
{
	const uint32_t n = *(const uint32_t *)row->context;
	autoload struct load load = {};
	autolru struct lru lru = {};
	struct key key, *last = NULL;
	uint32_t resident = 0;
	int result = load_limiter(n, &load);

	if (result == 0)
		result = lru_load(&load, n, &lru);
	if (result == 0)
		result = fill(lru_program(&lru), n);
	if (result)
		return result;
	for (; bpf_map_get_next_key(lru_map(&lru), last, &key) == 0; last = &key)
		resident++;
	tell(ret_values, (double)load_map_bytes(lru_map(&lru)), resident, n);
	return 0;
}

/* Bytes of the kernel's memory that filters are kept in; NAN: it cannot be told. */
static double kernel_memory(void)
{
	autofile FILE *file = fopen("/proc/meminfo", "re");
	double total = NAN, kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "SUnreclaim: %lf", &kib) == 1) /* NOLINT(cert-err34-c) */
			total = kib * 1024;
		else if (sscanf(line, "VmallocUsed: %lf", &kib) == 1) /* NOLINT(cert-err34-c) */
			total += kib * 1024;
	}
	return total;
}

/* The same, once it stands still: what was given up before is freed only after a while. */
static double settled_memory(void)
{
	const struct timespec pause = { .tv_nsec = SETTLE_NS };
	double last = kernel_memory(), now = last;

	for (int still = 0, i = 0; still < SETTLE_STILL && i < SETTLE_MAX; i++) {
		nanosleep(&pause, NULL);
		now = kernel_memory();
		still = fabs(now - last) < SETTLE_BYTES ? still + 1 : 0;
		last = now;
	}
	return now;
}

static int count_hashlimit(double *ret_number)
{
	return forge_count_hashlimit("bench", ret_number);
}

static int count_set(double *ret_number)
{
	return forge_count_set("bench", "seen", ret_number);
}

/* A filter of the kernel's own: shell commands that add and remove it, and its entries. */
struct filter {
	const char *name, *tool;
	const char *add; /* %1$u: clients that it is built for */
	const char *remove;
	int (*count)(double *ret_number);
};

static const struct filter filters[] = {
	{
		"iptables hashlimit",
		"iptables-legacy",
		"iptables-legacy -t raw -A PREROUTING -p tcp --syn -m hashlimit"
		" --hashlimit-name bench --hashlimit-mode srcip --hashlimit-above 1/hour"
		" --hashlimit-burst 1 --hashlimit-htable-size %1$u --hashlimit-htable-max %1$u"
		" --hashlimit-htable-expire 3600000 -j DROP",
		"iptables-legacy -t raw -F",
		count_hashlimit,
	},
	{
		"nftables, a dynamic set",
		"nft",
		"nft 'add table ip bench;"
		" add set ip bench seen { type ipv4_addr; flags dynamic,timeout; size %1$u;"
		" timeout 1h; };"
		" add chain ip bench in { type filter hook prerouting priority raw; };"
		" add rule ip bench in tcp dport 80 update @seen"
		" { ip saddr limit rate over 1/hour } drop'",
		"nft delete table ip bench",
		count_set,
	},
};

struct filter_row {
	const struct filter *filter;
	uint32_t n;
};

static int command(const char *text)
{
	return system(text) == 0 ? 0 : -EIO; /* NOLINT(cert-env33-c): a benchmark's own text */
}

static int measure_filter(struct bench_row *row, double *ret_values)
{
	const struct filter_row *what = row->context;
	const struct filter *filter = what->filter;
	double before = settled_memory(), after, resident = 0;
	char text[512];
	int result;

	snprintf(text, sizeof(text), filter->add, what->n);
	if (command(text) < 0)
		return bench_skip(row, "this kernel has no such rule");
	result = forge_syns(what->n);
	after = settled_memory();
	if (result == 0)
		result = filter->count(&resident);
	if (command(filter->remove) < 0 && result == 0)
		result = -EIO;
	if (result == 0)
		tell(ret_values, after - before, resident, what->n);
	return result;
}

static struct bench_row *add_filter(struct bench *bench, const struct filter *filter, uint32_t n)
{
	static struct filter_row rows[BENCH_ROWS];
	struct filter_row *what = &rows[bench->n_rows];
	struct bench_row *row;
	char text[64];

	*what = (struct filter_row){ filter, n };
	row = bench_add(bench, measure_filter, what, "%s", filter->name);
	snprintf(text, sizeof(text), "command -v %s >/dev/null", filter->tool);
	if (command(text) < 0)
		bench_skip(row, "there is no %s", filter->tool);
	return row;
}

static void add_rows(struct bench *bench, const uint32_t *n, const char *group)
{
	struct bench_row *stile, *lru, *row;
	int first = bench->n_rows;

	stile = bench_add(bench, measure_stile, (void *)n, "Stile");
	stile->most = *n == 1000000 ? BAR : 0;
	lru = bench_add(bench, measure_lru, (void *)n, "LRU hash");
	stile->beside[0] = lru;
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		row = add_filter(bench, &filters[i], *n);
		row->beside[0] = lru;
	}
	for (int i = first; i < bench->n_rows; i++)
		bench->rows[i].group = group;
}

int main(void)
{
	static struct bench bench = {
		.section = "memory",
		.title = "Memory of a client that is remembered",
		.columns = { "bytes", "% kept", "MB" },
		.ratios = { "of LRU" },
		.rounds = 3,
	};
	int result = forge_namespace();

	if (result) {
		fprintf(stderr, "memory: a network namespace: %s\n", strerror(-result));
		return 1;
	}
	add_rows(&bench, &numbers[0], "100 000 clients");
	add_rows(&bench, &numbers[1], "1 000 000 clients");
	return bench_run(&bench) || bench_end(&bench) ? 1 : 0;
}
