/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order is what makes a reload safe: everything that can fail is done and pinned beside the
 * generation in force before the first program is swapped; then the swaps, which can be undone;
 * then the symlink. Killed at any point, the next start finds a generation that is whole, and
 * links that it can adopt.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "apply.h"
#include "apply_admit.h"
#include "apply_cgroup.h"
#include "apply_interfaces.h"
#include "apply_links.h"
#include "apply_machine.h"
#include "apply_previous.h"
#include "apply_recount.h"
#include "apply_recover.h"
#include "apply_tables.h"
#include "loader.h"
#include "policy.h"
#include "privilege.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

/* One run of apply_config(). */
struct apply {
	const struct pins *pins;
	struct diag *diag;
	struct config config; /* the caller's, but for the interfaces */
	struct config_interface interfaces[STILE_INTERFACES_MAX];
	struct apply_previous previous;
	struct policy policy;
	struct loader *loader;
	struct apply_links links;
	struct apply_cgroup cgroup;
	struct apply_tables tables;
};

/* Tells what was tried and why it failed; returns @error. */
static int report(const struct apply *apply, const char *what, int error)
{
	if (error)
		diag_error(apply->diag, nowhere, "%s: %s", what, strerror(-error));
	return error;
}

/* Why there is no place for pins, and what to do. */
static int report_pins(const struct apply *apply, int error)
{
	switch (-error) {
	case EPERM:
		return report(
			apply,
			"no BPF file system is mounted at " PINS_BPFFS
			", and mounting one takes CAP_SYS_ADMIN: 'mount -t bpf bpf " PINS_BPFFS
			"' as root does it",
			error);
	case ENOENT:
		return report(apply, PINS_BPFFS " is missing: mount sysfs at /sys", error);
	case ENODEV:
		return report(apply,
			      "this kernel has no BPF file system: it takes CONFIG_BPF_SYSCALL",
			      error);
	default:
		return report(apply, "make the directories for pins", error);
	}
}

/* The same with what libbpf or the verifier said. */
static int report_load(const struct apply *apply, const char *what, int error)
{
	const char *reason = loader_reason();

	if (error == -EPERM || (error == -EACCES && !privilege_has_all()))
		reason = PRIVILEGE_HINT;
	diag_error(apply->diag, nowhere, "%s: %s%s%s", what, strerror(-error), *reason ? ": " : "",
		   reason);
	return error;
}

static int compile(struct apply *apply)
{
	const struct apply_previous *previous = &apply->previous;
	const struct stile_policy *before = previous->found ? &previous->policy : NULL;
	struct policy_machine machine;
	int error;

	error = apply_machine_ask(apply->pins, &apply->config, before, &machine);
	if (error)
		return report_load(apply, "measure the clock", error);
	return policy_compile(&apply->config, before, &machine, apply->diag, &apply->policy);
}

/* Everything of the next generation, loaded and filled, and not yet in the path of packets. */
static int load(struct apply *apply)
{
	int error;

	error = apply_previous_open_tables(apply->pins, &apply->policy, &apply->previous);
	if (error)
		return report(apply, "open the bucket tables that are pinned", error);
	error = loader_load(&apply->policy, &apply->previous.kept, &apply->loader);
	if (error)
		return report_load(apply, "load the program", error);
	error = apply_previous_carry(apply->pins, &apply->previous, &apply->policy, apply->loader);
	return report(apply, "carry lists and counters over", error);
}

static int pin_object(const char *name, int fd, void *context)
{
	const struct apply *apply = context;
	char path[PATH_MAX];
	int error;

	error = pins_path(apply->pins, apply->policy.kernel.generation, name, path);
	if (error)
		return error;
	return bpf_obj_pin(fd, path) < 0 ? -errno : 0;
}

static int pin_generation(struct apply *apply)
{
	int error;

	error = pins_create_generation(apply->pins, apply->policy.kernel.generation);
	if (error == 0)
		error = loader_each(apply->loader, pin_object, apply);
	return report(apply, "pin programs and maps", error);
}

