/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is right and yet hardly meant, as far as the file alone can tell. What this host has to say
 * of it is in cmd_check_host.c.
 */
#include "phrase.h"
#include "review.h"

#define COMPARISONS_MAX 1000000UL /* of prefixes; longer lists are not compared */
#define MAX_KEYS_FEW 100	  /* fewer clients than any service has that needs a limit */

#define PORTS_SIZE sizeof("65535-65535")

static const struct place whole;

/* All of IPv4, or of the IPv6 addresses that are given out (2000::/3). */
static const char *covers(const struct prefix *prefix)
{
	if (prefix->bits == 96 && prefix_is_ipv4(prefix->address))
		return "IPv4";
	if (prefix->bits <= 3 && (prefix->address[0] & 0xe0) == 0x20)
		return "global IPv6";
	return NULL;
}

/* An IPv4 prefix that holds more than one of its 256 largest blocks, and not all of it. */
static bool is_vast(const struct prefix *prefix)
{
	return prefix_is_ipv4(prefix->address) && prefix->bits > 96 && prefix->bits < 96 + 8;
}

static void warn_list(const struct config_prefix *list, size_t n, const char *name,
		      const char *consequence, struct diag *diag)
{
	char text[PREFIX_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const char *covered = covers(&list[i].prefix);

		if (covered)
			diag_warning(diag, list[i].place, "%s covers all of %s: %s", name, covered,
				     consequence);
		else if (is_vast(&list[i].prefix))
			diag_warning(diag, list[i].place,
				     "%s holds %s, which is shorter than a /8: %s", name,
				     prefix_format(&list[i].prefix, text), consequence);
	}
}

/* The entry of @list that holds all of @prefix, or NULL. */
static const struct config_prefix *find_outer(const struct config_prefix *list, size_t n,
					      const struct prefix *prefix)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].prefix.bits <= prefix->bits &&
		    prefix_contains(&list[i].prefix, prefix->address))
			return &list[i];
	return NULL;
}

static void warn_blocked(const struct config *config, struct diag *diag)
{
	char text[PREFIX_TEXT_SIZE], outer[PREFIX_TEXT_SIZE];

	if (config->n_trusted && config->n_blocked > COMPARISONS_MAX / config->n_trusted)
		return;
	for (size_t i = 0; i < config->n_trusted; i++) {
		const struct config_prefix *trusted = &config->trusted[i];
		const struct config_prefix *blocked =
			find_outer(config->blocked, config->n_blocked, &trusted->prefix);

		if (blocked && blocked->prefix.bits < trusted->prefix.bits)
			diag_warning(diag, trusted->place,
				     "%s is part of %s, which is blocked (line %u): it is blocked",
				     prefix_format(&trusted->prefix, text),
				     prefix_format(&blocked->prefix, outer), blocked->place.line);
	}
}

static void warn_lists(const struct config *config, struct diag *diag)
{
	warn_list(config->trusted, config->n_trusted, "trusted", "no limiter judges any of it",
		  diag);
	warn_list(config->blocked, config->n_blocked, "blocked", "every packet of it is dropped",
		  diag);
	warn_blocked(config, diag);
}

static void warn_prefixes(const struct config_limiter *limiter, struct diag *diag)
{
	const char *name = limiter->name.text;

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
	if (limiter->ipv4_prefix > 0 && limiter->ipv4_prefix < 8)
		diag_warning(diag, limiter->name.place,
			     "ipv4_prefix %u of '%s' is shorter than 8: %llu million addresses "
			     "share one bucket",
			     limiter->ipv4_prefix, name,
			     (1ULL << (32 - limiter->ipv4_prefix)) / 1000000);
}

static void warn_limiter(const struct config_limiter *limiter, struct diag *diag)
{
	const char *name = limiter->name.text;
	char window[PHRASE_SIZE];

	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET && limiter->burst == 1 &&
	    limiter->limit > limiter->window / STILE_WINDOW_NS_MIN)
		diag_warning(diag, limiter->burst_place,
			     "burst 1 of '%s' refuses whatever comes together, however few in %s: "
			     "a browser opens six at once",
			     name, phrase_window(limiter->window, window));
	if (!limiter->keyed)
		return;
	if (limiter->max_keys < MAX_KEYS_FEW)
		diag_warning(diag, limiter->name.place,
			     "max_keys %u of '%s' is room for few clients: one that comes beyond "
			     "them %s",
			     limiter->max_keys, name,
			     limiter->full == STILE_FULL_ALLOW	  ? "is not limited"
			     : limiter->full == STILE_FULL_REJECT ? "is refused"
								  : "takes another's bucket");
	warn_prefixes(limiter, diag);
}

