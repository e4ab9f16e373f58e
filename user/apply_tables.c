/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A second pass right before the swap takes a moment where the first one had to write every bucket;
 * what is admitted in that moment is all that the catching up has left to do. A process that is
 * killed between the two forgets it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>

#include "apply_tables.h"
#include "snapshot_maps.h"
#include "snapshot_table.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

static size_t size_of(const struct stile_limiter *limiter)
{
	return (size_t)limiter->sets * sizeof(struct stile_set);
}

/* The table's fd; -EPROTO where it is not of the limiter's size. */
static int open_table(const struct pins *pins, uint64_t generation,
		      const struct stile_limiter *limiter, uint32_t *ret_id)
{
	char name[sizeof("limiter-") + STILE_NAME_SIZE];
	const struct snapshot_shape shape = { name, sizeof(__u32), sizeof(struct stile_set) };
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	autofd int fd = -1;

	snprintf(name, sizeof(name), "limiter-%.*s", STILE_NAME_SIZE, limiter->name);
	fd = snapshot_maps_open(pins, generation, &shape);
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.max_entries != limiter->sets)
		return -EPROTO;
	*ret_id = info.id;
	return take_fd(&fd);
}

static int map_table(int fd, const struct stile_limiter *limiter, int protection, void **ret_sets)
{
	void *sets = mmap(NULL, size_of(limiter), protection, MAP_SHARED, fd, 0);

	if (sets == MAP_FAILED)
		return -errno;
	*ret_sets = sets;
	return 0;
}

static void table_release(struct apply_table *table)
{
	struct carry *carry = &table->carry;

	/* Only a wrong size could fail. */
	if (carry->from)
		(void)munmap((void *)carry->from, size_of(carry->before));
	if (carry->to)
		(void)munmap(carry->to, size_of(carry->now));
	free(carry->seen);
	fd_release(&table->fd);
	*table = (struct apply_table){ .fd = -1 };
}

#define autotable __attribute__((cleanup(table_release)))

static int map_both(struct apply_table *table, int before, int now)
{
	struct carry *carry = &table->carry;
	void *from = NULL;
	int error;

	error = map_table(before, carry->before, PROT_READ, &from);
	if (error)
		return error;
	carry->from = from;
	error = map_table(now, carry->now, PROT_READ | PROT_WRITE, &carry->to);
	if (error)
		return error;
	carry->seen = aligned_alloc(sizeof(struct stile_set), size_of(carry->before));
	if (!carry->seen)
		return -ENOMEM;
	memset(carry->seen, 0, size_of(carry->before));
	return 0;
}

/* A limiter that starts empty has a secret of its own, and one whose table is kept, that table. */
static int add_table(const struct pins *pins, const struct stile_policy *now, uint32_t slot,
		     struct apply_tables *tables)
{
	const struct stile_limiter *next = &now->limiters[slot];
	const struct stile_limiter *last = &tables->before->limiters[slot];
	autotable struct apply_table table = { .fd = -1 };
	__u32 before_id = 0, now_id = 0;
	autofd int before = -1;
	int error;

	if (next->sets == 0 || strcmp(last->name, next->name) != 0 ||
	    memcmp(last->seed, next->seed, sizeof(last->seed)) != 0)
		return 0;
	before = open_table(pins, tables->before->generation, last, &before_id);
	if (before < 0)
		return before;
	table.slot = slot;
	table.fd = open_table(pins, now->generation, next, &now_id);
	if (table.fd < 0)
		return table.fd;
	if (before_id == now_id)
		return 0;
	table.carry.before = last;
	table.carry.now = next;
	error = map_both(&table, before, table.fd);
	if (error)
		return error;
	tables->tables[tables->n_tables++] = table;
	table = (struct apply_table){ .fd = -1 };
	return 0;
}

int apply_tables_open(const struct pins *pins, const struct stile_policy *before,
		      const struct stile_policy *now, struct apply_tables *ret_tables)
{
	const struct snapshot_shape shape = { "limiters", sizeof(__u32), sizeof(__u32) };
	int error = 0;

	*ret_tables = (struct apply_tables){ .before = before, .outer = -1 };
	if (before->generation == 0)
		return 0;
	for (uint32_t slot = 1; slot < STILE_LIMITERS_MAX && error == 0; slot++)
		error = add_table(pins, now, slot, ret_tables);
	if (error || ret_tables->n_tables == 0)
		return error;
	ret_tables->outer = snapshot_maps_open(pins, now->generation, &shape);
	return ret_tables->outer < 0 ? ret_tables->outer : 0;
}

static uint64_t clock_of(const struct apply_tables *tables, const struct apply_table *table)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	return snapshot_table_clock(tables->before, table->carry.before,
				    (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

void apply_tables_fill(struct apply_tables *tables)
{
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned int i = 0; i < tables->n_tables; i++) {
			struct apply_table *table = &tables->tables[i];

			table->lost += carry_fill(&table->carry, clock_of(tables, table));
		}
	}
}

static void catch_up(struct apply_tables *tables)
{
	for (unsigned int i = 0; i < tables->n_tables; i++) {
		struct apply_table *table = &tables->tables[i];

		/* A client that has no bucket yet was new a moment ago, and did not come back. */
		(void)carry_catch_up(&table->carry, clock_of(tables, table));
	}
}

/*
 * A map of maps is not changed before every program that may have seen it as it was has ended
 * (maybe_wait_bpf_programs in the kernel's bpf/syscall.c). Here it is changed to what it is.
 */
static void wait_for_programs(const struct apply_tables *tables)
{
	const struct apply_table *table = &tables->tables[0];

	/* Where it fails, the pass that follows may miss an event or two. */
	(void)bpf_map_update_elem(tables->outer, &table->slot, &table->fd, BPF_ANY);
}

void apply_tables_catch_up(struct apply_tables *tables)
{
	if (tables->n_tables == 0)
		return;
	catch_up(tables);
	wait_for_programs(tables);
	catch_up(tables);
}

void apply_tables_warn(const struct apply_tables *tables, struct diag *diag)
{
	for (unsigned int i = 0; i < tables->n_tables; i++) {
		const struct apply_table *table = &tables->tables[i];

		if (table->lost)
			diag_warning(diag, nowhere,
				     "%zu clients of '%s' found no room in its table of now: what "
				     "they have used is forgotten",
				     table->lost, table->carry.now->name);
	}
}

void apply_tables_release(struct apply_tables *tables)
{
	for (unsigned int i = 0; i < tables->n_tables; i++)
		table_release(&tables->tables[i]);
	if (tables->n_tables)
		fd_release(&tables->outer);
	tables->n_tables = 0;
}
