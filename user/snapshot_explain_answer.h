/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is in the answer that a client would get. Internal to snapshot. */
#ifndef STILE_SNAPSHOT_EXPLAIN_ANSWER_H
#define STILE_SNAPSHOT_EXPLAIN_ANSWER_H

#include "snapshot.h"

/* Looks whether an answer in the client's language says how long to wait. 0 or negative errno. */
int snapshot_explain_answer(const struct pins *pins, const struct snapshot *snapshot,
			    const struct snapshot_event *event, struct snapshot_verdict *verdict);

#endif /* STILE_SNAPSHOT_EXPLAIN_ANSWER_H */
