/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another version's maps are refused before a byte of them is used: a struct that only looks right
 * would be misread in silence. A counter may be cleared before the swap, since the policy gives a
 * new name no slot that the program in force still counts in.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apply_previous.h"
#include "snapshot_maps.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

/* The version of a policy of any size; 0: there is none to be read. */
static uint32_t version_of(const struct pins *pins, uint64_t generation)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info), slot = 0;
	autofree uint32_t *value = NULL;
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path(pins, generation, "policy", path) < 0)
		return 0;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 || info.key_size != sizeof(slot))
		return 0;
	value = calloc(1, info.value_size + sizeof(*value));
	return value && bpf_map_lookup_elem(fd, &slot, value) == 0 ? *value : 0;
}

static int refuse(const struct pins *pins, uint64_t generation, struct diag *diag, int error)
{
	if (error == -EPROTO)
		diag_error(diag, nowhere,
			   "what is in the kernel was put there by another version of Stile (its "
			   "maps are version %" PRIu32 ", this one's are %d): it goes on "
			   "protecting; 'stile detach' takes it out, with every bucket",
			   version_of(pins, generation), STILE_ABI_VERSION);
	else if (error == -ENOENT)
		diag_error(diag, nowhere,
			   "what is in the kernel is not whole: 'stile detach' takes it out");
	else
		diag_error(diag, nowhere, "read what is in the kernel: %s", strerror(-error));
	return error == -ENOENT ? -EPROTO : error;
}

int apply_previous_policy(const struct pins *pins, uint64_t generation,
			  struct stile_policy *ret_policy)
{
	const struct snapshot_shape shape = { "policy", sizeof(__u32), sizeof(*ret_policy) };
	__u32 slot = 0;
	autofd int fd = snapshot_maps_open(pins, generation, &shape);

	if (fd < 0)
		return fd;
	if (bpf_map_lookup_elem(fd, &slot, ret_policy) < 0)
		return -errno;
	if (ret_policy->version != STILE_ABI_VERSION || ret_policy->size != sizeof(*ret_policy))
		return -EPROTO;
	return 0;
}

static int open_kept(const struct pins *pins, uint64_t generation, struct loader_kept *kept)
{
	const struct {
		struct snapshot_shape shape;
		int *fd;
	} maps[] = {
		{ { "packets", sizeof(__u32), sizeof(struct stile_packets) }, &kept->packets },
		{ { "decisions", sizeof(__u32), sizeof(struct stile_decisions) },
		  &kept->decisions },
		{ { "tables", sizeof(__u32), sizeof(struct stile_table_stats) }, &kept->tables },
		{ { "replies", sizeof(__u32), sizeof(struct stile_replies) }, &kept->replies },
		{ { "attempts", sizeof(__u32), sizeof(struct stile_attempts) }, &kept->attempts },
		{ { "flows", sizeof(__u32), sizeof(struct stile_flow_set) }, &kept->flows },
		{ { "budget", sizeof(__u32), sizeof(struct stile_budget_state) }, &kept->budget },
		{ { "connections", sizeof(__u32), sizeof(struct stile_connections) },
		  &kept->connections },
		{ { "recounts", sizeof(__u32), sizeof(struct stile_recount) }, &kept->recounts },
		{ { "holders", sizeof(struct stile_holder_key), sizeof(struct stile_holder) },
		  &kept->holders },
		{ { "sockets", sizeof(__u32), sizeof(struct stile_socket) }, &kept->sockets },
		{ { "refusals", sizeof(__u32), sizeof(__u64) }, &kept->refusals },
		{ { "proofs", sizeof(__u32), sizeof(struct stile_proof) }, &kept->proofs },
		{ { "proven", sizeof(__u32), sizeof(struct stile_proven) }, &kept->proven },
		{ { "handshakes", sizeof(__u32), sizeof(struct stile_handshake_set) },
		  &kept->handshakes },
		{ { "evictions", 0, 0 }, &kept->evictions },
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		*maps[i].fd = snapshot_maps_open(pins, generation, &maps[i].shape);
		if (*maps[i].fd < 0)
			return *maps[i].fd;
	}
	return 0;
}

int apply_previous_read(const struct pins *pins, struct diag *diag,
			struct apply_previous *ret_previous)
{
	struct apply_previous previous = { .found = true };
	int error;

