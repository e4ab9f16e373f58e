/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a program that is run on captured packets is told, and tells; see struct stile_policy. */
#ifndef STILE_REPLAY_H
#define STILE_REPLAY_H

#include <linux/types.h>

struct stile_replay {
	__u64 now; /* ns, in the place of both clocks */
	__u8 source[16];
	__u32 listener; /* slot; 0: none, or the packet did not get as far */
	__u8 verdict;	/* enum stile_verdict */
	__u8 reason;	/* enum stile_reason */
	__u8 reserved[2];
};
STILE_SIZE(struct stile_replay, 32);

#endif /* STILE_REPLAY_H */