static bool is_limited(const struct config *config, const struct config_listener *listener)
{
	if (listener->judges.n_names || listener->queue.limit)
		return true;
	for (size_t i = 0; i < listener->n_sources; i++)
		if (listener->sources[i].judges.n_names)
			return true;
	for (size_t i = 0; i < config->n_interfaces; i++)
		if (config->interfaces[i].judges.n_names)
			return true;
	return false;
}

static void warn_source(const struct config_source *source, const struct config_prefix *list,
			size_t n, const char *name, struct diag *diag)
{
	const struct config_prefix *found = find_outer(list, n, &source->prefix.prefix);
	char text[PREFIX_TEXT_SIZE], outer[PREFIX_TEXT_SIZE];

	if (found)
		diag_warning(diag, source->prefix.place,
			     "%s is part of %s, which is %s (line %u): what stands here never "
			     "counts",
			     prefix_format(&source->prefix.prefix, text),
			     prefix_format(&found->prefix, outer), name, found->place.line);
}

static void warn_sources(const struct config *config, const struct config_listener *listener,
			 struct diag *diag)
{
	size_t n_listed = config->n_trusted + config->n_blocked;

	if (n_listed && listener->n_sources > COMPARISONS_MAX / n_listed)
		return;
	for (size_t i = 0; i < listener->n_sources; i++) {
		const struct config_source *source = &listener->sources[i];

		warn_source(source, config->blocked, config->n_blocked, "blocked", diag);
		if (!source->judges.none)
			warn_source(source, config->trusted, config->n_trusted, "trusted", diag);
	}
}

/* Whom the limiters of @listener itself judge: whoever none of its sources holds. */
static void warn_others(const struct config_listener *listener, struct diag *diag)
{
	bool ipv4 = false, ipv6 = false;

	for (size_t i = 0; i < listener->n_sources; i++) {
		const struct prefix *prefix = &listener->sources[i].prefix.prefix;

		if (covers(prefix))
			*(prefix_is_ipv4(prefix->address) ? &ipv4 : &ipv6) = true;
	}
	if (ipv4 && ipv6 && listener->judges.n_names)
		diag_warning(diag, listener->judges.place,
			     "the sources of '%s' cover all of IPv4 and global IPv6: the limiters "
			     "of the listener itself judge nobody",
			     listener->name.text);
}

static const char *format_ports(const struct config_ports *ports, char text[PORTS_SIZE])
{
	snprintf(text, PORTS_SIZE, ports->first == ports->last ? "%u" : "%u-%u", ports->first,
		 ports->last);
	return text;
}

static void warn_ports(const struct config_listener *listener, struct diag *diag)
{
	char text[PORTS_SIZE], other[PORTS_SIZE];

	for (size_t i = 1; i < listener->n_ports; i++) {
		const struct config_ports *ports = &listener->ports[i], *before = listener->ports;

		while (before->last < ports->first || before->first > ports->last)
			before++;
		if (before < ports)
			diag_warning(diag, ports->place,
				     "ports: %s of '%s' %s %s, which stands on line %u already",
				     format_ports(ports, text), listener->name.text,
				     before->first == ports->first && before->last == ports->last
					     ? "repeats"
					     : "overlaps",
				     format_ports(before, other), before->place.line);
	}
}

static void warn_addresses(const struct config_listener *listener, struct diag *diag)
{
	char text[PREFIX_TEXT_SIZE];

	for (size_t i = 1; i < listener->n_addresses; i++) {
		const struct config_prefix *host = &listener->addresses[i];
		const struct config_prefix *before =
			find_outer(listener->addresses, i, &host->prefix);

		if (before)
			diag_warning(diag, host->place,
				     "addresses: %s of '%s' stands on line %u already",
				     prefix_format(&host->prefix, text), listener->name.text,
				     before->place.line);
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
		warn_others(listener, diag);
		warn_addresses(listener, diag);
		warn_ports(listener, diag);
	}
}
