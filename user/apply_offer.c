/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the host's TCP agrees to in a handshake, by the sysctls of this network namespace, so that a
 * SYN which Stile answers gets what the stack would have said (net/ipv4/tcp_output.c).
 */
#include <stdio.h>
#include <unistd.h>

#include "apply.h"

#define SYSCTL "/proc/sys/net/"
#define SCALE_MAX 14U	/* RFC 7323, 2.3 */
#define UNSCALED 65535U /* bytes that a window has without it */

/* The @index-th number of a sysctl, or @otherwise. */
static unsigned int sysctl_number(const char *path, unsigned int index, unsigned int otherwise)
{
	FILE *file = fopen(path, "re");
	unsigned int number = otherwise;

	if (!file)
		return otherwise;
	for (unsigned int i = 0; i <= index; i++) {
		if (fscanf(file, "%u", &number) != 1) {
			number = otherwise;
			break;
		}
	}
	(void)fclose(file); /* it was only read */
	return number;
}

/* As the kernel chooses it for a socket whose buffer nobody has set. */
static uint8_t window_scale(void)
{
	unsigned int space = sysctl_number(SYSCTL "ipv4/tcp_rmem", 2, 6291456);
	unsigned int most = sysctl_number(SYSCTL "core/rmem_max", 0, 212992);
	uint8_t scale = 0;

	if (most > space)
		space = most;
	while (space > UNSCALED && scale < SCALE_MAX) {
		space /= 2;
		scale++;
	}
	return scale;
}

struct stile_offer apply_offer(void)
{
	return (struct stile_offer){
		.timestamps = sysctl_number(SYSCTL "ipv4/tcp_timestamps", 0, 1) != 0,
		.sack = sysctl_number(SYSCTL "ipv4/tcp_sack", 0, 1) != 0,
		.ecn = sysctl_number(SYSCTL "ipv4/tcp_ecn", 0, 2) != 0,
		.scales = sysctl_number(SYSCTL "ipv4/tcp_window_scaling", 0, 1) != 0,
		.window_scale = window_scale(),
		.mptcp = access(SYSCTL "mptcp/enabled", F_OK) == 0,
	};
}

bool apply_takes_cookies(void)
{
	return sysctl_number(SYSCTL "ipv4/tcp_syncookies", 0, 0) != 0;
}
