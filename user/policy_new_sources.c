/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limiter of a listener that judges only clients which are new there: behind the limiters of
 * each list by which a client can be known, those of the listener's sources included.
 */
#include "policy_build.h"

static void check_room(struct policy_build *build, const struct config_listener *listener,
		       const struct config_judges *judges)
{
	if (judges->n_names == STILE_JUDGES_MAX)
		diag_error(build->diag, judges->place,
			   "%d limiters, expected at most %d beside the "
			   "new_sources_rate_limiter_name of '%s' (line %u)",
			   STILE_JUDGES_MAX, STILE_JUDGES_MAX - 1, listener->name.text,
			   listener->new_sources.place.line);
}

static void check_algorithm(struct policy_build *build, const struct config_limiter *limiter,
			    struct place place)
{
	if (limiter->algorithm == STILE_ALGORITHM_CONCURRENCY &&
	    !(limiter->unsure & CONFIG_ALGORITHM))
		diag_error(build->diag, place,
			   "rate limiter '%s' is of algorithm: concurrency, expected one of a rate "
			   "for new sources",
			   limiter->name.text);
}

/* False: by none of @judges a client can be known, or there is no room, which is reported. */
static bool put(const struct policy_build *build, uint16_t attachment,
		__u16 judges[STILE_JUDGES_MAX])
{
	const struct stile_policy *kernel = &build->policy->kernel;
	bool keyed = false;
	size_t n = 0;

	for (; n < STILE_JUDGES_MAX && judges[n]; n++)
		keyed |= kernel->limiters[kernel->attachments[judges[n]].limiter].keyed;
	if (!keyed || n == STILE_JUDGES_MAX)
		return false;
	judges[n] = attachment;
	return true;
}

void policy_build_new_sources(struct policy_build *build, size_t listener, size_t limiter,
			      uint16_t attachment)
{
	const struct config_listener *in = &build->config->listeners[listener];
	struct stile_policy *kernel = &build->policy->kernel;
	uint16_t slot = build->listeners[listener];
	bool used;

	check_algorithm(build, &build->config->limiters[limiter], in->new_sources.place);
	check_room(build, in, &in->judges);
	for (size_t i = 0; i < in->n_sources; i++)
		check_room(build, in, &in->sources[i].judges);
	used = put(build, attachment, kernel->listeners[slot].judges);
	for (size_t i = 0; i < build->policy->n_sources; i++) {
		struct policy_source *source = &build->policy->sources[i];

		if (source->key.listener == slot)
			used |= put(build, attachment, source->value.judges);
	}
	if (!used && !build->diag->n_errors) /* a name may be misspelt */
		diag_error(build->diag, in->new_sources.place,
			   "new_sources_rate_limiter_name of '%s' beside no limiter with keys, by "
			   "which a client could be known",
			   in->name.text);
	kernel->attachments[attachment].new_sources = 1;
	kernel->new_sources = 1;
}
