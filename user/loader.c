/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy is read-only data of the program, so that the verifier and the JIT see constants;
 * maps hold what is too long for that. Nothing is attached before every map is filled. That
 * RLIMIT_MEMLOCK cannot be raised is no error: since Linux 5.11 it does not bound BPF memory, and
 * libbpf raises it on older kernels where it may.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "loader.h"
#include "loader_admit.h"
#include "loader_btf.h"
#include "loader_maps.h"
#include "loader_messages.h"
#include "stile.skel.h"
#include "util.h"

#define LISTED_MAX 65536u /* entries that commands may add to the trusted and the blocked list */

struct loader {
	struct stile_bpf *skeleton;
	struct admit_bpf *admit; /* NULL: nobody has to prove anything */
	char names[STILE_LIMITERS_MAX][STILE_NAME_SIZE];
	int tables[STILE_LIMITERS_MAX]; /* by limiter slot; -1: none */
};

/* A map and the name that it is pinned by. */
struct loader_map {
	const char *name;
	struct bpf_map *map;
};

#define LOADER_MAPS 30

static void list_maps(const struct stile_bpf *skeleton, struct loader_map ret_maps[LOADER_MAPS])
{
	const struct loader_map maps[LOADER_MAPS] = {
		{ "policy", skeleton->maps.rodata_policy },
		{ "control", skeleton->maps.stile_control },
		{ "hosts", skeleton->maps.stile_hosts },
		{ "ports", skeleton->maps.stile_ports },
		{ "pages", skeleton->maps.stile_pages },
		{ "sources", skeleton->maps.stile_sources },
		{ "trusted", skeleton->maps.stile_trusted },
		{ "blocked", skeleton->maps.stile_blocked },
		{ "packets", skeleton->maps.stile_packets },
		{ "decisions", skeleton->maps.stile_decisions },
		{ "tables", skeleton->maps.stile_tables },
		{ "replies", skeleton->maps.stile_replies },
		{ "attempts", skeleton->maps.stile_attempts },
		{ "asking", skeleton->maps.stile_asking },
		{ "flows", skeleton->maps.stile_flows },
		{ "budget", skeleton->maps.stile_budget },
		{ "shares", skeleton->maps.stile_shares },
		{ "levels", skeleton->maps.stile_levels },
		{ "connections", skeleton->maps.stile_connections },
		{ "recounts", skeleton->maps.stile_recounts },
		{ "holders", skeleton->maps.stile_holders },
		{ "sockets", skeleton->maps.stile_sockets },
		{ "handshakes", skeleton->maps.stile_handshakes },
		{ "evictions", skeleton->maps.stile_evictions },
		{ "limiters", skeleton->maps.stile_limiters },
		{ "datagrams", skeleton->maps.stile_datagrams },
		{ "answers", skeleton->maps.stile_answers },
		{ "refusals", skeleton->maps.stile_refusals },
		{ "proofs", skeleton->maps.stile_proofs },
		{ "proven", skeleton->maps.stile_proven },
	};

	memcpy(ret_maps, maps, sizeof(maps));
}

/* A kept map must have the shape that this object's program was compiled for. */
static int reuse(struct bpf_map *map, int fd)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.type != bpf_map__type(map) || info.key_size != bpf_map__key_size(map) ||
	    info.value_size != bpf_map__value_size(map) ||
	    info.max_entries != bpf_map__max_entries(map))
		return -EPROTO;
	return bpf_map__reuse_fd(map, fd);
}

static int reuse_kept(struct stile_bpf *skeleton, const struct loader_kept *kept)
{
	const struct {
		struct bpf_map *map;
		int fd;
	} maps[] = {
		{ skeleton->maps.stile_packets, kept->packets },
		{ skeleton->maps.stile_decisions, kept->decisions },
		{ skeleton->maps.stile_tables, kept->tables },
		{ skeleton->maps.stile_replies, kept->replies },
		{ skeleton->maps.stile_attempts, kept->attempts },
		{ skeleton->maps.stile_flows, kept->flows },
		{ skeleton->maps.stile_budget, kept->budget },
		{ skeleton->maps.stile_connections, kept->connections },
		{ skeleton->maps.stile_recounts, kept->recounts },
		{ skeleton->maps.stile_holders, kept->holders },
		{ skeleton->maps.stile_sockets, kept->sockets },
		{ skeleton->maps.stile_refusals, kept->refusals },
		{ skeleton->maps.stile_proofs, kept->proofs },
		{ skeleton->maps.stile_proven, kept->proven },
		{ skeleton->maps.stile_handshakes, kept->handshakes },
		{ skeleton->maps.stile_evictions, kept->evictions },
	};
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		error = reuse(maps[i].map, maps[i].fd);
		if (error)
			return error;
	}
	return 0;
}

