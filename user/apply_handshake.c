/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a handshake can live in this network namespace: the first SYN-ACK is sent again after a
 * second, each further one after twice the time, two minutes at most, and after the last the
 * kernel waits once more (RFC 6298, 2.1 and 5.5; TCP_RTO_MAX in the kernel's net/tcp.h).
 * A SYN cookie may live longer, and is as good as a handshake.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apply.h"
#include "syncookies.h"

#define RETRIES "/proc/sys/net/ipv4/tcp_synack_retries"
#define SECOND 1000000000ULL
#define WAIT_MAX 120U /* seconds */
#define LIFE_MAX 600U

uint64_t apply_handshake_life(void)
{
	FILE *file = fopen(RETRIES, "re");
	unsigned int retries = 5, wait = 1, life = 0; /* the kernel's default */

	if (file) {
		if (fscanf(file, "%u", &retries) != 1)
			retries = 5;
		(void)fclose(file); /* it was only read */
	}
	for (unsigned int i = 0; i <= retries && life < LIFE_MAX; i++) {
		life += wait;
		wait = wait * 2 < WAIT_MAX ? wait * 2 : WAIT_MAX;
	}
	life = life < LIFE_MAX ? life : LIFE_MAX;
	if (life * SECOND < SYNCOOKIES_LIFE && syncookies_enabled())
		return SYNCOOKIES_LIFE;
	return life * SECOND;
}
