/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots made by hand, and frames of them, for the tests of the live screen. */
#ifndef STILE_TOP_FRAMES_H
#define STILE_TOP_FRAMES_H

#include "top.h"

#define SECOND 1000000000ULL
#define SLOT_WEB 1
#define SLOT_PER_CLIENT 1
#define LINES 24

struct snapshot *snapshot_at(uint64_t seconds);

/* Clients 192.0.2.1 and on; the one in place i has these counts times i + 1. */
struct snapshot_client *clients_with(size_t n, uint64_t admitted, uint64_t refused);

void decide(struct snapshot *snapshot, uint64_t allowed, uint64_t limited);

/* Two seconds in which 20 were admitted and 300 shed, and a client's counts grew by 4 and 60. */
struct top_frame *second_frame(size_t n_clients);

struct top_view view_of(unsigned int columns, unsigned int lines);

#endif /* STILE_TOP_FRAMES_H */