	memset(&previous.kept, -1, sizeof(previous.kept));
	error = pins_current(pins, &previous.generation);
	if (error == -ENOENT) {
		previous.found = false;
		*ret_previous = previous;
		return 0;
	}
	if (error == 0)
		error = apply_previous_policy(pins, previous.generation, &previous.policy);
	if (error == 0)
		error = open_kept(pins, previous.generation, &previous.kept);
	if (error) {
		apply_previous_release(&previous);
		return refuse(pins, previous.generation, diag, error);
	}
	*ret_previous = previous;
	return 0;
}

int apply_previous_open_tables(const struct pins *pins, const struct policy *policy,
			       struct apply_previous *previous)
{
	if (policy->kernel.flow_sets != previous->policy.flow_sets) {
		fd_release(&previous->kept.flows);
		previous->kept.flows = -1;
	}
	if (policy->kernel.handshake_sets != previous->policy.handshake_sets) {
		fd_release(&previous->kept.handshakes);
		previous->kept.handshakes = -1;
	}
	if (policy->kernel.holders != previous->policy.holders) {
		fd_release(&previous->kept.holders);
		previous->kept.holders = -1;
	}
	for (size_t slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
		char name[sizeof("limiter-") + STILE_NAME_SIZE];
		const struct snapshot_shape shape = { name, sizeof(__u32),
						      sizeof(struct stile_set) };

		if (policy->tables[slot] != POLICY_TABLE_KEPT)
			continue;
		snprintf(name, sizeof(name), "limiter-%.*s", STILE_NAME_SIZE,
			 previous->policy.limiters[slot].name);
		previous->kept.limiters[slot] =
			snapshot_maps_open(pins, previous->generation, &shape);
		if (previous->kept.limiters[slot] < 0)
			return previous->kept.limiters[slot];
	}
	return 0;
}

static uint64_t now_monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Puts an entry into the next list, where the file does not list the same prefix. 1: it was put. */
static int carry_entry(int list, const struct stile_prefix *prefix,
		       const struct stile_listed *entry)
{
	struct stile_listed found;

	if (bpf_map_lookup_elem(list, prefix, &found) == 0 && found.bits == prefix->bits)
		return 0;
	return bpf_map_update_elem(list, prefix, entry, BPF_ANY) < 0 ? -errno : 1;
}

static int carry_entries(int list, const struct snapshot_pairs *pairs, __u32 *n_entries)
{
	const struct stile_prefix *prefixes = (const void *)pairs->keys;
	const struct stile_listed *entries = (const void *)pairs->values;
	uint64_t now = now_monotonic();
	int result;

	for (size_t i = 0; i < pairs->n; i++) {
		if (!entries[i].by_hand || (entries[i].expires && entries[i].expires <= now))
			continue;
		result = carry_entry(list, &prefixes[i], &entries[i]);
		if (result < 0)
			return result;
		*n_entries += (__u32)result;
	}
	return 0;
}

static int carry_list(const struct pins *pins, uint64_t generation, const char *name, int list,
		      __u32 *n_entries)
{
	const struct snapshot_shape shape = { name, sizeof(struct stile_prefix),
					      sizeof(struct stile_listed) };
	autofd int fd = snapshot_maps_open(pins, generation, &shape);
	struct snapshot_pairs pairs;
	int error;

	if (fd < 0)
		return fd;
	error = snapshot_maps_pairs(fd, &shape, &pairs);
	if (error)
		return error;
	error = carry_entries(list, &pairs, n_entries);
	snapshot_maps_pairs_release(&pairs);
	return error;
}

static int carry_lists(const struct pins *pins, uint64_t generation, const struct loader *loader)
{
	int control = loader_map(loader, "control");
	struct stile_control counts;
	__u32 slot = 0, of_file;
	int error;

	if (bpf_map_lookup_elem(control, &slot, &counts) < 0)
		return -errno;
	of_file = counts.trusted + counts.blocked;
	error = carry_list(pins, generation, "trusted", loader_map(loader, "trusted"),
			   &counts.trusted);
	if (error == 0)
		error = carry_list(pins, generation, "blocked", loader_map(loader, "blocked"),
				   &counts.blocked);
	if (error)
		return error;
	if (counts.trusted + counts.blocked != of_file)
		counts.expires = 1; /* long ago: lists_expire() looks when it really is */
	return bpf_map_update_elem(control, &slot, &counts, BPF_ANY) < 0 ? -errno : 0;
}

