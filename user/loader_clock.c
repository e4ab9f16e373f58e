/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the kernel's ticks relate to the precise clock, measured with a program made for it. */
#include <errno.h>
#include <linux/if_ether.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "loader.h"
#include "loader_btf.h"
#include "loader_messages.h"
#include "stile.skel.h"
#include "tick.h"

#define CLOCK_EDGES 4	       /* enough that one interrupt that came late does not matter */
#define CLOCK_NS_MAX 500000000 /* a tick is 10 ms at most: by then something is wrong */

/* The small program and what it needs, without the rest of the object. */
static int load_clock(struct stile_bpf *skeleton)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int error = 0;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		if (error == 0 && program != skeleton->progs.stile_clock)
			error = bpf_program__set_autoload(program, false);
	}
	bpf_object__for_each_map(map, skeleton->obj)
	{
		if (error == 0 && !bpf_map__is_internal(map))
			error = bpf_map__set_autocreate(map, false);
	}
	return error ? error : stile_bpf__load(skeleton);
}

static int sample_clock(const struct stile_bpf *skeleton, struct tick_fit *fit)
{
	char frame[ETH_ZLEN] = {};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame));
	int program = bpf_program__fd(skeleton->progs.stile_clock);
	struct tick_sample sample, first = {};

	do {
		if (bpf_prog_test_run_opts(program, &options) < 0)
			return -errno;
		sample.time = skeleton->bss->clock_sample.ktime;
		sample.ticks = skeleton->bss->clock_sample.jiffies;
		if (first.time == 0)
			first = sample;
		tick_add(fit, &sample);
	} while (fit->edges < CLOCK_EDGES && sample.time - first.time < CLOCK_NS_MAX);
	return fit->edges ? 0 : -ETIME;
}

static void skeleton_release(struct stile_bpf **skeleton)
{
	stile_bpf__destroy(*skeleton);
}

int loader_measure_clock(uint64_t *ret_tick, uint64_t *ret_tick_base)
{
	struct stile_bpf *skeleton __attribute__((cleanup(skeleton_release))) = NULL;
	autobtf struct loader_btf btf;
	int error = loader_btf_open(&btf);
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = *btf.path ? btf.path : NULL);
	struct timespec tick;
	struct tick_fit fit;

	if (error)
		return error;
	loader_messages_begin();
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0)
		return -errno;
	tick_begin(&fit, (uint64_t)tick.tv_sec * 1000000000 + (uint64_t)tick.tv_nsec);
	skeleton = stile_bpf__open_opts(&options);
	if (!skeleton)
		return -errno;
	error = load_clock(skeleton);
	if (error == 0)
		error = sample_clock(skeleton, &fit);
	if (error)
		return error;
	*ret_tick = fit.tick;
	*ret_tick_base = tick_base(&fit);
	return 0;
}
