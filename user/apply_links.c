/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A link is swapped in place, so that no packet finds its interface without a program. Unpinning
 * alone is no detaching: the kernel does that some time later, and the next attachment would find
 * the interface taken. So links are detached by name first.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apply_links.h"
#include "loader.h"
#include "names.h"
#include "netif.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

static int report(const struct apply_link *link, const char *what, int error, struct diag *diag)
{
	if (error)
		diag_error(diag, nowhere, "%s '%s': %s", what, link->name, strerror(-error));
	return error;
}

/* How @program is attached to @ifindex; _STILE_MODE_MAX where it is not. */
static enum stile_mode attached_mode(uint32_t ifindex, uint32_t program)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (program == 0 || bpf_xdp_query((int)ifindex, 0, &query) < 0)
		return _STILE_MODE_MAX;
	if (query.drv_prog_id == program)
		return STILE_MODE_NATIVE;
	return query.skb_prog_id == program ? STILE_MODE_GENERIC : _STILE_MODE_MAX;
}

/*
 * Native XDP_TX on a veth is lost unless its peer runs native XDP too, so that refusals would stay
 * unheard; everything else is faster in native mode.
 */
static enum stile_mode preferred_mode(const struct apply_link *link)
{
	char driver[32];

	if (link->wanted != STILE_MODE_AUTO)
		return link->wanted;
	if (netif_driver(link->name, driver) == 0 && strcmp(driver, "veth") == 0)
		return STILE_MODE_GENERIC;
	return STILE_MODE_NATIVE;
}

/* The mode it was configured to have before, or _STILE_MODE_MAX. */
static enum stile_mode wanted_before(const struct stile_policy *before, const char *name)
{
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		if (strcmp(before->interfaces[slot].name, name) == 0)
			return before->interfaces[slot].mode;
	}
	return _STILE_MODE_MAX;
}

/*
 * A link of an interface that went away, or that another network namespace has, is as good as
 * none: then the interface of that name and number does not run its program.
 */
static int find_before(const struct pins *pins, struct apply_link *link)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;
	int error;

	error = pins_path_link(pins, link->name, path);
	if (error)
		return error;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.type != BPF_LINK_TYPE_XDP || info.xdp.ifindex != link->ifindex)
		return 0;
	link->mode_before = attached_mode(link->ifindex, info.prog_id);
	if (link->mode_before == _STILE_MODE_MAX)
		return 0;
	link->program_before = bpf_prog_get_fd_by_id(info.prog_id);
	if (link->program_before < 0)
		return -errno;
	link->before = take_fd(&fd);
	return 0;
}

static enum apply_plan make_plan(const struct stile_policy *before, const struct apply_link *link)
{
	if (link->before < 0)
		return APPLY_ATTACH;
	if (link->wanted == STILE_MODE_AUTO && wanted_before(before, link->name) == STILE_MODE_AUTO)
		return APPLY_SWAP; /* what auto came to then is good enough */
	return preferred_mode(link) == link->mode_before ? APPLY_SWAP : APPLY_REPLACE;
}

int apply_links_find(const struct pins *pins, const struct stile_policy *before,
		     const struct stile_policy *now, struct diag *diag,
		     struct apply_links *ret_links)
{
	int error;

	*ret_links = (struct apply_links){ .n_links = 0 };
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		const struct stile_interface *interface = &now->interfaces[slot];
		struct apply_link *link = &ret_links->links[ret_links->n_links];

		if (!*interface->name)
			continue;
		*link = (struct apply_link){
			.ifindex = interface->ifindex,
			.wanted = interface->mode,
			.before = -1,
			.program_before = -1,
			.now = -1,
		};
		memcpy(link->name, interface->name, sizeof(link->name));
		ret_links->n_links++;
		error = find_before(pins, link);
		if (error)
			return report(link, "look for what is attached to", error, diag);
		link->plan = make_plan(before, link);
	}
	return 0;
}

/* Somebody else's program: who it is, as far as the kernel tells. */
static void report_foreign(const struct apply_link *link, struct diag *diag)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info), id = 0;
	autofd int fd = -1;

	if (bpf_xdp_query((int)link->ifindex, 0, &query) == 0)
		id = query.drv_prog_id	 ? query.drv_prog_id
		     : query.skb_prog_id ? query.skb_prog_id
					 : query.hw_prog_id;
	fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	if (fd >= 0)
		(void)bpf_obj_get_info_by_fd(fd, &info,
					     &size); /* without it, the name is missing */
	diag_error(diag, nowhere,
		   "attach to '%s': an XDP program that is not this instance's is there already "
		   "(id %u, '%s'): it is left alone",
		   link->name, id, info.name);
}

static void report_attach(const struct apply_link *link, enum stile_mode mode, int error,
			  struct diag *diag)
{
	const char *hint = "";

	if (error == -EBUSY || error == -EEXIST) {
		report_foreign(link, diag);
		return;
	}
	if (error == -EPERM)
		hint = ": it takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON";
	else if (error == -EOPNOTSUPP && mode == STILE_MODE_NATIVE)
		hint = ": its driver has no native XDP; 'mode: generic' does without";
	else if (error == -ERANGE || error == -EINVAL)
		hint = ": its MTU may be too large for XDP, or an offload be in the way";
	diag_error(diag, nowhere, "attach to '%s' in %s mode: %s%s", link->name,
		   policy_mode_names[mode], strerror(-error), hint);
}

