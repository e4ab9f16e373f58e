/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters are read through fds that stay open, switches written by memory: ten times a second. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apply_proofs.h"
#include "util.h"

#define PROOFS_SIZE (STILE_LISTENERS_MAX * sizeof(struct stile_proof))

static int open_map(const struct pins *pins, const char *name, size_t value_size)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path_current(pins, name, path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	return info.value_size == value_size ? take_fd(&fd) : -EPROTO;
}

static int map_proofs(const struct pins *pins, struct stile_proof **ret_proofs)
{
	autofd int fd = open_map(pins, "proofs", sizeof(**ret_proofs));
	void *proofs;

	if (fd < 0)
		return fd;
	proofs = mmap(NULL, PROOFS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (proofs == MAP_FAILED)
		return -errno;
	*ret_proofs = proofs;
	return 0;
}

int apply_proofs_open(const struct pins *pins, struct apply_proofs *ret_proofs)
{
	struct apply_proofs proofs = { .proven = -1, .connections = -1, .tables = -1 };
	int error = map_proofs(pins, &proofs.proofs);

	proofs.n_cpus = libbpf_num_possible_cpus();
	if (error == 0)
		proofs.proven = open_map(pins, "proven", sizeof(struct stile_proven));
	if (error == 0)
		proofs.connections =
			open_map(pins, "connections", sizeof(struct stile_connections));
	if (error == 0)
		proofs.tables = open_map(pins, "tables", sizeof(struct stile_table_stats));
	if (error == 0 && proofs.n_cpus < 0)
		error = proofs.n_cpus;
	if (error == 0 && (proofs.proven < 0 || proofs.connections < 0 || proofs.tables < 0))
		error = -EPROTO;
	if (error)
		apply_proofs_close(&proofs);
	*ret_proofs = proofs;
	return error;
}

void apply_proofs_close(struct apply_proofs *proofs)
{
	if (proofs->proofs)
		(void)munmap(proofs->proofs, PROOFS_SIZE); /* only a wrong size could fail */
	proofs->proofs = NULL;
	fd_release(&proofs->proven);
	fd_release(&proofs->connections);
	fd_release(&proofs->tables);
	proofs->proven = proofs->connections = proofs->tables = -1;
}

/* Adds up the @n counters of an entry over the CPUs. */
static int add_up(const struct apply_proofs *proofs, int fd, uint32_t slot, size_t n,
		  uint64_t *ret_counts)
{
	autofree uint64_t *values = calloc((size_t)proofs->n_cpus * n, sizeof(*values));

	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &slot, values) < 0)
		return -errno;
	for (size_t i = 0; i < n; i++)
		ret_counts[i] = 0;
	for (size_t i = 0; i < (size_t)proofs->n_cpus * n; i++)
		ret_counts[i % n] += values[i];
	return 0;
}

int apply_proofs_read(const struct apply_proofs *proofs, uint32_t listener,
		      struct apply_proofs_counts *ret_counts)
{
	union {
		struct stile_proven proven;
		uint64_t counts[sizeof(struct stile_proven) / sizeof(uint64_t)];
	} proven;
	union {
		struct stile_connections connections;
		uint64_t counts[sizeof(struct stile_connections) / sizeof(uint64_t)];
	} connections;
	int error;

	error = add_up(proofs, proofs->proven, listener, ARRAY_SIZE(proven.counts), proven.counts);
	if (error == 0)
		error = add_up(proofs, proofs->connections, listener,
			       ARRAY_SIZE(connections.counts), connections.counts);
	if (error)
		return error;
	*ret_counts = (struct apply_proofs_counts){ proven.proven, connections.connections.opened };
	return 0;
}

int apply_proofs_evicted(const struct apply_proofs *proofs, uint32_t limiter, uint64_t *ret_evicted)
{
	uint64_t counts[2] = { 0 }; /* struct stile_table_stats */
	int error = add_up(proofs, proofs->tables, limiter, ARRAY_SIZE(counts), counts);

	if (error == 0)
		*ret_evicted = counts[0] + counts[1];
	return error;
}

void apply_proofs_switch(const struct apply_proofs *proofs, uint32_t listener, bool on)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	__atomic_store_n(&proofs->proofs[listener & (STILE_LISTENERS_MAX - 1)].since,
			 on ? (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec : 0,
			 __ATOMIC_RELAXED);
}
