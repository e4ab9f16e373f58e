/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the loaded program on one frame after the other, attached to nothing. */
#include <errno.h>

#include <bpf/bpf.h>

#include "loader.h"
#include "loader_replay.h"

int loader_replay_frame(const struct loader *loader, void *frame, uint32_t size, uint64_t now,
			struct stile_replay *ret_ruling)
{
	volatile struct stile_replay *replay = loader_replay(loader);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = size);

	replay->now = now;
	replay->listener = 0;
	if (bpf_prog_test_run_opts(loader_program(loader), &options) < 0)
		return -errno;
	*ret_ruling = *replay;
	return 0;
}
