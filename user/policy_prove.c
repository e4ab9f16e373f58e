/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where sources have to be proven, and whether this host can make connections of their proofs. */
#include "policy_build.h"

static bool is_possible(struct policy_build *build, const struct config_listener *listener)
{
	const char *why = build->machine->proofs_reason;

	if (listener->protocol != STILE_PROTOCOL_TCP) {
		if (!(listener->unsure & CONFIG_PROTOCOL))
			diag_error(
				build->diag, listener->proves_place,
				"prove_sources is for protocol: tcp only, and '%s' is on udp, "
				"where sources cannot be proven; see stile.yaml(5), FORGED SOURCES",
				listener->name.text);
		return false;
	}
	if (why)
		diag_warning(build->diag, listener->proves_place,
			     "prove_sources of '%s' has no effect: %s", listener->name.text, why);
	return !why;
}

void policy_build_proofs(struct policy_build *build)
{
	struct stile_policy *kernel = &build->policy->kernel;

	/* Cookies may be under way, and none is known by anything but the program. */
	kernel->proves = build->previous->proves && !build->machine->proofs_reason;
	kernel->offer = build->machine->offer;
	for (size_t i = 0; i < build->config->n_listeners; i++) {
		const struct config_listener *listener = &build->config->listeners[i];

		if (listener->proves == STILE_PROVE_NEVER || !is_possible(build, listener))
			continue;
		kernel->listeners[build->listeners[i]].proves = (__u8)listener->proves;
		kernel->proves = 1;
	}
}
