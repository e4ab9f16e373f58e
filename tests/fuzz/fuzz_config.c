/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * No text breaks the reading of a configuration, and none that it accepts breaks what it promises:
 * bounds, names that end, places that are in the text. Compiling is slow, so that only some drafts
 * with mistakes go through it; one without goes always.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "policy.h"
#include "review.h"

#define DRAFTS 8 /* of so many with mistakes one is compiled */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void demand(bool condition)
{
	if (!condition)
		abort();
}

/*
 * Line 0 is the file as a whole. There are as many lines as ends of lines, and one more; libyaml
 * sees the end of a text that lacks the last one on yet another.
 */
static void check_place(struct place place, const uint8_t *data, size_t size)
{
	unsigned int lines = 2;

	/* Ends of lines are CR, LF, NEL (c2 85), LS and PS (e2 80 a8, e2 80 a9). */
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n' || data[i] == '\r' || data[i] == 0x85 || data[i] == 0xa8 ||
			 data[i] == 0xa9;
	demand(place.line <= lines);
	demand(place.line == 0 || place.column > 0);
}

static void check_diag(const struct diag *diag, const uint8_t *data, size_t size)
{
	struct place last = { 0 };

	for (size_t i = 0; i < diag->n_entries; i++) {
		const struct diag_entry *entry = &diag->entries[i];

		demand(entry->text && *entry->text && !strpbrk(entry->text, "\n\r\t\x1b"));
		demand(entry->place.line > last.line ||
		       (entry->place.line == last.line && entry->place.column >= last.column));
		last = entry->place;
	}
	check_place(last, data, size);
}

static void check_name(const struct config_name *name)
{
	demand(memchr(name->text, '\0', sizeof(name->text)) != NULL);
	demand(*name->text && name->place.line > 0);
}

static void check_judges(const struct config_judges *judges)
{
	demand(judges->n_names <= STILE_JUDGES_MAX);
	demand(!judges->none || judges->n_names == 0);
	for (unsigned int i = 0; i < judges->n_names; i++)
		check_name(&judges->names[i]);
}

static void check_prefix(const struct config_prefix *prefix)
{
	char text[PREFIX_TEXT_SIZE];
	struct prefix again;

	demand(prefix_parse(prefix_format(&prefix->prefix, text), &again) == 0);
	demand(memcmp(&again, &prefix->prefix, sizeof(again)) == 0);
}

static void check_limiter(const struct config_limiter *limiter)
{
	check_name(&limiter->name);
	demand(limiter->algorithm < _STILE_ALGORITHM_MAX && limiter->action < _STILE_ACTION_MAX);
	demand(limiter->unit < _STILE_UNIT_MAX && limiter->full < _STILE_FULL_MAX);
	demand(limiter->window >= STILE_WINDOW_NS_MIN && limiter->window <= STILE_WINDOW_NS_MAX);
	demand(limiter->ipv4_prefix <= 32 && limiter->ipv6_prefix <= 128);
	demand(limiter->max_keys > 0);
}

static void check_listener(const struct config_listener *listener)
{
	check_name(&listener->name);
	demand(listener->protocol < _STILE_PROTOCOL_MAX);
	check_judges(&listener->judges);
	for (size_t i = 0; i < listener->n_addresses; i++)
		demand(listener->addresses[i].prefix.bits == 128);
	for (size_t i = 0; i < listener->n_ports; i++)
		demand(listener->ports[i].first > 0 &&
		       listener->ports[i].first <= listener->ports[i].last);
	for (size_t i = 0; i < listener->n_sources; i++) {
		if (listener->sources[i].prefix.place.line) /* none: it was wrong */
			check_prefix(&listener->sources[i].prefix);
		check_judges(&listener->sources[i].judges);
	}
}

static void check_config(const struct config *config)
{
	for (size_t i = 0; i < config->n_interfaces; i++) {
		check_name(&config->interfaces[i].name);
		demand(strlen(config->interfaces[i].name.text) < 16);
		demand(config->interfaces[i].mode < _STILE_MODE_MAX);
		check_judges(&config->interfaces[i].judges);
	}
	for (size_t i = 0; i < config->n_limiters; i++)
		check_limiter(&config->limiters[i]);
	for (size_t i = 0; i < config->n_listeners; i++)
		check_listener(&config->listeners[i]);
	for (size_t i = 0; i < config->n_trusted; i++)
		check_prefix(&config->trusted[i]);
	for (size_t i = 0; i < config->n_blocked; i++)
		check_prefix(&config->blocked[i]);
}

static void compile(const struct config *config, struct diag *diag)
{
	struct policy policy;

	if (review_compile(config, diag, &policy) < 0)
		return;
	review_warn(config, diag);
	for (size_t i = 0; i < policy.n_sources; i++)
		sink += policy.sources[i].key.bits;
	for (size_t i = 0; i < STILE_LIMITERS_MAX; i++)
		sink += policy_table_bytes(&policy.kernel.limiters[i]);
	policy_release(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config;
	struct diag diag;

	diag_init(&diag, "fuzz");
	if (config_parse_draft((const char *)data, size, &diag, &config)) {
		check_config(&config);
		if (!diag.n_errors || size % DRAFTS == 0)
			compile(&config, &diag);
		config_release(&config);
	} else {
		demand(diag.n_errors > 0);
	}
	check_diag(&diag, data, size);
	sink += diag.n_entries;
	diag_release(&diag);
	return 0;
}