static int size_maps(struct stile_bpf *skeleton, const struct policy *policy)
{
	const struct {
		struct bpf_map *map;
		size_t n_entries;
	} maps[] = {
		{ skeleton->maps.stile_hosts, policy->n_hosts },
		{ skeleton->maps.stile_ports, policy->n_ports },
		{ skeleton->maps.stile_pages, policy->n_pages },
		{ skeleton->maps.stile_sources, policy->n_sources },
		{ skeleton->maps.stile_flows, policy->kernel.flow_sets },
		{ skeleton->maps.stile_asking, policy->kernel.accept_limits ? STILE_ASKING : 0 },
		{ skeleton->maps.stile_holders, policy->kernel.max_clients },
		{ skeleton->maps.stile_datagrams, policy->n_datagrams },
		{ skeleton->maps.stile_answers, policy->n_answers },
		{ skeleton->maps.stile_handshakes, policy->kernel.handshake_sets },
		{ skeleton->maps.stile_trusted, policy->n_trusted + LISTED_MAX },
		{ skeleton->maps.stile_blocked, policy->n_blocked + LISTED_MAX },
	};
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		__u32 n_entries = maps[i].n_entries ? (__u32)maps[i].n_entries : 1;

		error = bpf_map__set_max_entries(maps[i].map, n_entries);
		if (error)
			return error;
	}
	return 0;
}

/* Programs that this policy has no use for are left out, and what this kernel cannot run. */
static int choose_programs(struct stile_bpf *skeleton, const struct policy *policy)
{
	int error = bpf_program__set_autoload(skeleton->progs.stile_clock, false);

	if (error == 0 && !policy->kernel.connections)
		error = bpf_program__set_autoload(skeleton->progs.stile_sockops, false);
	if (error == 0 && !policy->kernel.connections)
		error = bpf_program__set_autoload(skeleton->progs.stile_correct, false);
	if (error == 0 && (!policy->kernel.connections || !loader_btf_is_there()))
		error = bpf_program__set_autoload(skeleton->progs.stile_seed, false);
	if (error == 0 && !policy->kernel.handshake_sets)
		error = bpf_program__set_autoload(skeleton->progs.stile_sweep, false);
	return error;
}

/* libbpf loads the program; the outer map's template is needed until it has. */
static int load_program(struct stile_bpf *skeleton)
{
	autofd int shape = loader_create_template();
	int error;

	if (shape < 0)
		return shape;
	error = bpf_map__set_inner_map_fd(skeleton->maps.stile_limiters, shape);
	return error ? error : stile_bpf__load(skeleton);
}

/* The table that @limiter goes on with, or a new one. The fd is the caller's. */
static int open_table(const struct loader *loader, const struct stile_limiter *limiter, int kept)
{
	int table;

	if (kept < 0)
		return loader_create_table(loader->skeleton->obj, limiter);
	if (!loader_table_fits(kept, limiter))
		return -EPROTO;
	table = fcntl(kept, F_DUPFD_CLOEXEC, 0);
	return table < 0 ? -errno : table;
}

