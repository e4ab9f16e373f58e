/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cgroup may have any number of such programs, and each sees every event, so nobody is in the
 * way. Where the directory changes, the next link is made before the one before is taken away: a
 * socket that both tell of has a note after the first.
 */
#include <errno.h>
#include <linux/socket.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "apply_cgroup.h"
#include "cgroup.h"
#include "loader.h"
#include "util.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif

static const struct place nowhere = { 0, 0 };

/* Of this process: sockets of other network namespaces are not what its interfaces lead to. */
static int netns_cookie(__u64 *ret_cookie)
{
	autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(*ret_cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, ret_cookie, &size) < 0)
		return -errno;
	return 0;
}

/* The pinned link and what the kernel says of it. Its fd, or negative errno. */
static int open_link(const struct pins *pins, struct bpf_link_info *ret_info)
{
	__u32 size = sizeof(*ret_info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path_cgroup(pins, path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	memset(ret_info, 0, sizeof(*ret_info));
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, ret_info, &size) < 0)
		return -errno;
	if (ret_info->type != BPF_LINK_TYPE_CGROUP)
		return -EPROTO;
	return take_fd(&fd);
}

/* The pinned program of the generation in force, where it is the one that the link runs. */
static int open_program(const struct pins *pins, uint32_t id)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path_current(pins, "sockops", path) == 0)
		fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 || info.id != id)
		return bpf_prog_get_fd_by_id(id);
	return take_fd(&fd);
}

static int find_link(const struct pins *pins, struct apply_cgroup *cgroup)
{
	struct bpf_link_info info;

	cgroup->before = open_link(pins, &info);
	if (cgroup->before < 0)
		return cgroup->before == -ENOENT ? 0 : cgroup->before;
	cgroup->same = *cgroup->path && info.cgroup.cgroup_id == cgroup->id;
	if (!cgroup->same)
		return 0;
	cgroup->program_before = open_program(pins, info.prog_id);
	return cgroup->program_before < 0 ? -errno : 0;
}

/* Why there is no such directory. An error where the file names it, otherwise a warning: 0. */
static int report_directory(const struct config *config, const char *path, int error,
			    struct diag *diag)
{
	const char *why = cgroup_reason(error);

	if (config->cgroup) {
		diag_error(diag, config->cgroup_place, "cgroup: '%s': %s", path, why);
		return -EINVAL;
	}
	diag_warning(diag, nowhere,
		     "no cgroup2 file system is mounted (%s): open connections are not counted",
		     why);
	return 0;
}

/* 0, also where there is none; it is told then. */
static int find_directory(const struct config *config, struct diag *diag,
			  struct apply_cgroup *cgroup)
{
	int error = 0;

	if (config->cgroup)
		snprintf(cgroup->path, sizeof(cgroup->path), "%s", config->cgroup);
	else
		error = cgroup_root(cgroup->path);
	if (error == 0)
		cgroup->directory = cgroup_open(cgroup->path, &cgroup->id);
	if (error == 0 && cgroup->directory >= 0)
		return 0;
	error = report_directory(config, cgroup->path, error ? error : cgroup->directory, diag);
	*cgroup->path = '\0';
	return error;
}

int apply_cgroup_find(const struct pins *pins, const struct config *config, struct diag *diag,
		      struct stile_policy *policy, struct apply_cgroup *ret_cgroup)
{
	int error = 0;

	*ret_cgroup = (struct apply_cgroup){
		.place = config->cgroup_place,
		.directory = -1,
		.before = -1,
		.program_before = -1,
		.now = -1,
	};
	if (policy->connections)
		error = find_directory(config, diag, ret_cgroup);
	if (error == 0 && *ret_cgroup->path)
		error = netns_cookie(&policy->netns);
	if (error)
		return error;
	policy->cgroup = ret_cgroup->id;
	policy->connections = *ret_cgroup->path != '\0';
	error = find_link(pins, ret_cgroup);
	if (error)
		diag_error(diag, nowhere, "look for what is attached to the cgroup: %s",
			   strerror(-error));
	return error;
}

