/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a program on packets that the driver program (driver.bpf.c) makes in the kernel, and tells
 * the CPU time of the calling thread. One driver serves one thread at a time.
 */
#ifndef STILE_BENCH_DRIVE_H
#define STILE_BENCH_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver.h"
#include "pkt.h"

#define DRIVE_CLIENTS_MAX (1U << 30) /* addresses that a frame's clients may have */

struct drive;

struct drive_plan {
	const struct pkt_spec *spec; /* the template; untagged, TCP, without extensions */
	enum driver_sources sources;
	uint64_t clients; /* DRIVER_RANDOM, DRIVER_TURN */
	uint32_t warmup;  /* packets before those that count */
	uint32_t repeat;  /* packets that count */
	bool fixed;	  /* its port and its sequence number do not change */
};

/* A driver whose new addresses begin at @first. 0 or -errno. */
int drive_new(uint64_t first, struct drive **ret_drive);
void drive_free(struct drive *drive);

/* The program that does nothing but to parse; its fd, borrowed. */
int drive_parse_program(const struct drive *drive);

/* ns of CPU for each packet, what making it took included. 0 or -errno. */
int drive_run(struct drive *drive, int program, const struct drive_plan *plan, double *ret_ns);

#endif /* STILE_BENCH_DRIVE_H */
