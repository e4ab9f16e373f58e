/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels, from the daemon to the pins. */
#include <errno.h>

#include <bpf/bpf.h>

#include "apply.h"
#include "util.h"

int apply_levels(const struct pins *pins, const struct stile_level levels[STILE_LISTENERS_MAX])
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path_current(pins, "levels", path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.value_size != sizeof(levels[0]))
		return -EPROTO;
	for (__u32 slot = 1; slot < STILE_LISTENERS_MAX; slot++) {
		if (levels[slot].at && bpf_map_update_elem(fd, &slot, &levels[slot], BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}
