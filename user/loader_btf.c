/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbpf looks where the kernel's own structs have their fields for whatever program of an object
 * reads one, loaded or not, and fails where the kernel does not tell. It can be told to look
 * elsewhere: in types that say nothing. What needs more is not loaded then.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "loader_btf.h"
#include "util.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

bool loader_btf_is_there(void)
{
	return access(KERNEL_BTF, R_OK) == 0;
}

static void btf_release(struct btf **btf)
{
	btf__free(*btf);
}

int loader_btf_open(struct loader_btf *ret_btf)
{
	struct btf *btf __attribute__((cleanup(btf_release))) = NULL;
	autofd int fd = -1;
	const void *data;
	__u32 size;

	*ret_btf = (struct loader_btf){ .fd = -1 };
	if (loader_btf_is_there())
		return 0;
	btf = btf__new_empty();
	fd = memfd_create("stile-btf", MFD_CLOEXEC);

	if (!btf || fd < 0)
		return -errno;
	if (btf__add_int(btf, "int", sizeof(int), BTF_INT_SIGNED) < 0)
		return -ENOMEM;
	data = btf__raw_data(btf, &size);
	if (!data || write(fd, data, size) != (ssize_t)size)
		return -EIO;
	snprintf(ret_btf->path, sizeof(ret_btf->path), "/proc/self/fd/%d", fd);
	ret_btf->fd = take_fd(&fd);
	return 0;
}
