/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this host has to say of a configuration: interfaces and services that are not there, and
 * memory that is not. Warnings, for any of it may come later, but for users, groups and a cgroup,
 * without which the daemon does not start.
 */
#include <net/if.h>
#include <stdlib.h>
#include <unistd.h>

#include "account.h"
#include "backlog.h"
#include "cgroup.h"
#include "cmd_check.h"
#include "listening.h"
#include "names.h"

static const struct place whole;

static void warn_interfaces(const struct config *config, struct diag *diag)
{
	for (size_t i = 0; i < config->n_interfaces; i++) {
		const struct config_name *name = &config->interfaces[i].name;

		if (!if_nametoindex(name->text))
			diag_warning(diag, name->place,
				     "interface '%s' is not here now: it is attached when it "
				     "appears",
				     name->text);
	}
}

static bool is_served(const struct listening *listening, const struct config_listener *listener,
		      const struct config_ports *ports)
{
	const uint16_t range[2] = { ports->first, ports->last };

	for (size_t i = 0; i < listener->n_addresses; i++)
		if (listening_has(listening, listener->protocol,
				  listener->addresses[i].prefix.address, range))
			return true;
	return !listener->n_addresses && listening_has(listening, listener->protocol, NULL, range);
}

static void warn_ports(const struct listening *listening, const struct config_listener *listener,
		       struct diag *diag)
{
	for (size_t i = 0; i < listener->n_ports; i++) {
		const struct config_ports *ports = &listener->ports[i];
		char range[16];

		if (is_served(listening, listener, ports))
			continue;
		snprintf(range, sizeof(range), ports->first == ports->last ? "%u" : "%u-%u",
			 ports->first, ports->last);
		diag_warning(diag, ports->place,
			     "nobody listens on %s port %s%s here, unless packets are forwarded "
			     "from it",
			     policy_protocol_names[listener->protocol], range,
			     listener->n_addresses ? " of these addresses" : "");
	}
}

static void warn_listeners(const struct config *config, struct diag *diag)
{
	struct listening listening;

	if (listening_read(&listening) < 0)
		return; /* without /proc it cannot be told */
	for (size_t i = 0; i < config->n_listeners; i++)
		warn_ports(&listening, &config->listeners[i], diag);
	listening_release(&listening);
}

static void warn_backlogs(const struct config *config, struct diag *diag)
{
	uint32_t cap;

	if (backlog_cap(&cap) < 0)
		return; /* the same */
	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		if (listener->queue.backlog > cap)
			diag_warning(diag, listener->queue.backlog_place,
				     "listen_backlog %u of '%s': net.core.somaxconn caps it at %u "
				     "here",
				     listener->queue.backlog, listener->name.text, cap);
	}
}

static void check_cgroup(const struct config *config, struct diag *diag)
{
	uint64_t id;
	int fd;

	if (!config->cgroup)
		return;
	fd = cgroup_open(config->cgroup, &id);
	if (fd < 0)
		diag_error(diag, config->cgroup_place, "cgroup: '%s': %s", config->cgroup,
			   cgroup_reason(fd));
	else
		close(fd);
}

static void warn_memory(const struct policy *policy, struct diag *diag)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t sum = policy_map_bytes(policy), memory;

	if (pages <= 0 || size <= 0)
		return;
	memory = (uint64_t)pages * (uint64_t)size;
	if (sum > memory / 2)
		diag_warning(diag, whole,
			     "the maps take %.1f GiB, and this host has %.1f GiB: max_keys says "
			     "how large they are",
			     (double)sum / (1 << 30), (double)memory / (1 << 30));
}

void check_host(const struct config *config, const struct policy *policy, struct diag *diag)
{
	(void)account_check(config, diag); /* which reports */
	check_cgroup(config, diag);
	warn_interfaces(config, diag);
	warn_listeners(config, diag);
	warn_backlogs(config, diag);
	warn_memory(policy, diag);
}
