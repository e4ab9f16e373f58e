/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands share that only read. They ask the pins alone: a dead daemon is no matter. */
#include <errno.h>
#include <string.h>

#include "diag.h"
#include "reading.h"

#define NAMES_MAX (STILE_LISTENERS_MAX + 1) /* the longest table of the policy, and a NULL */

const char *reading_instance(const struct pins *pins)
{
	const char *slash = strrchr(pins->root, '/');

	return slash ? slash + 1 : pins->root;
}

int reading_failed(const struct pins *pins, int error)
{
	const char *instance = reading_instance(pins);

	switch (error) {
	case -ENOENT:
		return command_failed("nothing is attached (instance %s); start it with stile run",
				      instance);
	case -EPROTO:
		return command_failed(
			"%s holds the maps of another version of stile than " STILE_VERSION
			"; use that one, or take it out with stile detach",
			pins->root);
	case -ESTALE:
		return command_failed("%s changes faster than it can be read; try again",
				      pins->root);
	default:
		return command_failed("read %s: %s", pins->root, command_reason(error));
	}
}

int reading_take(const struct pins *pins, struct snapshot **ret_snapshot)
{
	int r = snapshot_take(pins, ret_snapshot);

	return r < 0 ? reading_failed(pins, r) : COMMAND_DONE;
}

/* A table of structs that begin with a name; an empty one is a free slot. */
struct names {
	const char *what;
	const char *first;
	size_t stride, n;
};

static const char *name_at(const struct names *names, size_t slot)
{
	return names->first + slot * names->stride;
}

static int find(const struct names *names, const char *name, uint32_t *ret_slot)
{
	const char *known[NAMES_MAX];
	const char *nearest;
	size_t n = 0;

	for (size_t slot = 0; slot < names->n; slot++) {
		if (!*name_at(names, slot))
			continue;
		if (strcmp(name_at(names, slot), name) == 0) {
			*ret_slot = (uint32_t)slot;
			return COMMAND_DONE;
		}
		known[n++] = name_at(names, slot);
	}
	known[n] = NULL;
	nearest = diag_nearest(name, known);
	if (nearest)
		return command_failed("there is no %s '%s', did you mean '%s'?", names->what, name,
				      nearest);
	return command_failed("there is no %s '%s'", names->what, name);
}

int reading_limiter(const struct stile_policy *policy, const char *name, uint32_t *ret_slot)
{
	const struct names names = { "limiter", policy->limiters[0].name,
				     sizeof(policy->limiters[0]), STILE_LIMITERS_MAX };

	return find(&names, name, ret_slot);
}

int reading_listener(const struct stile_policy *policy, const char *name, uint32_t *ret_slot)
{
	const struct names names = { "listener", policy->listeners[0].name,
				     sizeof(policy->listeners[0]), STILE_LISTENERS_MAX };

	return find(&names, name, ret_slot);
}

int reading_interface(const struct stile_policy *policy, const char *name, uint32_t *ret_slot)
{
	const struct names names = { "interface", policy->interfaces[0].name,
				     sizeof(policy->interfaces[0]), STILE_INTERFACES_MAX };

	return find(&names, name, ret_slot);
}

int reading_print_json(json_t *json)
{
	int r;

	if (!json)
		return command_failed("print JSON: %s", strerror(ENOMEM));
	r = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	json_decref(json);
	if (r < 0 || putchar('\n') == EOF)
		return command_failed("print JSON: %s", strerror(EIO));
	return COMMAND_DONE;
}

void reading_append(json_t **array, json_t *value)
{
	if (json_array_append_new(*array, value) == 0)
		return;
	json_decref(*array);
	*array = NULL;
}

json_t *reading_seconds(uint64_t ns)
{
	return json_real((double)ns / 1e9);
}
