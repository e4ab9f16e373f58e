/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The look for handshakes that came to nothing, which a program of the kernel side takes. */
#include <errno.h>
#include <linux/if_ether.h>

#include <bpf/bpf.h>

#include "apply.h"
#include "util.h"

static int open_current(const struct pins *pins, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (pins_path_current(pins, name, path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* A part of the table at a time: nothing else runs on the CPU meanwhile. */
static int sweep(int program, __u32 n_sets, uint64_t cookies)
{
	union {
		struct stile_sweep sweep;
		char bytes[ETH_ZLEN];
	} frame = { .bytes = { 0 } };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame, .data_size_in = sizeof(frame));

	frame.sweep.cookies = cookies;
	for (; frame.sweep.first < n_sets; frame.sweep.first += STILE_SWEEP_SETS) {
		if (bpf_prog_test_run_opts(program, &options) < 0)
			return -errno;
	}
	return 0;
}

int apply_sweep(const struct pins *pins, struct syncookies *cookies)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	autofd int program = open_current(pins, "sweep");
	autofd int map = program < 0 ? program : open_current(pins, "handshakes");

	if (program == -ENOENT) /* no limiter counts places */
		return 0;
	if (map < 0)
		return map;
	if (bpf_obj_get_info_by_fd(map, &info, &size) < 0)
		return -errno;
	syncookies_look(cookies);
	return sweep(program, info.max_entries, cookies->last);
}
