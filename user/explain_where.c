/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports are read back from the kernel's own tables, which listeners of every port are in, too. */
#include <stdlib.h>
#include <string.h>

#include "explain_where.h"

bool explain_where_parse(const char *text, struct explain_where *where)
{
	unsigned long port;
	char *end;

	where->protocol = strncmp(text, "udp/", 4) == 0 ? STILE_PROTOCOL_UDP : STILE_PROTOCOL_TCP;
	if (strncmp(text, "udp/", 4) == 0 || strncmp(text, "tcp/", 4) == 0)
		text += 4;
	if (*text < '1' || *text > '9')
		return false;
	port = strtoul(text, &end, 10);
	where->port = (uint16_t)port;
	return *end == '\0' && port <= UINT16_MAX;
}

static bool is_there(const struct snapshot *snapshot, const struct explain_where *where,
		     const struct snapshot_ports *ports)
{
	return snapshot->policy.listeners[ports->listener].protocol == where->protocol &&
	       ports->first <= where->port && where->port <= ports->last;
}

static bool names_address(const struct explain_where *where, const struct snapshot_ports *ports)
{
	return !ports->everywhere &&
	       memcmp(ports->address, where->address, sizeof(where->address)) == 0;
}

int explain_where_find(const struct pins *pins, const struct snapshot *snapshot,
		       const struct explain_where *where, bool ret_at[STILE_LISTENERS_MAX])
{
	struct snapshot_ports *ports;
	bool named = false;
	size_t n;
	int r;

	r = snapshot_read_ports(pins, snapshot, &ports, &n);
	if (r < 0)
		return r;
	memset(ret_at, 0, STILE_LISTENERS_MAX * sizeof(*ret_at));
	for (size_t i = 0; i < n; i++)
		named |= where->to_one && is_there(snapshot, where, &ports[i]) &&
			 names_address(where, &ports[i]);
	for (size_t i = 0; i < n; i++) {
		if (!is_there(snapshot, where, &ports[i]))
			continue;
		if (!where->to_one ||
		    (named ? names_address(where, &ports[i]) : ports[i].everywhere))
			ret_at[ports[i].listener] = true;
	}
	free(ports);
	return 0;
}
