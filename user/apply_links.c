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
#include "apply_owner.h"
#include "loader.h"
#include "names.h"
#include "privilege.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

int apply_links_report(const struct apply_link *link, const char *what, int error,
		       struct diag *diag)
{
	if (error)
		diag_error(diag, nowhere, "%s '%s': %s", what, link->name, strerror(-error));
	return error;
}

/*
 * Somebody else's program: who it is, as far as the kernel tells. Its name is told to root alone,
 * so not to a daemon that runs.
 */
static void report_foreign(const struct apply_link *link, struct diag *diag)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	char owner[APPLY_OWNER_SIZE], what[APPLY_OWNER_SIZE + 64];
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info), id = 0;
	autofd int fd = -1;

	if (bpf_xdp_query((int)link->ifindex, 0, &query) == 0)
		id = query.drv_prog_id	 ? query.drv_prog_id
		     : query.skb_prog_id ? query.skb_prog_id
					 : query.hw_prog_id;
	fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	apply_owner_find(id, owner);
	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
		snprintf(what, sizeof(what), ", '%s', %s", info.name, owner);
	else
		snprintf(what, sizeof(what), ": 'bpftool prog show id %u' as root tells whose", id);
	diag_error(diag, nowhere,
		   "attach to '%s': an XDP program that is not this instance's is there already "
		   "(id %u%s): it is left alone",
		   link->name, id, what);
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
		hint = ": " PRIVILEGE_HINT;
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
	enum stile_mode mode = apply_links_mode(link);
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
	return apply_links_report(link, "pin the link of", error, diag);
}

/*
 * A link that was found by another name is pinned by the new one as well; the old one goes when
 * nothing can fail any more. Names that were exchanged are why it is not simply renamed.
 */
static int rename_pin(const struct pins *pins, struct apply_link *link, struct diag *diag)
{
	int error;

	if (strcmp(link->pin, link->name) == 0)
		return 0;
	error = pin_link(pins, link->name, link->before);
	return apply_links_report(link, "pin the link of", error, diag);
}

static int do_link(const struct pins *pins, struct apply_link *link, int program, struct diag *diag)
{
	int error;

	switch (link->plan) {
	case APPLY_SWAP:
		link->mode = link->mode_before;
		error = bpf_link_update(link->before, program, NULL) < 0 ? -errno : 0;
		if (error)
			return apply_links_report(link, "swap the program of", error, diag);
		link->done = true;
		note_mode(pins, link, link->mode);
		return rename_pin(pins, link, diag);
	case APPLY_REPLACE:
		error = bpf_link_detach(link->before) < 0 ? -errno : 0;
		if (error)
			return apply_links_report(link, "detach from", error, diag);
		break;
	case APPLY_ATTACH:
		break;
	case APPLY_WAIT:
		return 0;
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
		(void)apply_links_report(link, "put back what was attached to", error,
					 diag); /* it told */
	}
}

/* Whether the link of that id is one of @links still. */
static bool keeps(const struct apply_links *links, uint32_t id)
{
	for (unsigned int i = 0; i < links->n_links; i++) {
		if (links->links[i].before >= 0 && links->links[i].id == id)
			return true;
	}
	return false;
}

void apply_links_tell(const struct apply_links *links, struct diag *diag)
{
	for (unsigned int i = 0; i < links->n_links; i++) {
		const struct apply_link *link = &links->links[i];

		if (link->displaced == 0 || keeps(links, link->displaced))
			continue;
		if (*link->displaced_name)
			diag_warning(
				diag, nowhere,
				"interface '%s', which was '%s', is protected no more: another "
				"one has the name now, and that is the one configured",
				link->displaced_name, link->name);
		else
			diag_warning(diag, nowhere,
				     "the interface in another network namespace that was '%s' is "
				     "protected no more: another one has the name here now, and "
				     "that is the one configured",
				     link->name);
	}
}

struct prune {
	const struct pins *pins;
	const struct apply_links *links;
};

static int prune_link(const char *name, void *context)
{
	const struct prune *prune = context;
	struct bpf_link_info info = {};
	bool in_use = false;
	autofd int fd = -1;

	fd = apply_links_open(prune->pins, name, &info);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	for (unsigned int i = 0; prune->links && i < prune->links->n_links; i++) {
		const struct apply_link *link = &prune->links->links[i];

		if (strcmp(link->name, name) == 0 && link->plan != APPLY_WAIT)
			return 0;
		in_use = in_use || (link->plan == APPLY_SWAP && link->id == info.id);
	}
	if (!in_use && bpf_link_detach(fd) < 0)
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
