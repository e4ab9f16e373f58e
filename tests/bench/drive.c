/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See drive.h. The time is CPU time, because BPF_PROG_TEST_RUN ends with a wait for all CPUs that
 * is no part of what is measured.
 */
#include "drive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "bench/driver.skel.h"

#define BASE (1U << 30) /* 64.0.0.0/2; in an IPv6 address, the third and fourth word */

struct drive {
	struct driver_bpf *skeleton;
};

int drive_new(uint64_t first, struct drive **ret_drive)
{
	struct drive *drive = calloc(1, sizeof(*drive));
	int error;

	if (!drive)
		return -ENOMEM;
	drive->skeleton = driver_bpf__open_and_load();
	if (!drive->skeleton) {
		error = -errno;
		free(drive);
		return error;
	}
	drive->skeleton->bss->driver.count = first;
	drive->skeleton->bss->driver.random = 88172645463325252ULL + first; /* any but 0 */
	*ret_drive = drive;
	return 0;
}

void drive_free(struct drive *drive)
{
	if (!drive)
		return;
	driver_bpf__destroy(drive->skeleton);
	free(drive);
}

int drive_parse_program(const struct drive *drive)
{
	return bpf_program__fd(drive->skeleton->progs.bench_parse);
}

/* Tells the driver; .count and .random go on. */
static int aim(struct drive *drive, int program, const struct drive_plan *plan,
	       struct pkt_frame *frame)
{
	struct driver *driver = &drive->skeleton->bss->driver;
	uint32_t zero = 0;

	pkt_build(plan->spec, frame);
	if (frame->size > DRIVER_FRAME || plan->clients > DRIVE_CLIENTS_MAX)
		return -E2BIG;
	memset(driver->frame, 0, sizeof(driver->frame));
	memcpy(driver->frame, frame->bytes, frame->size);
	driver->length = (uint32_t)frame->size;
	driver->sources = plan->sources;
	driver->keys = plan->clients;
	driver->mask = DRIVE_CLIENTS_MAX - 1;
	driver->base = BASE;
	driver->l4 = plan->fixed ? 0 : (uint32_t)frame->l4;
	return bpf_map_update_elem(bpf_map__fd(drive->skeleton->maps.bench_target), &zero, &program,
				   BPF_ANY) < 0
		       ? -errno
		       : 0;
}

static int turn(const struct drive *drive, struct pkt_frame *frame, uint32_t repeat)
{
	unsigned char back[512];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame->bytes,
		    .data_size_in = (uint32_t)frame->size, .data_out = back,
		    .data_size_out = sizeof(back), .repeat = (int)repeat);
	int program = bpf_program__fd(drive->skeleton->progs.bench_driver);

	drive->skeleton->bss->driver.head = 0; /* every run has a frame of its own */
	return repeat && bpf_prog_test_run_opts(program, &options) < 0 ? -errno : 0;
}

int drive_run(struct drive *drive, int program, const struct drive_plan *plan, double *ret_ns)
{
	struct pkt_frame frame;
	double began;
	int result;

	result = aim(drive, program, plan, &frame);
	if (result == 0)
		result = turn(drive, &frame, plan->warmup);
	began = bench_cpu_ns();
	if (result == 0)
		result = turn(drive, &frame, plan->repeat);
	if (result == 0)
		*ret_ns = (bench_cpu_ns() - began) / plan->repeat;
	return result;
}
