/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame is put where its memory ends with it, so that a sanitizer sees each byte too far. */
#include <stdlib.h>
#include <string.h>

#include "host_parse.h"
#include "parse.h"

#define ALIGNMENT 2 /* the IP header, 14 bytes on, is at a multiple of four */

int host_parse(const void *frame, size_t size)
{
	char *memory = malloc(ALIGNMENT + size);
	struct pkt pkt = {};
	int reason;

	if (!memory)
		return -2;
	memcpy(memory + ALIGNMENT, frame, size);
	reason = parse(memory + ALIGNMENT, memory + ALIGNMENT + size, &pkt);
	free(memory);
	return reason;
}
