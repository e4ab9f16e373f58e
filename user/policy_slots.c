/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slots: a name keeps the one it had, because counters and buckets are found by it. A new name
 * gets one that the policy in force does not use: its program goes on counting there until the
 * swap, and no counter may mix two names.
 */
#include <stdio.h>
#include <string.h>

#include "policy_build.h"

/* A table of structs that begin with a name, now and in the policy in force. */
struct slots {
	char *now;
	const char *before;
	size_t stride;	  /* bytes from name to name */
	size_t name_size; /* its NUL included */
	unsigned int first, end;
	const char *what; /* in the plural */
};

static const char *name_now(const struct slots *slots, unsigned int slot)
{
	return slots->now + slot * slots->stride;
}

static const char *name_before(const struct slots *slots, unsigned int slot)
{
	return slots->before + slot * slots->stride;
}

/* The slot for @name, or slots->end where none is left. */
static unsigned int slot_for(const struct slots *slots, const char *name)
{
	unsigned int slot;

	for (slot = slots->first; slot < slots->end; slot++)
		if (strcmp(name_before(slots, slot), name) == 0)
			return slot;
	for (slot = slots->first; slot < slots->end; slot++)
		if (!*name_before(slots, slot) && !*name_now(slots, slot))
			return slot;
	return slots->end;
}

/* @name is the first that has no place. */
static bool too_many(struct policy_build *build, const struct slots *slots, size_t n,
		     const struct config_name *name)
{
	diag_error(build->diag, name->place, "%zu %s, expected at most %u", n, slots->what,
		   slots->end - slots->first);
	return false;
}

static bool assign(struct policy_build *build, const struct slots *slots,
		   const struct config_name *name, uint16_t *ret_slot)
{
	unsigned int slot = slot_for(slots, name->text);

	if (slot == slots->end) {
		diag_error(build->diag, name->place,
			   "no room for '%s' beside the %s of the policy in force, which gives up "
			   "its places only after this load: load the configuration without the "
			   "new ones first",
			   name->text, slots->what);
		return false;
	}
	snprintf(slots->now + slot * slots->stride, slots->name_size, "%s", name->text);
	*ret_slot = (uint16_t)slot;
	return true;
}

static bool build_interfaces(struct policy_build *build)
{
	const struct config *config = build->config;
	const struct slots slots = {
		.now = build->policy->kernel.interfaces[0].name,
		.before = build->previous->interfaces[0].name,
		.stride = sizeof(struct stile_interface),
		.name_size = sizeof(build->previous->interfaces[0].name),
		.end = STILE_INTERFACES_MAX,
		.what = "interfaces",
	};

	if (config->n_interfaces > slots.end)
		return too_many(build, &slots, config->n_interfaces,
				&config->interfaces[slots.end].name);
	for (size_t i = 0; i < config->n_interfaces; i++) {
		const struct config_interface *interface = &config->interfaces[i];

		if (!assign(build, &slots, &interface->name, &build->interfaces[i]))
			return false;
		build->policy->kernel.interfaces[build->interfaces[i]].mode =
			(uint8_t)interface->mode;
	}
	return true;
}

static bool build_limiters(struct policy_build *build)
{
	const struct config *config = build->config;
	const struct slots slots = {
		.now = build->policy->kernel.limiters[0].name,
		.before = build->previous->limiters[0].name,
		.stride = sizeof(struct stile_limiter),
		.name_size = STILE_NAME_SIZE,
		.first = 1,
		.end = STILE_LIMITERS_MAX,
		.what = "rate limiters",
	};

	if (config->n_limiters > slots.end - 1)
		return too_many(build, &slots, config->n_limiters,
				&config->limiters[slots.end - 1].name);
	for (size_t i = 0; i < config->n_limiters; i++)
		if (!assign(build, &slots, &config->limiters[i].name, &build->limiters[i]))
			return false;
	return true;
}

static bool build_listeners(struct policy_build *build)
{
	const struct config *config = build->config;
	const struct slots slots = {
		.now = build->policy->kernel.listeners[0].name,
		.before = build->previous->listeners[0].name,
		.stride = sizeof(struct stile_listener),
		.name_size = STILE_NAME_SIZE,
		.first = 1,
		.end = STILE_LISTENERS_MAX,
		.what = "listeners",
	};

	if (config->n_listeners > slots.end - 1)
		return too_many(build, &slots, config->n_listeners,
				&config->listeners[slots.end - 1].name);
	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		if (!assign(build, &slots, &listener->name, &build->listeners[i]))
			return false;
		build->policy->kernel.listeners[build->listeners[i]].protocol =
			(uint8_t)listener->protocol;
	}
	return true;
}

bool policy_build_slots(struct policy_build *build)
{
	bool interfaces = build_interfaces(build);
	bool limiters = build_limiters(build);

	return build_listeners(build) && interfaces && limiters;
}

static bool is_pair(const struct stile_attachment *attachment, const struct stile_attachment *pair)
{
	return attachment->limiter == pair->limiter && attachment->listener == pair->listener;
}

/* Attachments follow the same rule; what names them are the two slots, which are kept already. */
uint16_t policy_build_attachment(struct policy_build *build, struct stile_attachment pair,
				 struct place place)
{
	const struct stile_attachment *before = build->previous->attachments;
	struct stile_attachment *now = build->policy->kernel.attachments;
	uint16_t slot, unused = 0;

	for (slot = 1; slot < STILE_ATTACHMENTS_MAX; slot++) {
		if (is_pair(&now[slot], &pair) || is_pair(&before[slot], &pair)) {
			now[slot] = pair;
			return slot;
		}
		if (!unused && !now[slot].limiter && !before[slot].limiter)
			unused = slot;
	}
	if (unused) {
		now[unused] = pair;
	} else if (!build->attachments_full) {
		build->attachments_full = true;
		diag_error(
			build->diag, place,
			"too many pairs of a rate limiter and a listener that it judges: there is "
			"room for %d, those of the policy in force included",
			STILE_ATTACHMENTS_MAX - 1);
	}
	return unused;
}
