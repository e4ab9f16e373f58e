/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a client that would be refused is told, as bpf/busy.h and bpf/answer.h tell it. Pure. */
#ifndef STILE_EXPLAIN_TOLD_H
#define STILE_EXPLAIN_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot.h"

struct explain_told {
	const char *language; /* NULL: none */
	uint64_t wait;	      /* ms until it should come back; 0: it is not refused */
	bool says_wait;	      /* it is told so */
};

/* Of an event at the listener in slot @listener. */
struct explain_told explain_told(const struct stile_policy *policy, uint32_t listener,
				 const struct snapshot_verdict *verdict);

#endif /* STILE_EXPLAIN_TOLD_H */
