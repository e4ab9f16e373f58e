/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of limiters, resolved: at listeners, at their sources, at interfaces. An attachment is one
 * limiter at one listener, whichever list it comes from, because that is what decisions are
 * counted by.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy_build.h"
#include "util.h"

/* One listener while its lists are resolved. */
struct judging {
	struct policy_build *build;
	size_t listener;		       /* in the configuration */
	uint16_t attached[STILE_LIMITERS_MAX]; /* attachment slots by limiter, so far */
};

static void report_unknown(struct policy_build *build, const struct config_name *name)
{
	const struct config *config = build->config;
	const char *names[STILE_LIMITERS_MAX + 1] = { NULL };
	const char *nearest;

	for (size_t i = 0; i < config->n_limiters; i++)
		names[i] = config->limiters[i].name.text;
	nearest = diag_nearest_at(build->diag, name->place, name->text, names);
	if (nearest)
		diag_error(build->diag, name->place,
			   "unknown rate limiter '%s', did you mean '%s'?", name->text, nearest);
	else
		diag_error(build->diag, name->place,
			   "unknown rate limiter '%s': rate_limiters does not define it",
			   name->text);
}

/* The limiter's index in the configuration; false where there is none, which is reported. */
static bool resolve(struct policy_build *build, const struct config_name *name, size_t *ret_index)
{
	for (size_t i = 0; i < build->config->n_limiters; i++) {
		if (strcmp(build->config->limiters[i].name.text, name->text) == 0) {
			*ret_index = i;
			return true;
		}
	}
	report_unknown(build, name);
	return false;
}

static void use(struct policy_build *build, size_t limiter, enum stile_protocol protocol,
		struct place place)
{
	struct policy_use *use = &build->uses[limiter][protocol];

	if (!use->used)
		*use = (struct policy_use){ .used = true, .place = place };
}

static uint16_t attach(struct judging *judging, size_t limiter, struct place place)
{
	struct policy_build *build = judging->build;
	const struct stile_attachment pair = {
		.limiter = build->limiters[limiter],
		.listener = build->listeners[judging->listener],
	};

	if (!(build->config->listeners[judging->listener].unsure & CONFIG_PROTOCOL))
		use(build, limiter, build->config->listeners[judging->listener].protocol, place);
	if (!judging->attached[limiter])
		judging->attached[limiter] = policy_build_attachment(build, pair, place);
	return judging->attached[limiter];
}

/* Each client's own limiters come first, then those for all; otherwise as named. */
static void fill(struct judging *judging, const struct config_judges *judges,
		 __u16 slots[STILE_JUDGES_MAX])
{
	const struct config_limiter *limiters = judging->build->config->limiters;
	size_t resolved[STILE_JUDGES_MAX];
	bool known[STILE_JUDGES_MAX];
	unsigned int n_slots = 0;

	for (unsigned int i = 0; i < judges->n_names; i++)
		known[i] = resolve(judging->build, &judges->names[i], &resolved[i]);
	for (int keyed = 1; keyed >= 0; keyed--)
		for (unsigned int i = 0; i < judges->n_names; i++)
			if (known[i] && limiters[resolved[i]].keyed == keyed)
				slots[n_slots++] =
					attach(judging, resolved[i], judges->names[i].place);
}

static int check_sources(struct policy_build *build, const struct config_listener *listener)
{
	autofree struct policy_prefix *sorted = calloc(listener->n_sources, sizeof(*sorted));
	char text[PREFIX_TEXT_SIZE];

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < listener->n_sources; i++)
		sorted[i] = (struct policy_prefix){ &listener->sources[i].prefix, i };
	policy_prefixes_sort(sorted, listener->n_sources);
	for (size_t i = 1; i < listener->n_sources; i++) {
		const struct config_prefix *first = sorted[i - 1].prefix, *again = sorted[i].prefix;

		/* In a draft, one that is wrong has no place. */
		if (first->place.line && policy_prefix_is_same(&first->prefix, &again->prefix))
			diag_error(build->diag, again->place,
				   "%s has a policy already (line %u) in the sources of '%s'",
				   prefix_format(&again->prefix, text), first->place.line,
				   listener->name.text);
	}
	return 0;
}

static int build_sources(struct judging *judging)
{
	struct policy_build *build = judging->build;
	const struct config_listener *listener = &build->config->listeners[judging->listener];
	uint16_t slot = build->listeners[judging->listener];

	if (!listener->n_sources)
		return 0;
	build->policy->kernel.listeners[slot].has_sources = 1;
	for (size_t i = 0; i < listener->n_sources; i++) {
		const struct config_source *source = &listener->sources[i];
		struct policy_source *out = &build->policy->sources[build->policy->n_sources++];

		out->key.bits = 32U + source->prefix.prefix.bits;
		out->key.listener = slot;
		memcpy(out->key.address, source->prefix.prefix.address, sizeof(out->key.address));
		if (!source->judges.none)
			fill(judging, &source->judges, out->value.judges);
	}
	return check_sources(build, listener);
}

/* Whether events of @protocol are what the limiter counts. */
static bool counts(const struct config_limiter *limiter, enum stile_protocol protocol)
{
	bool tcp = limiter->algorithm == STILE_ALGORITHM_CONCURRENCY ||
		   limiter->unit == STILE_UNIT_CONNECTIONS ||
		   limiter->unit == STILE_UNIT_ESTABLISHMENTS;

	if (!limiter->has_unit && limiter->algorithm != STILE_ALGORITHM_CONCURRENCY)
		return true;
	return tcp == (protocol == STILE_PROTOCOL_TCP);
}

/*
 * An interface's limiter that has a unit judges the listeners that have such events. Without one
 * it judges all.
 */
