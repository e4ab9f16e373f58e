/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans of time and limiters in words. Spans are rounded up: whoever waits as long as he was told
 * has waited long enough.
 */
#include <inttypes.h>
#include <stdio.h>

#include "names.h"
#include "phrase.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t divide_up(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

const char *phrase_duration(uint64_t ns, char text[PHRASE_SIZE])
{
	static const struct {
		uint64_t seconds;
		const char *name, *minor_name;
		uint64_t minor;
	} units[] = {
		{ 86400, "d", "h", 3600 },
		{ 3600, "h", "min", 60 },
		{ 60, "min", "s", 1 },
	};
	uint64_t tenths = divide_up(ns, NS_PER_S / 10);

	if (tenths < 600) {
		snprintf(text, PHRASE_SIZE, "%" PRIu64 ".%" PRIu64 " s", tenths / 10, tenths % 10);
		return text;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t minors = divide_up(ns, units[i].minor * NS_PER_S);
		uint64_t ratio = units[i].seconds / units[i].minor;

		if (minors < ratio)
			continue;
		snprintf(text, PHRASE_SIZE, "%" PRIu64 " %s %" PRIu64 " %s", minors / ratio,
			 units[i].name, minors % ratio, units[i].minor_name);
		break;
	}
	return text;
}

const char *phrase_window(uint64_t ns, char text[PHRASE_SIZE])
{
	uint64_t s = ns / NS_PER_S;

	if (ns % NS_PER_S)
		snprintf(text, PHRASE_SIZE, "%" PRIu64 "ms", ns / (NS_PER_S / 1000));
	else if (s % 3600 == 0)
		snprintf(text, PHRASE_SIZE, "%" PRIu64 "h", s / 3600);
	else if (s % 60 == 0)
		snprintf(text, PHRASE_SIZE, "%" PRIu64 "m", s / 60);
	else
		snprintf(text, PHRASE_SIZE, "%" PRIu64 "s", s);
	return text;
}

const char *phrase_unit(const struct stile_limiter *limiter)
{
	if (limiter->unit == STILE_UNIT_UNSET)
		return "connections and sessions";
	return policy_unit_names[limiter->unit];
}

static const char *unit_of_one(const struct stile_limiter *limiter)
{
	switch (limiter->unit) {
	case STILE_UNIT_CONNECTIONS:
		return "connection";
	case STILE_UNIT_SESSIONS:
		return "session";
	case STILE_UNIT_DATAGRAMS:
		return "datagram";
	case STILE_UNIT_ESTABLISHMENTS:
		return "establishment";
	default:
		return "connection or session";
	}
}

const char *phrase_limit(const struct stile_limiter *limiter, char text[PHRASE_SIZE])
{
	char window[PHRASE_SIZE];
	const char *unit = limiter->limit == 1 ? unit_of_one(limiter) : phrase_unit(limiter);
	int length;

	if (limiter->algorithm == STILE_ALGORITHM_CONCURRENCY) {
		length = snprintf(text, PHRASE_SIZE, "%llu %s at a time", limiter->limit, unit);
		if (limiter->queue)
			snprintf(text + length, PHRASE_SIZE - (size_t)length, ", %u may wait",
				 limiter->queue);
		return text;
	}
	phrase_window(limiter->window, window);
	length = snprintf(text, PHRASE_SIZE, "%llu %s per %.16s", limiter->limit, unit, window);
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		snprintf(text + length, PHRASE_SIZE - (size_t)length, ", burst %llu",
			 limiter->burst);
	return text;
}

const char *phrase_keys(const struct stile_limiter *limiter, char text[PHRASE_SIZE])
{
	if (limiter->keyed)
		snprintf(text, PHRASE_SIZE, "client_ip, IPv4 /%u, IPv6 /%u", limiter->ipv4_prefix,
			 limiter->ipv6_prefix);
	else
		snprintf(text, PHRASE_SIZE, "all together");
	return text;
}
