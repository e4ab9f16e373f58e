/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The heartbeat lies in one entry with what commands change under a lock. It is written by memory
 * alone, so that the daemon need not wait for the lock of a command that was stopped; a command
 * that writes the entry back puts a heartbeat there that is older by moments.
 */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>

#include "apply.h"
#include "util.h"

static int map_control(const struct pins *pins, struct stile_control **ret_control)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;
	void *control;

	if (pins_path_current(pins, "control", path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.value_size != sizeof(**ret_control))
		return -EPROTO;
	control = mmap(NULL, sizeof(**ret_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		return -errno;
	*ret_control = control;
	return 0;
}

int apply_heartbeat(const struct pins *pins)
{
	struct stile_control *control = NULL;
	struct timespec now;
	int error;

	error = map_control(pins, &control);
	if (error || !control)
		return error;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	__atomic_store_n(&control->heartbeat, (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec,
			 __ATOMIC_RELAXED);
	(void)munmap(control, sizeof(*control)); /* only a wrong size could fail */
	return 0;
}
