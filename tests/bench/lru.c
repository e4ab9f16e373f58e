/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See lru.h. What a policy fills the maps with is shared with the load it is taken from. */
#include "lru.h"

#include <errno.h>

#include <bpf/libbpf.h>

#include "bench/lru.skel.h"
#include "util.h"

static int share_maps(struct lru_bpf *skeleton, const struct load *load)
{
	const struct {
		struct bpf_map *map;
		const char *name;
	} maps[] = {
		{ skeleton->maps.stile_control, "control" },
		{ skeleton->maps.stile_hosts, "hosts" },
		{ skeleton->maps.stile_ports, "ports" },
		{ skeleton->maps.stile_pages, "pages" },
		{ skeleton->maps.stile_sources, "sources" },
		{ skeleton->maps.stile_trusted, "trusted" },
		{ skeleton->maps.stile_blocked, "blocked" },
	};
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		error = bpf_map__reuse_fd(maps[i].map, load_map(load, maps[i].name));
		if (error)
			return error;
	}
	return 0;
}

int lru_load(const struct load *load, uint32_t clients, struct lru *ret_lru)
{
	struct lru lru = { lru_bpf__open() };
	int error;

	if (!lru.skeleton)
		return -errno;
	lru.skeleton->rodata_policy->policy = load->policy.kernel;
	error = bpf_map__set_max_entries(lru.skeleton->maps.lru_buckets, clients);
	if (error == 0)
		error = share_maps(lru.skeleton, load);
	if (error == 0)
		error = lru_bpf__load(lru.skeleton);
	if (error) {
		lru_release(&lru);
		return error;
	}
	*ret_lru = lru;
	return 0;
}

void lru_release(struct lru *lru)
{
	if (!lru->skeleton)
		return;
	lru_bpf__destroy(lru->skeleton);
	lru->skeleton = NULL;
}

int lru_program(const struct lru *lru)
{
	return bpf_program__fd(lru->skeleton->progs.stile_xdp);
}

int lru_map(const struct lru *lru)
{
	return bpf_map__fd(lru->skeleton->maps.lru_buckets);
}

int lru_decisions(const struct lru *lru)
{
	return bpf_map__fd(lru->skeleton->maps.stile_decisions);
}
