/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Listeners that no packet finds, because more specific ones stand wherever they would. */
#include "policy_build.h"

struct found {
	bool listeners[STILE_LISTENERS_MAX]; /* by slot */
};

static void look(const struct stile_page *page, unsigned int first, struct found *found)
{
	for (unsigned int i = first; i < STILE_PORTS_PER_PAGE; i++)
		found->listeners[page->listener[i] & (STILE_LISTENERS_MAX - 1)] = true;
}

/* Nothing goes to port 0, the first of the first page. */
static void look_at_row(const struct policy *policy, const __u16 pages[STILE_PORTS_PER_PAGE],
			struct found *found)
{
	look(&policy->pages[pages[0]], 1, found);
	for (unsigned int i = 1; i < STILE_PORTS_PER_PAGE; i++)
		if (i == 1 || pages[i] != pages[i - 1])
			look(&policy->pages[pages[i]], 0, found);
}

void policy_warn_shadows(struct policy_build *build)
{
	struct found found = { 0 };

	for (size_t i = 0; i < build->policy->n_ports; i++)
		for (int protocol = 0; protocol < _STILE_PROTOCOL_MAX; protocol++)
			look_at_row(build->policy, build->policy->ports[i].page[protocol], &found);
	for (size_t i = 0; i < build->config->n_listeners; i++)
		if (!found.listeners[build->listeners[i]])
			diag_warning(build->diag, build->config->listeners[i].name.place,
				     "listener '%s' never gets a packet: more specific ones stand "
				     "at all of its ports",
				     build->config->listeners[i].name.text);
}
