/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of ports from the tables that the kernel side looks them up in; for snapshot.h. Pure. */
#ifndef STILE_SNAPSHOT_PORTS_H
#define STILE_SNAPSHOT_PORTS_H

#include <stdint.h>

#include <stile/abi.h>

#include "snapshot.h"

struct snapshot_ports_tables {
	const struct stile_ports *rows;
	uint32_t n_rows;
	const struct stile_page *pages;
	uint32_t n_pages;
};

struct snapshot_ports_list {
	struct snapshot_ports *ports;
	size_t n, n_allocated;
};

/*
 * Appends the runs of @row, which is that of @address; row 0 is everywhere. What another row has in
 * common with row 0 it has from there, and is not listed again. 0 or -ENOMEM.
 */
int snapshot_ports_add(const struct snapshot_ports_tables *tables, uint32_t row,
		       const struct stile_host *host, struct snapshot_ports_list *list);

#endif /* STILE_SNAPSHOT_PORTS_H */