/* Makes the new link, in the mode that is configured, or in the first that works. */
static int make_link(struct apply_link *link, int program, struct diag *diag)
{
	enum stile_mode mode = preferred_mode(link);
	int error;

	error = loader_attach(program, link->ifindex, mode, &link->now);
	if (error && error != -EBUSY && error != -EEXIST && error != -EPERM &&
	    link->wanted == STILE_MODE_AUTO && mode == STILE_MODE_NATIVE) {
		mode = STILE_MODE_GENERIC;
		error = loader_attach(program, link->ifindex, mode, &link->now);
	}
	if (error)
		report_attach(link, mode, error, diag);
	link->mode = mode;
	return error;
}

static int pin_link(const struct pins *pins, const char *name, int fd)
{
	char path[PATH_MAX];
	int error;

	error = pins_path_link(pins, name, path);
	if (error)
		return error;
	if (unlink(path) < 0 && errno != ENOENT) /* of an interface that went away */
		return -errno;
	return bpf_obj_pin(fd, path) < 0 ? -errno : 0;
}

/* Without the note nothing is lost but an answer. */
static void note_mode(const struct pins *pins, const struct apply_link *link, enum stile_mode mode)
{
	(void)pins_note_mode(pins, link->name, policy_mode_names[mode]);
}

static int attach(const struct pins *pins, struct apply_link *link, int program, struct diag *diag)
{
	int error;

	error = make_link(link, program, diag);
	if (error)
		return error;
	error = pin_link(pins, link->name, link->now);
	if (error == 0)
		note_mode(pins, link, link->mode);
	return report(link, "pin the link of", error, diag);
}

static int do_link(const struct pins *pins, struct apply_link *link, int program, struct diag *diag)
{
	int error;

	switch (link->plan) {
	case APPLY_SWAP:
		link->mode = link->mode_before;
		error = bpf_link_update(link->before, program, NULL) < 0 ? -errno : 0;
		link->done = error == 0;
		note_mode(pins, link, link->mode);
		return report(link, "swap the program of", error, diag);
	case APPLY_REPLACE:
		error = bpf_link_detach(link->before) < 0 ? -errno : 0;
		if (error)
			return report(link, "detach from", error, diag);
		break;
	case APPLY_ATTACH:
		break;
	}
	link->done = true; /* or half done: either way there is something to undo */
	return attach(pins, link, program, diag);
}

int apply_links_do(const struct pins *pins, struct apply_links *links, int program,
		   struct diag *diag)
{
	/* What is likeliest to fail comes first, and what opens a gap comes last. */
	static const enum apply_plan order[] = { APPLY_ATTACH, APPLY_SWAP, APPLY_REPLACE };

	for (size_t step = 0; step < ARRAY_SIZE(order); step++) {
		for (unsigned int i = 0; i < links->n_links; i++) {
			int error = 0;

			if (links->links[i].plan == order[step])
				error = do_link(pins, &links->links[i], program, diag);
			if (error) {
				apply_links_undo(pins, links, diag);
				return error;
			}
		}
	}
	return 0;
}

static int undo_link(const struct pins *pins, struct apply_link *link)
{
	autofd int again = -1;
	int error;

	if (link->plan == APPLY_SWAP)
		return bpf_link_update(link->before, link->program_before, NULL) < 0 ? -errno : 0;
	if (link->now >= 0) {
		if (bpf_link_detach(link->now) < 0)
			return -errno;
		error = pins_remove_link(pins, link->name);
		if (error)
			return error;
	}
	if (link->plan == APPLY_ATTACH)
		return 0;
	error = loader_attach(link->program_before, link->ifindex, link->mode_before, &again);
	if (error)
		return error;
	note_mode(pins, link, link->mode_before);
	return pin_link(pins, link->name, again);
}

void apply_links_undo(const struct pins *pins, struct apply_links *links, struct diag *diag)
{
	int error;

	for (unsigned int i = links->n_links; i > 0; i--) {
		struct apply_link *link = &links->links[i - 1];

		if (!link->done)
			continue;
		link->done = false;
		error = undo_link(pins, link);
		(void)report(link, "put back what was attached to", error, diag); /* told there */
	}
}

struct prune {
	const struct pins *pins;
	const struct apply_links *links;
};

static int prune_link(const char *name, void *context)
{
	const struct prune *prune = context;
	char path[PATH_MAX];
	autofd int fd = -1;
	int error;

	for (unsigned int i = 0; prune->links && i < prune->links->n_links; i++) {
		if (strcmp(prune->links->links[i].name, name) == 0)
			return 0;
	}
	error = pins_path_link(prune->pins, name, path);
	if (error)
		return error;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (bpf_link_detach(fd) < 0)
		return -errno;
	return pins_remove_link(prune->pins, name);
}

int apply_links_prune(const struct pins *pins, const struct apply_links *links)
{
	struct prune prune = { .pins = pins, .links = links };

	return pins_each_link(pins, prune_link, &prune);
}

void apply_links_release(struct apply_links *links)
{
	for (unsigned int i = 0; i < links->n_links; i++) {
		fd_release(&links->links[i].before);
		fd_release(&links->links[i].program_before);
		fd_release(&links->links[i].now);
	}
	links->n_links = 0;
}
