/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a client is new at a listener, by what those of its limiters said that have keys. */
#ifndef STILE_SNAPSHOT_EXPLAIN_NEW_H
#define STILE_SNAPSHOT_EXPLAIN_NEW_H

#include <stdbool.h>

struct snapshot_verdict;
struct stile_policy;

/* The listener's are the @first of @verdict's judges and those that follow; as bpf/charge.h. */
bool snapshot_explain_is_new(const struct stile_policy *policy,
			     const struct snapshot_verdict *verdict, unsigned int first);

#endif /* STILE_SNAPSHOT_EXPLAIN_NEW_H */
