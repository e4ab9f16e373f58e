/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An explanation as text and as JSON. */
#ifndef STILE_EXPLAIN_PRINT_H
#define STILE_EXPLAIN_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "snapshot.h"

struct explain_subject {
	const struct snapshot *snapshot;
	const uint8_t *address;
	uint32_t listener;   /* slot */
	uint32_t interfaces; /* one bit a slot */
	uint64_t open;	     /* connections that it holds there */
};

/* 0 or -ENOMEM. */
int explain_print(const struct explain_subject *subject, const struct snapshot_verdict *verdict,
		  FILE *out);

/* NULL where there is no memory for it. */
json_t *explain_json(const struct explain_subject *subject, const struct snapshot_verdict *verdict);

#endif /* STILE_EXPLAIN_PRINT_H */
