/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bucket tables that go on in others: opened, filled before the programs are swapped, and caught up
 * with after it. For the files of apply.h alone; what is carried, and how, is in carry.h.
 */
#ifndef STILE_APPLY_TABLES_H
#define STILE_APPLY_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stile/abi.h>

#include "carry.h"
#include "diag.h"
#include "pins.h"

struct apply_table {
	uint32_t slot;
	int fd;		    /* of the next one */
	struct carry carry; /* both tables mapped */
	size_t lost;	    /* live buckets that found no room */
};

struct apply_tables {
	const struct stile_policy *before;
	int outer; /* the next program's map of tables, where there is something to carry */
	struct apply_table tables[STILE_LIMITERS_MAX];
	unsigned int n_tables;
};

/*
 * Opens the tables of two generations that are pinned, wherever one's buckets go on in another's;
 * both policies are borrowed. @before may be all zero. 0 or negative errno.
 */
int apply_tables_open(const struct pins *pins, const struct stile_policy *before,
		      const struct stile_policy *now, struct apply_tables *ret_tables);

/* Right before the first swap. */
void apply_tables_fill(struct apply_tables *tables);

/* Right after the last one; waits until the program before has come to rest on every CPU. */
void apply_tables_catch_up(struct apply_tables *tables);

/* Tells what found no room. */
void apply_tables_warn(const struct apply_tables *tables, struct diag *diag);

void apply_tables_release(struct apply_tables *tables);

#endif /* STILE_APPLY_TABLES_H */
