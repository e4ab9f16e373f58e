/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limiters' answers, read as charge_peek() in bpf/charge.h reads them. */
#include "snapshot_explain_new.h"
#include "snapshot.h"

bool snapshot_explain_is_new(const struct stile_policy *policy,
			     const struct snapshot_verdict *verdict, unsigned int first)
{
	bool asked = false;

	for (unsigned int i = first; i < verdict->n_judges; i++) {
		if (!policy->limiters[verdict->judges[i].limiter].keyed)
			continue;
		if (verdict->judges[i].known)
			return false;
		asked = true;
	}
	return asked;
}