/*
 * Whether some limiter may not know of connections that it is to count. What a copied table lacks
 * is a moment's, and every connection that begins while sockets are listed would count twice.
 */
static bool has_to_learn(const struct policy *policy)
{
	for (size_t slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
		if (policy->kernel.limiters[slot].sets &&
		    policy->kernel.limiters[slot].algorithm == STILE_ALGORITHM_CONCURRENCY &&
		    policy->tables[slot] != POLICY_TABLE_COPIED)
			return true;
	}
	return false;
}

/*
 * Connections are told to the next generation before it judges, and those that are open are given
 * their places there: a limiter that began with an empty table would let in as many once more.
 */
static int count_first(struct apply *apply)
{
	int error = apply_cgroup_do(apply->pins, &apply->cgroup, loader_sockops(apply->loader),
				    apply->diag);

	/* Where the kernel cannot list sockets, that is told by the recount. */
	if (error == 0 && *apply->cgroup.path && has_to_learn(&apply->policy))
		(void)apply_seed(apply->pins, apply->policy.kernel.generation);
	return error;
}

/* Sockets have notes of the generation that did not come to be. */
static void count_as_before(struct apply *apply)
{
	bool counted = apply->cgroup.done && has_to_learn(&apply->policy);

	apply_cgroup_undo(apply->pins, &apply->cgroup, apply->diag);
	if (counted && apply->previous.found)
		(void)apply_seed(apply->pins, apply->previous.generation); /* as above */
}

/* Everything as before, last things first. */
static void undo(struct apply *apply)
{
	apply_links_undo(apply->pins, &apply->links, apply->diag);
	apply_admit_undo(apply->pins, &apply->links, apply->diag);
	count_as_before(apply);
}

/* Puts the generation that is pinned in force. Where that fails, nothing has changed. */
static int swap(struct apply *apply)
{
	int error;

	error = apply_tables_open(apply->pins, &apply->previous.policy, &apply->policy.kernel,
				  &apply->tables);
	if (error)
		return report(apply, "open the bucket tables", error);
	apply_tables_fill(&apply->tables);
	(void)apply_heartbeat(apply->pins); /* of the one in force: a load takes a moment */
	error = count_first(apply);
	if (error == 0)
		error = apply_admit_do(apply->pins, &apply->links, loader_admit(apply->loader),
				       apply->diag);
	if (error == 0)
		error = apply_links_do(apply->pins, &apply->links, loader_program(apply->loader),
				       apply->diag);
	if (error) {
		undo(apply);
		return error;
	}
	apply_tables_catch_up(&apply->tables);
	error = pins_switch(apply->pins, apply->policy.kernel.generation);
	if (error)
		undo(apply);
	return report(apply, "put the new generation in force", error);
}

/* What is left of the generation before. It is in force no more, so this can fail without harm. */
static void tidy(struct apply *apply)
{
	int error;

	apply_tables_warn(&apply->tables, apply->diag);
	apply_links_tell(&apply->links, apply->diag);
	error = apply_links_prune(apply->pins, &apply->links);
	if (error)
		diag_warning(apply->diag, nowhere, "detach from interfaces no longer named: %s",
			     strerror(-error));
	error = apply_admit_prune(apply->pins, &apply->links, apply->policy.kernel.proves);
	if (error)
		diag_warning(apply->diag, nowhere, "detach from an interface's ingress: %s",
			     strerror(-error));
	error = apply_cgroup_prune(apply->pins, &apply->cgroup);
	if (error)
		diag_warning(apply->diag, nowhere, "detach from the cgroup before: %s",
			     strerror(-error));
	error = pins_remove_others(apply->pins, apply->policy.kernel.generation);
	if (error)
		diag_warning(apply->diag, nowhere, "remove what was pinned before: %s",
			     strerror(-error));
}