static int put_tables(struct loader *loader, const struct policy *policy,
		      const struct loader_kept *kept)
{
	int outer = bpf_map__fd(loader->skeleton->maps.stile_limiters);

	for (__u32 slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
		const struct stile_limiter *limiter = &policy->kernel.limiters[slot];
		int table;

		if (limiter->sets == 0)
			continue;
		table = open_table(loader, limiter,
				   policy->tables[slot] == POLICY_TABLE_KEPT ? kept->limiters[slot]
									     : -1);
		if (table < 0)
			return table;
		loader->tables[slot] = table;
		memcpy(loader->names[slot], limiter->name, sizeof(loader->names[slot]));
		if (bpf_map_update_elem(outer, &slot, &table, BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

static void loader_release(struct loader **loader)
{
	loader_free(*loader);
}

int loader_load(const struct policy *policy, const struct loader_kept *kept,
		struct loader **ret_loader)
{
	struct loader *loader __attribute__((cleanup(loader_release))) = NULL;
	autobtf struct loader_btf btf;
	int error = loader_btf_open(&btf);
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = *btf.path ? btf.path : NULL);

	if (error)
		return error;
	loader_messages_begin();
	loader = calloc(1, sizeof(*loader));
	if (!loader)
		return -ENOMEM;
	memset(loader->tables, -1, sizeof(loader->tables));
	loader->skeleton = stile_bpf__open_opts(&options);
	if (!loader->skeleton)
		return -errno;
	loader->skeleton->rodata_policy->policy = policy->kernel;
	error = choose_programs(loader->skeleton, policy);
	if (error == 0)
		error = size_maps(loader->skeleton, policy);
	if (error == 0)
		error = reuse_kept(loader->skeleton, kept);
	if (error == 0)
		error = load_program(loader->skeleton);
	if (error == 0 && policy->kernel.proves)
		error = loader_admit_load(loader->skeleton->obj, &policy->kernel, &loader->admit);
	if (error == 0)
		error = put_tables(loader, policy, kept);
	if (error == 0)
		error = loader_fill_maps(loader->skeleton->obj, policy);
	if (error)
		return error;
	*ret_loader = loader;
	loader = NULL;
	return 0;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	for (size_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		fd_release(&loader->tables[slot]);
	loader_admit_free(loader->admit);
	stile_bpf__destroy(loader->skeleton);
	free(loader);
}

int loader_program(const struct loader *loader)
{
	return bpf_program__fd(loader->skeleton->progs.stile_xdp);
}

volatile struct stile_replay *loader_replay(const struct loader *loader)
{
	return &loader->skeleton->bss->stile_replay;
}

int loader_map(const struct loader *loader, const char *name)
{
	struct loader_map maps[LOADER_MAPS];

	list_maps(loader->skeleton, maps);
	for (size_t i = 0; i < LOADER_MAPS; i++) {
		if (strcmp(maps[i].name, name) == 0)
			return bpf_map__fd(maps[i].map);
	}
	return -ENOENT;
}

static int each_table(const struct loader *loader,
		      int (*each)(const char *name, int fd, void *context), void *context)
{
	char name[sizeof("limiter-") + STILE_NAME_SIZE];
	int result = 0;

	for (size_t slot = 0; slot < STILE_LIMITERS_MAX && result == 0; slot++) {
		if (loader->tables[slot] < 0)
			continue;
		snprintf(name, sizeof(name), "limiter-%s", loader->names[slot]);
		result = each(name, loader->tables[slot], context);
	}
	return result;
}

/* All programs that were loaded. */
static int each_program(const struct loader *loader,
			int (*each)(const char *name, int fd, void *context), void *context)
{
	const struct stile_bpf *skeleton = loader->skeleton;
	const struct {
		const char *name;
		const struct bpf_program *program;
	} programs[] = {
		{ "sockops", skeleton->progs.stile_sockops },
		{ "seed", skeleton->progs.stile_seed },
		{ "correct", skeleton->progs.stile_correct },
		{ "sweep", skeleton->progs.stile_sweep },
		{ "xdp", skeleton->progs.stile_xdp },
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(programs) && result == 0; i++) {
		if (bpf_program__fd(programs[i].program) >= 0)
			result = each(programs[i].name, bpf_program__fd(programs[i].program),
				      context);
	}
	return result;
}

int loader_each(const struct loader *loader, int (*each)(const char *name, int fd, void *context),
		void *context)
{
	struct loader_map maps[LOADER_MAPS];
	int result = 0;

	list_maps(loader->skeleton, maps);
	for (size_t i = 0; i < LOADER_MAPS && result == 0; i++)
		result = each(maps[i].name, bpf_map__fd(maps[i].map), context);
	if (result == 0)
		result = each_table(loader, each, context);
	if (result == 0)
		result = each_program(loader, each, context);
	return result || !loader->admit ? result : each("admit", loader_admit(loader), context);
}

int loader_attach(int program, uint32_t ifindex, enum stile_mode mode, int *ret_link)
{
	LIBBPF_OPTS(bpf_link_create_opts, options,
		    .flags = mode == STILE_MODE_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);
	int link;

	link = bpf_link_create(program, (int)ifindex, BPF_XDP, &options);
	if (link < 0)
		return -errno;
	*ret_link = link;
	return 0;
}

int loader_admit(const struct loader *loader)
{
	return loader->admit ? loader_admit_program(loader->admit) : -1;
}

int loader_sockops(const struct loader *loader)
{
	int program = bpf_program__fd(loader->skeleton->progs.stile_sockops);

	return program < 0 ? -1 : program;
}

int loader_attach_cgroup(int program, int directory, int *ret_link)
{
	int link = bpf_link_create(program, directory, BPF_CGROUP_SOCK_OPS, NULL);

	if (link < 0)
		return -errno;
	*ret_link = link;
	return 0;
}
