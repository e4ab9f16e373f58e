/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What clients on TCP are told in their own language. What is told alike is kept once: an answer
 * is the language's, and differs by the limiter only where the operator gave it words of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language.h"
#include "policy_build.h"
#include "util.h"

/* The limiter of the configuration that is in @slot. */
static const struct config_limiter *limiter_in(const struct policy_build *build, uint16_t slot)
{
	for (size_t i = 0; i < build->config->n_limiters; i++)
		if (build->limiters[i] == slot)
			return &build->config->limiters[i];
	return NULL;
}

static const struct config_listener *listener_in(const struct policy_build *build, uint16_t slot)
{
	for (size_t i = 0; i < build->config->n_listeners; i++)
		if (build->listeners[i] == slot)
			return &build->config->listeners[i];
	return NULL;
}

/* The slot of @answer, which is made where there is none yet; 0: out of memory. */
static uint16_t keep(struct policy *policy, const struct stile_answer *answer)
{
	struct stile_answer *grown;
	size_t n = policy->n_answers;

	for (size_t i = 1; i < n; i++)
		if (memcmp(&policy->answers[i], answer, sizeof(*answer)) == 0)
			return (uint16_t)i;
	if (n == 0)
		n = 1; /* slot 0 is none */
	grown = reallocarray(policy->answers, n + 1, sizeof(*grown));
	if (!grown)
		return 0;
	if (!policy->answers)
		memset(grown, 0, sizeof(*grown));
	policy->answers = grown;
	policy->n_answers = n + 1;
	grown[n] = *answer;
	return (uint16_t)n;
}

static bool is_raw(const struct config_listener *listener, const struct config_limiter *limiter)
{
	return listener->language == STILE_LANGUAGE_RAW && listener->raw &&
	       !(limiter && limiter->action == STILE_ACTION_CLOSE);
}

/* What is said at @listener in the words of @limiter (NULL: of none). 0 or -ENOMEM. */
static int build_answer(struct policy_build *build, const struct config_listener *listener,
			const struct config_limiter *limiter, uint16_t *ret_slot)
{
	static const struct language_response none;
	const struct language_response *response = limiter ? &limiter->response : &none;
	const struct language *language = language_of(listener->language);
	struct stile_answer answer;
	int error;

	if (limiter && limiter->action == STILE_ACTION_CLOSE)
		language = NULL;
	if (is_raw(listener, limiter)) {
		language_build_raw(listener->raw, &answer);
		error = 0;
	} else {
		error = language_build(language, response, &answer);
	}
	if (error == -EMSGSIZE) {
		diag_error(build->diag,
			   limiter ? limiter->response_place : listener->language_place,
			   "what a client at '%s' would be told is too long: %d bytes at most",
			   listener->name.text, STILE_ANSWER_BYTES);
		return 0;
	}
	if (error)
		return error;
	*ret_slot = keep(build->policy, &answer);
	return *ret_slot ? 0 : -ENOMEM;
}

static bool speaks(const struct config_listener *listener, const struct config_limiter *limiter)
{
	if (listener->protocol != STILE_PROTOCOL_TCP)
		return false;
	if (limiter && limiter->action == STILE_ACTION_CLOSE)
		return true;
	return (language_of(listener->language) || is_raw(listener, NULL)) &&
	       (!limiter || limiter->action == STILE_ACTION_REJECT);
}

static int build_attachment(struct policy_build *build, struct stile_attachment *attachment)
{
	const struct config_limiter *limiter = limiter_in(build, attachment->limiter);
	const struct config_listener *listener = listener_in(build, attachment->listener);

	if (!limiter || !listener || !speaks(listener, limiter))
		return 0;
	build->policy->kernel.converses = 1;
	return build_answer(build, listener, limiter, &attachment->answer);
}

static int build_listener(struct policy_build *build, size_t index)
{
	const struct config_listener *listener = &build->config->listeners[index];

	if (!speaks(listener, NULL))
		return 0;
	build->policy->kernel.converses = 1;
	return build_answer(build, listener, NULL,
			    &build->policy->kernel.listeners[build->listeners[index]].answer);
}

/* Whether a client is told anything in HTTP where the limiter in @slot refuses it. */
static bool is_heard(const struct policy_build *build, uint16_t slot)
{
	const struct stile_attachment *attachments = build->policy->kernel.attachments;

	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX; i++) {
		const struct config_listener *listener;

		if (attachments[i].limiter != slot || !attachments[i].answer)
			continue;
		listener = listener_in(build, attachments[i].listener);
		if (listener && listener->language == STILE_LANGUAGE_HTTP)
			return true;
	}
	return false;
}

static void warn_unheard(struct policy_build *build)
{
	for (size_t i = 0; i < build->config->n_limiters; i++) {
		const struct config_limiter *limiter = &build->config->limiters[i];

		if (!limiter->response_place.line)
			continue;
		if (limiter->action != STILE_ACTION_REJECT || !is_heard(build, build->limiters[i]))
			diag_warning(build->diag, limiter->response_place,
				     "response of '%s' is never sent: it is for action: reject, at "
				     "a listener with app_protocol: http",
				     limiter->name.text);
	}
}

/* One secret from the first load on, so that conversations go on through a reload. */
static void build_key(struct policy_build *build)
{
	const struct policy_machine *machine = build->machine;
	__u64 *key = build->policy->kernel.cookie_key;

	memcpy(key, build->previous->cookie_key, sizeof(build->previous->cookie_key));
	for (size_t i = 0; i < 2 && !build->previous->generation; i++)
		key[i] = machine->random(machine->context);
}

int policy_build_answers(struct policy_build *build)
{
	struct stile_attachment *attachments = build->policy->kernel.attachments;
	int result = 0;

	build_key(build);
	for (size_t i = 0; i < build->config->n_listeners && result == 0; i++)
		result = build_listener(build, i);
	for (size_t i = 1; i < STILE_ATTACHMENTS_MAX && result == 0; i++)
		if (attachments[i].limiter)
			result = build_attachment(build, &attachments[i]);
	if (result == 0 && !build->diag->n_errors) /* a name may be misspelt */
		warn_unheard(build);
	return result;
}
