/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A name means the interface that has it now. Only where none has it, it means the one that had it
 * when it was attached: whoever renames an interface does not thereby take its protection away.
 */
#include <errno.h>
#include <string.h>

#include <linux/bpf.h>

#include "apply_interfaces.h"
#include "apply_links.h"
#include "netif.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

int apply_interfaces_resolve(struct config *config,
			     struct config_interface room[STILE_INTERFACES_MAX], struct diag *diag)
{
	struct netif_name names[STILE_INTERFACES_MAX];
	int n;

	if (config->n_interfaces)
		return 0;
	n = netif_default_routes(names, ARRAY_SIZE(names));
	if (n < 0) {
		diag_error(diag, nowhere, "look for default routes: %s", strerror(-n));
		return n;
	}
	if (n == 0) {
		diag_error(diag, nowhere,
			   "no interface carries a default route: name some under 'interfaces', or "
			   "with -i");
		return -EINVAL;
	}
	for (int i = 0; i < n; i++) {
		room[i] = (struct config_interface){ .mode = STILE_MODE_AUTO };
		memcpy(room[i].name.text, names[i].text, sizeof(names[i].text));
	}
	config->interfaces = room;
	config->n_interfaces = (size_t)n;
	return 0;
}

static struct place place_of(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_interfaces; i++) {
		if (strcmp(config->interfaces[i].name.text, name) == 0)
			return config->interfaces[i].name.place;
	}
	return nowhere;
}

/* The index of the interface that the link of @name is attached to; 0: there is none. */
static uint32_t follow(const struct pins *pins, const char *name)
{
	struct bpf_link_info info;
	autofd int fd = apply_links_open(pins, name, &info);

	return fd < 0 ? 0 : info.xdp.ifindex;
}

static bool answers(const struct config *config)
{
	for (size_t i = 0; i < config->n_limiters; i++)
		if (config->limiters[i].action != STILE_ACTION_DROP &&
		    config->limiters[i].action != STILE_ACTION_COUNT)
			return true;
	return false;
}

/* The peer is often in another network namespace, where nobody here can see what it runs. */
static bool loses_answers(const struct config *config, const struct stile_interface *interface)
{
	char driver[32];

	return interface->mode == STILE_MODE_NATIVE && answers(config) &&
	       netif_driver(interface->name, driver) == 0 && strcmp(driver, "veth") == 0;
}

static void look_up(const struct pins *pins, const struct config *config, struct diag *diag,
		    struct stile_interface *interface)
{
	struct place place = place_of(config, interface->name);
	int error;

	error = netif_index(interface->name, &interface->ifindex);
	if (error == 0 && netif_is_ethernet(interface->name) == 0)
		diag_warning(diag, place,
			     "interface '%s' has no Ethernet headers: its packets cannot be read, "
			     "and all of them pass",
			     interface->name);
	if (error == 0 && loses_answers(config, interface))
		diag_warning(diag, place,
			     "interface '%s' is a veth in native mode: answers arrive only if its "
			     "peer runs a native XDP program too; 'mode: auto' does without",
			     interface->name);
	if (error == 0)
		return;
	interface->ifindex = follow(pins, interface->name);
	if (interface->ifindex)
		diag_warning(diag, place,
			     "interface '%s' has another name now, or another network namespace "
			     "has it: Stile stays attached to it there",
			     interface->name);
}

int apply_interfaces_look_up(const struct pins *pins, const struct config *config,
			     struct diag *diag, struct stile_policy *policy)
{
	bool any = false;

	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		if (!*policy->interfaces[slot].name)
			continue;
		look_up(pins, config, diag, &policy->interfaces[slot]);
		any = any || policy->interfaces[slot].ifindex;
	}
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		const char *name = policy->interfaces[slot].name;

		if (!*name || policy->interfaces[slot].ifindex)
			continue;
		if (any)
			diag_warning(diag, place_of(config, name),
				     "interface '%s' is not there: it is attached when it appears",
				     name);
		else
			diag_error(diag, place_of(config, name), "interface '%s' is not there",
				   name);
	}
	return any ? 0 : -EINVAL;
}
