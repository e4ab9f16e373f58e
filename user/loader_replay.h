/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A frame through a program whose policy replays, at a time of the caller's. */
#ifndef STILE_LOADER_REPLAY_H
#define STILE_LOADER_REPLAY_H

#include <stdint.h>

#include <stile/abi.h>

struct loader;

/* @frame: of an Ethernet header at least, and a page at most. 0 or -errno. */
int loader_replay_frame(const struct loader *loader, void *frame, uint32_t size, uint64_t now,
			struct stile_replay *ret_ruling);

#endif /* STILE_LOADER_REPLAY_H */