/* Entry @slot of a per-CPU array, on every CPU. */
static int clear(int map, __u32 slot, size_t value_size)
{
	int n_cpus = libbpf_num_possible_cpus();
	autofree void *zeros = n_cpus < 0 ? NULL : calloc((size_t)n_cpus, value_size);

	if (!zeros)
		return n_cpus < 0 ? n_cpus : -ENOMEM;
	return bpf_map_update_elem(map, &slot, zeros, BPF_ANY) < 0 ? -errno : 0;
}

static bool same_attachment(const struct stile_policy *before, const struct stile_policy *now,
			    size_t slot)
{
	const struct stile_attachment *old = &before->attachments[slot];
	const struct stile_attachment *new = &now->attachments[slot];

	return strcmp(before->limiters[old->limiter].name, now->limiters[new->limiter].name) == 0 &&
	       strcmp(before->listeners[old->listener].name, now->listeners[new->listener].name) ==
		       0;
}

static int clear_decisions(const struct stile_policy *before, const struct stile_policy *now,
			   int map)
{
	int error = 0;

	for (__u32 slot = 1; slot < STILE_ATTACHMENTS_MAX && error == 0; slot++) {
		if (now->attachments[slot].limiter && !same_attachment(before, now, slot))
			error = clear(map, slot, sizeof(struct stile_decisions));
	}
	return error;
}

static int clear_packets(const struct stile_policy *before, const struct stile_policy *now, int map)
{
	int error = 0;

	for (__u32 slot = 0; slot < STILE_INTERFACES_MAX && error == 0; slot++) {
		if (*now->interfaces[slot].name &&
		    strcmp(before->interfaces[slot].name, now->interfaces[slot].name) != 0)
			error = clear(map, slot, sizeof(struct stile_packets));
	}
	return error;
}

static int clear_tables(const struct stile_policy *before, const struct stile_policy *now, int map)
{
	int error = 0;

	for (__u32 slot = 1; slot < STILE_LIMITERS_MAX && error == 0; slot++) {
		if (now->limiters[slot].sets &&
		    strcmp(before->limiters[slot].name, now->limiters[slot].name) != 0)
			error = clear(map, slot, sizeof(struct stile_table_stats));
	}
	return error;
}

/* Numbers tell owners apart whose name is the same again. */
static int clear_connections(const struct stile_policy *before, const struct stile_policy *now,
			     const struct loader *loader)
{
	const struct stile_recount none = { 0 };
	int error = 0;

	for (__u32 slot = 1; slot < STILE_LISTENERS_MAX && error == 0; slot++) {
		if (now->listeners[slot].serial == 0 || /* it is in use still, or free */
		    now->listeners[slot].serial == before->listeners[slot].serial)
			continue;
		error = clear(loader_map(loader, "connections"), slot,
			      sizeof(struct stile_connections));
		if (error == 0 &&
		    bpf_map_update_elem(loader_map(loader, "recounts"), &slot, &none, BPF_ANY) < 0)
			error = -errno;
	}
	return error;
}

int apply_previous_carry(const struct pins *pins, const struct apply_previous *previous,
			 const struct policy *policy, const struct loader *loader)
{
	const struct stile_policy *before = &previous->policy;
	const struct stile_policy *now = &policy->kernel;
	int error;

	if (!previous->found)
		return 0;
	error = carry_lists(pins, previous->generation, loader);
	if (error == 0)
		error = clear_packets(before, now, loader_map(loader, "packets"));
	if (error == 0)
		error = clear_decisions(before, now, loader_map(loader, "decisions"));
	if (error == 0)
		error = clear_tables(before, now, loader_map(loader, "tables"));
	if (error == 0)
		error = clear_connections(before, now, loader);
	return error;
}

void apply_previous_release(struct apply_previous *previous)
{
	struct loader_kept *kept = &previous->kept;
	int *const fds[] = {
		&kept->packets,	   &kept->decisions, &kept->tables,	 &kept->replies,
		&kept->attempts,   &kept->flows,     &kept->budget,	 &kept->holders,
		&kept->sockets,	   &kept->recounts,  &kept->connections, &kept->refusals,
		&kept->handshakes, &kept->evictions, &kept->proofs,	 &kept->proven,
	};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fd_release(fds[i]);
	for (size_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		fd_release(&kept->limiters[slot]);
	memset(kept, -1, sizeof(*kept));
}
