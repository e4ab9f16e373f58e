/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limiters that are named more than once for one event: by a list itself, or by an interface and a
 * list. That is charged as often as it is named, and hardly meant.
 */
#include <string.h>

#include "policy_build.h"

static unsigned int count_slot(const uint16_t judges[STILE_JUDGES_MAX], uint16_t attachment)
{
	unsigned int n = 0;

	for (int i = 0; i < STILE_JUDGES_MAX; i++)
		n += judges[i] == attachment;
	return n;
}

/* The interface whose limiter is @attachment as well, or NULL. */
static const struct config_interface *find_interface(const struct policy_build *build,
						     const struct stile_listener *listener,
						     uint16_t attachment)
{
	for (size_t i = 0; i < build->config->n_interfaces; i++)
		if (listener->edges[build->interfaces[i]] == attachment)
			return &build->config->interfaces[i];
	return NULL;
}

static const struct config_limiter *find_limiter(const struct policy_build *build, uint16_t slot)
{
	size_t i = 0;

	while (build->limiters[i] != slot)
		i++;
	return &build->config->limiters[i];
}

/* Where @judges has the name for the last time. */
static struct place find_place(const struct config_judges *judges, const char *name)
{
	struct place place = judges->place;

	for (unsigned int i = 0; i < judges->n_names; i++)
		if (strcmp(judges->names[i].text, name) == 0)
			place = judges->names[i].place;
	return place;
}

static void warn_limiter(struct policy_build *build, const struct config_judges *judges,
			 const struct config_interface *interface, unsigned int n, uint16_t slot)
{
	const struct config_limiter *limiter = find_limiter(build, slot);
	struct place place = find_place(judges, limiter->name.text);
	uint64_t room = limiter->limit;
	const unsigned int unsure = CONFIG_LIMIT | CONFIG_BURST | CONFIG_ALGORITHM;
	char where[64] = "";

	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET && limiter->burst)
		room = limiter->burst;
	if (interface)
		snprintf(where, sizeof(where), ", by interface '%s' too (line %u)",
			 interface->name.text, interface->judges.place.line);
	if (n > room && room && !(limiter->unsure & unsure))
		diag_warning(build->diag, place,
			     "rate limiter '%s' is named %u times for one event%s, and has room "
			     "for %llu: every event is over it",
			     limiter->name.text, n, where, (unsigned long long)room);
	else
		diag_warning(build->diag, place,
			     "rate limiter '%s' is named %u times for one event%s: each costs it "
			     "%u",
			     limiter->name.text, n, where, n);
}

static void warn_list(struct policy_build *build, const struct stile_listener *listener,
		      const struct config_judges *judges, const uint16_t slots[STILE_JUDGES_MAX])
{
	for (int i = 0; i < STILE_JUDGES_MAX && slots[i]; i++) {
		const struct config_interface *interface =
			find_interface(build, listener, slots[i]);
		unsigned int n = count_slot(slots, slots[i]) + (interface != NULL);
		int first = 0;

		while (slots[first] != slots[i])
			first++;
		if (n > 1 && first == i)
			warn_limiter(build, judges, interface, n,
				     build->policy->kernel.attachments[slots[i]].limiter);
	}
}

void policy_warn_repeats(struct policy_build *build)
{
	const struct policy_source *source = build->policy->sources;

	for (size_t i = 0; i < build->config->n_listeners; i++) {
		const struct config_listener *in = &build->config->listeners[i];
		const struct stile_listener *out =
			&build->policy->kernel.listeners[build->listeners[i]];

		warn_list(build, out, &in->judges, out->judges);
		for (size_t j = 0; j < in->n_sources; j++)
			warn_list(build, out, &in->sources[j].judges, (source++)->value.judges);
	}
}
