/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A link that is there is swapped, one that is new is pinned; the number of its interface tells
 * whether it is still the right one.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "apply_admit.h"
#include "loader.h"
#include "util.h"

static int pin(const char *path, int link)
{
	if (unlink(path) < 0 && errno != ENOENT) /* of an interface that went away */
		return -errno;
	return bpf_obj_pin(link, path) < 0 ? -errno : 0;
}

static int attach(const struct pins *pins, const struct apply_link *link, int program)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;
	int error;

	error = pins_path_admit(pins, link->name, path);
	if (error)
		return error;
	fd = bpf_obj_get(path);
	/* Of XDP and of tc, the interface's number stands at the same place. */
	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	    info.xdp.ifindex == link->ifindex)
		return bpf_link_update(fd, program, NULL) < 0 ? -errno : 0;
	if (link->elsewhere)
		return 0; /* its number says nothing here */
	fd_release(&fd);
	error = loader_attach_ingress(program, link->ifindex, &fd);
	return error ? error : pin(path, fd);
}

int apply_admit_do(const struct pins *pins, const struct apply_links *links, int program,
		   struct diag *diag)
{
	int error;

	for (unsigned int i = 0; program >= 0 && i < links->n_links; i++) {
		const struct apply_link *link = &links->links[i];

		if (link->plan == APPLY_WAIT)
			continue;
		error = attach(pins, link, program);
		if (error) {
			apply_admit_undo(pins, links, diag);
			return apply_links_report(link, "attach to the ingress of", error, diag);
		}
	}
	return 0;
}

void apply_admit_undo(const struct pins *pins, const struct apply_links *links, struct diag *diag)
{
	char path[PATH_MAX];
	autofd int program = -1;
	int error = 0;

	if (pins_path_current(pins, "admit", path) == 0)
		program = bpf_obj_get(path);
	if (program < 0) {
		(void)apply_admit_prune(pins, NULL, false); /* none was there before */
		return;
	}
	for (unsigned int i = 0; i < links->n_links; i++) {
		if (links->links[i].plan != APPLY_WAIT)
			error = attach(pins, &links->links[i], program);
		if (error)
			(void)apply_links_report(&links->links[i], "put back the ingress of", error,
						 diag); /* it told */
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

	for (unsigned int i = 0; prune->links && i < prune->links->n_links; i++) {
		if (strcmp(prune->links->links[i].name, name) == 0 &&
		    prune->links->links[i].plan != APPLY_WAIT)
			return 0;
	}
	if (pins_path_admit(prune->pins, name, path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd >= 0 && bpf_link_detach(fd) < 0 && errno != ENOLINK)
		return -errno;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int apply_admit_prune(const struct pins *pins, const struct apply_links *links, bool used)
{
	struct prune prune = { .pins = pins, .links = used ? links : NULL };

	return pins_each_admit(pins, prune_link, &prune);
}
