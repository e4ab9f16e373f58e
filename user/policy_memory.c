/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the maps of a policy take of the kernel's memory. */
#include "policy.h"

/* About, in bytes. */
#define TRIE_ENTRY 128 /* a node with its key and value, and the inner node above it */
#define HASH_ENTRY 80  /* an element and its share of the buckets */

uint64_t policy_map_bytes(const struct policy *policy)
{
	uint64_t sum =
		policy_session_bytes(policy) + policy_handshake_bytes(policy) +
		sizeof(struct stile_attempts) +
		_STILE_BUDGET_MAX * sizeof(struct stile_budget_state) +
		policy->n_answers * sizeof(struct stile_answer) +
		STILE_LISTENERS_MAX * sizeof(struct stile_level) +
		(policy->kernel.accept_limits ? STILE_ASKING : 0) * sizeof(struct stile_asking) +
		policy->n_ports * sizeof(struct stile_ports) +
		policy->n_pages * sizeof(struct stile_page) + policy->n_hosts * HASH_ENTRY +
		(policy->n_sources + policy->n_trusted + policy->n_blocked) * TRIE_ENTRY;

	for (size_t i = 0; i < STILE_LIMITERS_MAX; i++)
		sum += policy_table_bytes(&policy->kernel.limiters[i]);
	return sum;
}

uint64_t policy_map_bytes_per_cpu(void)
{
	return STILE_INTERFACES_MAX * sizeof(struct stile_packets) +
	       STILE_ATTACHMENTS_MAX * sizeof(struct stile_decisions) +
	       STILE_LIMITERS_MAX * sizeof(struct stile_table_stats) + sizeof(struct stile_replies);
}