static int pin(const struct pins *pins, int fd, const char *directory)
{
	char path[PATH_MAX];

	if (pins_path_cgroup(pins, path) < 0)
		return -ENAMETOOLONG;
	if (unlink(path) < 0 && errno != ENOENT) /* of the directory before */
		return -errno;
	if (bpf_obj_pin(fd, path) < 0)
		return -errno;
	return pins_note_cgroup(pins, directory);
}

/* What is attached elsewhere goes on until the load is in force, and loses its pin only. */
static int attach(const struct pins *pins, struct apply_cgroup *cgroup, int program,
		  struct diag *diag)
{
	int error = loader_attach_cgroup(program, cgroup->directory, &cgroup->now);

	if (error == 0) {
		cgroup->done = true;
		error = pin(pins, cgroup->now, cgroup->path);
	}
	if (error == 0)
		return 0;
	if (cgroup->place.line == 0 && !cgroup->done) {
		diag_warning(diag, nowhere,
			     "attach to the cgroup '%s': %s: open connections are not counted",
			     cgroup->path, strerror(-error));
		return 0;
	}
	diag_error(diag, cgroup->place, "attach to the cgroup '%s': %s", cgroup->path,
		   strerror(-error));
	return error;
}

int apply_cgroup_do(const struct pins *pins, struct apply_cgroup *cgroup, int program,
		    struct diag *diag)
{
	int error;

	if (!*cgroup->path)
		return 0;
	if (!cgroup->same)
		return attach(pins, cgroup, program, diag);
	error = bpf_link_update(cgroup->before, program, NULL) < 0 ? -errno : 0;
	cgroup->done = error == 0;
	if (error)
		diag_error(diag, nowhere, "swap the program of the cgroup '%s': %s", cgroup->path,
			   strerror(-error));
	return error;
}

static int undo(const struct pins *pins, struct apply_cgroup *cgroup)
{
	char path[PATH_MAX] = "";

	if (cgroup->same)
		return bpf_link_update(cgroup->before, cgroup->program_before, NULL) < 0 ? -errno
											 : 0;
	(void)bpf_link_detach(cgroup->now); /* closing it does it too, some time later */
	if (cgroup->before < 0)
		return pins_remove_cgroup(pins);
	(void)pins_read_cgroup(pins, path); /* for people; another one stands there now */
	return pin(pins, cgroup->before, path);
}

void apply_cgroup_undo(const struct pins *pins, struct apply_cgroup *cgroup, struct diag *diag)
{
	int error;

	if (!cgroup->done)
		return;
	cgroup->done = false;
	error = undo(pins, cgroup);
	if (error)
		diag_error(diag, nowhere, "put back what was attached to the cgroup '%s': %s",
			   cgroup->path, strerror(-error));
}

/* A link whose directory is gone cannot be detached any more, and need not be. */
static int detach(int link)
{
	return bpf_link_detach(link) < 0 && errno != ENOLINK ? -errno : 0;
}

int apply_cgroup_prune(const struct pins *pins, struct apply_cgroup *cgroup)
{
	int error;

	if (cgroup->before < 0 || cgroup->same)
		return 0;
	error = detach(cgroup->before);
	if (error == 0 && cgroup->now < 0)
		error = pins_remove_cgroup(pins);
	return error;
}

int apply_cgroup_detach(const struct pins *pins)
{
	struct bpf_link_info info;
	autofd int link = open_link(pins, &info);
	int error;

	if (link < 0)
		return link == -ENOENT ? 0 : link;
	error = detach(link);
	return error ? error : pins_remove_cgroup(pins);
}

void apply_cgroup_release(struct apply_cgroup *cgroup)
{
	fd_release(&cgroup->directory);
	fd_release(&cgroup->before);
	fd_release(&cgroup->program_before);
	fd_release(&cgroup->now);
}

enum apply_cgroup_state apply_cgroup_state(const struct pins *pins)
{
	struct bpf_link_info info;
	char path[PATH_MAX];
	autofd int link = open_link(pins, &info);
	autofd int directory = -1;
	uint64_t id;

	if (link < 0 || info.cgroup.cgroup_id)
		return APPLY_CGROUP_HERE;
	if (pins_read_cgroup(pins, path) == 0)
		directory = cgroup_open(path, &id);
	return directory < 0 ? APPLY_CGROUP_GONE : APPLY_CGROUP_BACK;
}
