/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON, which Linux 5.8 has taken out of it. */
#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"

static bool has(uint64_t capabilities, int capability)
{
	return capabilities >> capability & 1;
}

bool privilege_has_all(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	uint64_t mine;

	if (syscall(SYS_capget, &header, data) < 0)
		return true; /* nobody knows: no hint is better than a wrong one */
	mine = (uint64_t)data[1].effective << 32 | data[0].effective;
	return has(mine, CAP_NET_ADMIN) &&
	       (has(mine, CAP_SYS_ADMIN) || (has(mine, CAP_BPF) && has(mine, CAP_PERFMON)));
}
