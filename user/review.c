/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration with mistakes is compiled as well, as far as it goes: whoever mends five values
 * should not learn only then that a limiter is named wrongly. What the draft is warned of is
 * dropped, because it may come from what is missing in it.
 */
#include <errno.h>
#include <string.h>

#include "policy.h"
#include "review.h"

#define TICK 4000000ULL		  /* ns: a kernel of 250 ticks a second */
#define COMPARISONS_MAX 1000000UL /* of prefixes; longer lists are not compared */

static const struct place whole;

/* Nothing is loaded, and so nothing has to be kept secret. */
static uint64_t no_secret(void *context)
{
	uint64_t *count = context;

	return ++*count;
}

int review_compile(const struct config *config, struct diag *diag, struct policy *ret_policy)
{
	uint64_t count = 0;
	const struct policy_machine machine = {
		.tick = TICK,
		.random = no_secret,
		.context = &count,
	};
	int err = policy_compile(config, NULL, &machine, diag, ret_policy);

	if (err == -ENOMEM)
		diag_error(diag, whole, "out of memory");
	return err;
}

static void add_errors(struct diag *diag, const struct diag *found)
{
	for (size_t i = 0; i < found->n_entries; i++)
		if (found->entries[i].severity == DIAG_ERROR)
			diag_error(diag, found->entries[i].place, "%s", found->entries[i].text);
}

/* The draft's own mistakes are in @diag. */
static void compile_draft(const struct config *draft, struct diag *diag)
{
	struct policy policy;
	struct diag found;

	diag_init(&found, diag->file);
	if (review_compile(draft, &found, &policy) == 0)
		policy_release(&policy);
	add_errors(diag, &found);
	diag_release(&found);
}

int review_read(const char *path, struct diag *diag, struct config *ret_config)
{
	size_t errors = diag->n_errors;
	struct config draft;

	if (!config_read_draft(path, diag, &draft))
		return -EINVAL;
	if (diag->n_errors == errors) {
		*ret_config = draft;
		return 0;
	}
	compile_draft(&draft, diag);
	config_release(&draft);
	return -EINVAL;
}

/* All of IPv4, or of the IPv6 addresses that are given out (2000::/3). */
static const char *covers(const struct prefix *prefix)
{
	if (prefix->bits == 96 && prefix_is_ipv4(prefix->address))
		return "IPv4";
	if (prefix->bits <= 3 && (prefix->address[0] & 0xe0) == 0x20)
		return "global IPv6";
	return NULL;
}

static void warn_lists(const struct config *config, struct diag *diag)
{
	for (size_t i = 0; i < config->n_trusted; i++) {
		const char *covered = covers(&config->trusted[i].prefix);

		if (covered)
			diag_warning(diag, config->trusted[i].place,
				     "trusted covers all of %s: no limiter judges any of it",
				     covered);
	}
	for (size_t i = 0; i < config->n_blocked; i++) {
		const char *covered = covers(&config->blocked[i].prefix);

		if (covered)
			diag_warning(diag, config->blocked[i].place,
				     "blocked covers all of %s: every packet of it is dropped",
				     covered);
	}
}

static void warn_limiter(const struct config_limiter *limiter, struct diag *diag)
{
	const char *name = limiter->name.text;

	if (limiter->close_place.line)
		diag_warning(diag, limiter->close_place,
			     "action: close of '%s' is not supported yet: it acts as reject, a "
			     "reset on tcp and silence on udp",
			     name);
	if (limiter->response_place.line)
		diag_warning(diag, limiter->response_place,
			     "response of '%s' has no effect yet: a client that is refused is not "
			     "answered in HTTP",
			     name);
	if (!limiter->keyed)
		return;
	if (limiter->ipv6_prefix > 64)
		diag_warning(diag, limiter->ipv6_prefix_place,
			     "ipv6_prefix %u of '%s' is longer than 64: a client that has a /64 "
			     "can take a new address for every connection",
			     limiter->ipv6_prefix, name);
	if (limiter->ipv6_prefix == 0 && limiter->ipv4_prefix == 0)
		diag_warning(diag, limiter->name.place,
			     "both prefixes of '%s' are 0: all clients of IPv4 share one bucket, "
			     "and all of IPv6 another; keys: [] is one for all",
			     name);
	else if (limiter->ipv6_prefix == 0 || limiter->ipv4_prefix == 0)
		diag_warning(diag, limiter->name.place,
			     "ipv%d_prefix of '%s' is 0: all clients of IPv%d share one bucket",
			     limiter->ipv4_prefix ? 6 : 4, name, limiter->ipv4_prefix ? 6 : 4);
}

static bool is_limited(const struct config *config, const struct config_listener *listener)
{
	if (listener->judges.n_names)
		return true;
	for (size_t i = 0; i < listener->n_sources; i++)
		if (listener->sources[i].judges.n_names)
			return true;
	for (size_t i = 0; i < config->n_interfaces; i++)
		if (config->interfaces[i].judges.n_names)
			return true;
	return false;
}

/* The entry of the trusted list that holds all of @prefix, or NULL. */
static const struct config_prefix *find_trusted(const struct config *config,
						const struct prefix *prefix)
{
	for (size_t i = 0; i < config->n_trusted; i++)
		if (config->trusted[i].prefix.bits <= prefix->bits &&
		    prefix_contains(&config->trusted[i].prefix, prefix->address))
			return &config->trusted[i];
	return NULL;
}

static void warn_sources(const struct config *config, const struct config_listener *listener,
			 struct diag *diag)
{
	char text[PREFIX_TEXT_SIZE], outer[PREFIX_TEXT_SIZE];

	if (config->n_trusted && listener->n_sources > COMPARISONS_MAX / config->n_trusted)
		return;
	for (size_t i = 0; i < listener->n_sources; i++) {
		const struct config_prefix *source = &listener->sources[i].prefix;
		const struct config_prefix *trusted = find_trusted(config, &source->prefix);

		if (trusted && !listener->sources[i].judges.none)
			diag_warning(diag, source->place,
				     "%s is part of %s, which is trusted (line %u): what stands "
				     "here never counts",
				     prefix_format(&source->prefix, text),
				     prefix_format(&trusted->prefix, outer), trusted->place.line);
	}
}

void review_warn(const struct config *config, struct diag *diag)
{
	if (!config->enabled)
		diag_warning(diag, whole, "enabled is false: everything passes");
	if (config->keep_on_stop && config->watchdog.then != STILE_WATCHDOG_KEEP)
		diag_warning(diag, config->watchdog.place,
			     "on_stop: keep leaves protection in place, and the watchdog ends it "
			     "%g s later: it takes a daemon that was stopped for one that died",
			     (double)config->watchdog.after / 1e9);
	warn_lists(config, diag);
	for (size_t i = 0; i < config->n_limiters; i++)
		warn_limiter(&config->limiters[i], diag);
	for (size_t i = 0; i < config->n_listeners; i++) {
		const struct config_listener *listener = &config->listeners[i];

		if (!is_limited(config, listener))
			diag_warning(diag, listener->name.place,
				     "listener '%s' names no limiter: everything passes",
				     listener->name.text);
		warn_sources(config, listener, diag);
	}
}