static void build_edge(struct judging *judging, size_t interface)
{
	struct policy_build *build = judging->build;
	const struct config_listener *listener = &build->config->listeners[judging->listener];
	const struct config_judges *judges = &build->config->interfaces[interface].judges;
	struct stile_listener *out =
		&build->policy->kernel.listeners[build->listeners[judging->listener]];
	const struct config_limiter *limiter;
	size_t index;

	if (judges->n_names != 1 || !resolve(build, &judges->names[0], &index))
		return;
	limiter = &build->config->limiters[index];
	if (!counts(limiter, listener->protocol))
		return;
	out->edges[build->interfaces[interface]] = attach(judging, index, judges->names[0].place);
}

/* An attachment of its own: what it decides is counted apart. */
static void build_new_sources(struct judging *judging)
{
	struct policy_build *build = judging->build;
	const struct config_listener *listener = &build->config->listeners[judging->listener];
	const struct config_name *name = &listener->new_sources;
	size_t index;

	if (!*name->text || !resolve(build, name, &index))
		return;
	if (judging->attached[index])
		diag_error(build->diag, name->place,
			   "rate limiter '%s' judges at '%s' already, expected another one for new "
			   "sources",
			   name->text, listener->name.text);
	else
		policy_build_new_sources(build, judging->listener, index,
					 attach(judging, index, name->place));
}

static int build_listener(struct policy_build *build, size_t index)
{
	struct judging judging = { .build = build, .listener = index };
	int result;

	fill(&judging, &build->config->listeners[index].judges,
	     build->policy->kernel.listeners[build->listeners[index]].judges);
	for (size_t i = 0; i < build->config->n_interfaces; i++)
		build_edge(&judging, i);
	result = build_sources(&judging);
	build_new_sources(&judging);
	return result;
}

static void check_interface(struct policy_build *build, const struct config_interface *interface)
{
	const struct config_judges *judges = &interface->judges;
	size_t index;

	if (judges->n_names > 1)
		diag_error(build->diag, judges->names[1].place,
			   "interface '%s' names %u rate limiters, and only one is supported there",
			   interface->name.text, judges->n_names);
	else if (judges->n_names == 1 && !build->config->n_listeners)
		(void)resolve(build, &judges->names[0], &index); /* only to report it */
}

/* A limiter with a unit is for one protocol; one without counts whatever opens something. */
static void check_unit(struct policy_build *build, size_t index)
{
	const struct config_limiter *limiter = &build->config->limiters[index];
	const struct policy_use *tcp = &build->uses[index][STILE_PROTOCOL_TCP];
	const struct policy_use *udp = &build->uses[index][STILE_PROTOCOL_UDP];
	struct diag *diag = build->diag;

	if (limiter->unsure & (CONFIG_UNIT | CONFIG_ALGORITHM))
		return;
	if (limiter->algorithm == STILE_ALGORITHM_CONCURRENCY && udp->used) {
		diag_error(diag, udp->place,
			   "rate limiter '%s' is of algorithm: concurrency, which counts "
			   "connections on tcp, and is used on udp",
			   limiter->name.text);
		return;
	}
	if (tcp->used && udp->used && limiter->has_unit)
		diag_error(diag, limiter->unit_place,
			   "rate limiter '%s' counts %s and is used on tcp (line %u) and on udp "
			   "(line %u), expected no unit: connections on tcp, sessions on udp",
			   limiter->name.text, policy_unit_names[limiter->unit], tcp->place.line,
			   udp->place.line);
	else if (tcp->used && !counts(limiter, STILE_PROTOCOL_TCP))
		diag_error(diag, limiter->unit_place,
			   "rate limiter '%s' counts %s and is used on tcp (line %u), "
			   "expected unit: connections there",
			   limiter->name.text, policy_unit_names[limiter->unit], tcp->place.line);
	else if (udp->used && !counts(limiter, STILE_PROTOCOL_UDP))
		diag_error(diag, limiter->unit_place,
			   "rate limiter '%s' counts connections and is used on udp (line %u), "
			   "expected unit: sessions or unit: datagrams there",
			   limiter->name.text, udp->place.line);
	else if (!tcp->used && !udp->used && !diag->n_errors) /* a name may be misspelt */
		diag_warning(diag, limiter->name.place, "rate limiter '%s' judges no listener",
			     limiter->name.text);
}

/* What a limiter without a unit counts, where it is known. */
static void settle_unit(struct policy_build *build, size_t index)
{
	const struct policy_use *uses = build->uses[index];
	struct stile_limiter *limiter = &build->policy->kernel.limiters[build->limiters[index]];

	if (limiter->unit != STILE_UNIT_UNSET)
		return;
	if (!uses[STILE_PROTOCOL_UDP].used)
		limiter->unit = STILE_UNIT_CONNECTIONS;
	else if (!uses[STILE_PROTOCOL_TCP].used)
		limiter->unit = STILE_UNIT_SESSIONS;
}

int policy_build_judges(struct policy_build *build)
{
	const struct config *config = build->config;
	size_t n_sources = 0;
	int result;

	for (size_t i = 0; i < config->n_listeners; i++)
		n_sources += config->listeners[i].n_sources;
	build->policy->sources = calloc(n_sources + 1, sizeof(*build->policy->sources));
	if (!build->policy->sources)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_interfaces; i++)
		check_interface(build, &config->interfaces[i]);
	for (size_t i = 0; i < config->n_listeners; i++) {
		result = build_listener(build, i);
		if (result < 0)
			return result;
	}
	for (size_t i = 0; i < config->n_limiters; i++) {
		check_unit(build, i);
		settle_unit(build, i);
	}
	policy_build_sessions(build);
	policy_place_listeners(build);
	policy_warn_repeats(build);
	return 0;
}