static void tell(const struct apply *apply, struct apply_result *ret_result)
{
	struct apply_result result = { .generation = apply->policy.kernel.generation };

	for (unsigned int i = 0; i < apply->links.n_links; i++) {
		const struct apply_link *link = &apply->links.links[i];
		struct apply_interface *interface = &result.interfaces[result.n_interfaces++];

		memcpy(interface->name, link->name, sizeof(interface->name));
		interface->mode = link->mode;
		interface->ifindex = link->ifindex;
		interface->elsewhere = link->elsewhere;
		interface->adopted = link->plan == APPLY_SWAP;
	}
	for (size_t slot = 1; slot < STILE_LIMITERS_MAX; slot++) {
		if (apply->policy.kernel.limiters[slot].sets)
			result.n_tables[apply->policy.tables[slot]]++;
	}
	*ret_result = result;
}

static int prepare(struct apply *apply)
{
	int error;

	error = pins_prepare(apply->pins);
	if (error)
		return report_pins(apply, error);
	error = apply_recover(apply->pins);
	if (error)
		return report(apply, "finish what a killed process had begun", error);
	error = apply_interfaces_resolve(&apply->config, apply->interfaces, apply->diag);
	if (error == 0)
		error = apply_previous_read(apply->pins, apply->diag, &apply->previous);
	if (error == 0)
		error = compile(apply);
	if (error == 0)
		error = apply_interfaces_look_up(apply->pins, &apply->config, apply->diag,
						 &apply->policy.kernel);
	if (error == 0)
		error = apply_cgroup_find(apply->pins, &apply->config, apply->diag,
					  &apply->policy.kernel, &apply->cgroup);
	if (error == 0)
		error = apply_links_find(apply->pins, &apply->previous.policy,
					 &apply->policy.kernel, apply->diag, &apply->links);
	return error;
}

static int put_in_force(struct apply *apply)
{
	int error;

	error = load(apply);
	if (error)
		return error;
	error = pin_generation(apply);
	if (error == 0)
		error = swap(apply);
	if (error) {
		/* It is not in force; what stays of it, the next load removes. */
		(void)pins_remove_generation(apply->pins, apply->policy.kernel.generation);
		return error;
	}
	tidy(apply);
	return 0;
}

static void apply_release(struct apply **apply)
{
	if (!*apply)
		return;
	apply_links_release(&(*apply)->links);
	apply_cgroup_release(&(*apply)->cgroup);
	apply_tables_release(&(*apply)->tables);
	loader_free((*apply)->loader);
	policy_release(&(*apply)->policy);
	apply_previous_release(&(*apply)->previous);
	free(*apply);
}

int apply_config(const struct pins *pins, const struct config *config, struct diag *diag,
		 struct apply_result *ret_result)
{
	struct apply *apply __attribute__((cleanup(apply_release))) = NULL;
	autofd int lock = -1;
	int error;

	apply = calloc(1, sizeof(*apply));
	if (!apply)
		return -ENOMEM;
	apply->pins = pins;
	apply->diag = diag;
	apply->config = *config;
	apply->cgroup = (struct apply_cgroup){
		.directory = -1, .before = -1, .program_before = -1, .now = -1
	};
	memset(&apply->previous.kept, -1, sizeof(apply->previous.kept));
	lock = pins_lock(pins);
	if (lock == -ETIMEDOUT)
		return report(apply, "another process holds the lock and does not go on", lock);
	if (lock < 0)
		return report(apply, pins->lock, lock);
	error = prepare(apply);
	if (error == 0)
		error = put_in_force(apply);
	if (error) {
		pins_remove_empty(pins);
		return error;
	}
	tell(apply, ret_result);
	return 0;
}

bool apply_is_attached(const struct pins *pins, const char *ifname)
{
	struct bpf_link_info info;
	autofd int fd = apply_links_open(pins, ifname, &info);

	return fd >= 0 && info.xdp.ifindex;
}

int apply_detach(const struct pins *pins)
{
	autofd int lock = -1;
	int error;

	lock = pins_lock(pins);
	if (lock < 0)
		return lock;
	error = apply_links_prune(pins, NULL);
	if (error == 0)
		error = apply_admit_prune(pins, NULL, false);
	if (error == 0)
		error = apply_cgroup_detach(pins);
	return error ? error : pins_remove_all(pins);
}
