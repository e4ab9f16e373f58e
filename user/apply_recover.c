/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forward is the only way: a generation is whole before the first link gets its program, while the
 * buckets of the one before are not those that are charged any more. Where links were left with
 * both programs, each has charged its own tables since; a client owes the sum.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "apply_links.h"
#include "apply_previous.h"
#include "apply_recover.h"
#include "apply_tables.h"
#include "util.h"

struct recovery {
	const struct pins *pins;
	uint64_t current; /* generation; 0: none is in force */
	uint64_t begun;	  /* the one that some link runs; 0: none */
	bool mixed;	  /* links ran both */
};

/* The pinned program of @generation. Its fd, or negative errno. */
static int open_program(const struct pins *pins, uint64_t generation, uint32_t *ret_id)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path(pins, generation, "xdp", path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	*ret_id = info.id;
	return take_fd(&fd);
}

/* An interface's link, with the program that it runs: 0 where the interface went away. */
static int open_link(const struct pins *pins, const char *ifname, uint32_t *ret_program)
{
	struct bpf_link_info info = {};
	int fd = apply_links_open(pins, ifname, &info);

	if (fd >= 0)
		*ret_program = info.xdp.ifindex ? info.prog_id : 0;
	return fd;
}

struct search {
	const struct pins *pins;
	uint32_t program; /* id */
};

/* 1: the link runs the program that is looked for. */
static int runs(const char *ifname, void *context)
{
	const struct search *search = context;
	uint32_t program = 0;
	autofd int fd = open_link(search->pins, ifname, &program);

	return fd >= 0 && program == search->program;
}

static int find_begun(uint64_t generation, void *context)
{
	struct recovery *recovery = context;
	struct search search = { .pins = recovery->pins };
	autofd int program = -1;

	if (generation == recovery->current)
		return 0;
	program = open_program(recovery->pins, generation, &search.program);
	if (program < 0) /* it was not finished, or is being taken away */
		return 0;
	if (pins_each_link(recovery->pins, runs, &search) <= 0)
		return 0;
	recovery->begun = generation;
	return 1;
}

static int bring_along(const char *ifname, void *context)
{
	struct recovery *recovery = context;
	uint32_t program = 0, next = 0;
	autofd int link = open_link(recovery->pins, ifname, &program);
	autofd int fd = open_program(recovery->pins, recovery->begun, &next);

	if (link < 0 || fd < 0)
		return link < 0 ? link : fd;
	if (program == 0 || program == next)
		return 0;
	recovery->mixed = true;
	return bpf_link_update(link, fd, NULL) < 0 ? -errno : 0;
}

static void tables_release(struct apply_tables **tables)
{
	if (*tables)
		apply_tables_release(*tables);
	free(*tables);
}

/* What the links with the program before have charged meanwhile, as far as clients are known. */
static int add_up(const struct recovery *recovery)
{
	autofree struct stile_policy *before = calloc(1, sizeof(*before));
	autofree struct stile_policy *now = calloc(1, sizeof(*now));
	struct apply_tables *tables
		__attribute__((cleanup(tables_release))) = calloc(1, sizeof(*tables));
	int error;

	if (!before || !now || !tables)
		return -ENOMEM;
	error = apply_previous_policy(recovery->pins, recovery->current, before);
	if (error == 0)
		error = apply_previous_policy(recovery->pins, recovery->begun, now);
	if (error == 0)
		error = apply_tables_open(recovery->pins, before, now, tables);
	if (error)
		return error;
	apply_tables_catch_up(tables);
	return 0;
}

static int finish(struct recovery *recovery)
{
	int error;

	error = pins_each_link(recovery->pins, bring_along, recovery);
	if (error)
		return error;
	if (recovery->mixed && recovery->current)
		(void)add_up(recovery); /* what cannot be added up is forgotten */
	return pins_switch(recovery->pins, recovery->begun);
}

int apply_recover(const struct pins *pins)
{
	struct recovery recovery = { .pins = pins };
	int result;

	result = pins_current(pins, &recovery.current);
	if (result < 0 && result != -ENOENT)
		return 0; /* whoever reads it next says what is wrong with it */
	result = pins_each_generation(pins, find_begun, &recovery);
	return result > 0 ? finish(&recovery) : result;
}
