/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Listeners' languages: whether each fits its protocol, and what clients on UDP are told. Answers
 * that are the same are there once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "language.h"
#include "policy_build.h"
#include "raw.h"

static const char *protocol_of(enum stile_language language)
{
	return policy_protocol_names[datagram_speaks(language) ? STILE_PROTOCOL_UDP
							       : STILE_PROTOCOL_TCP];
}

static bool fits(const struct config_listener *listener)
{
	if (listener->language == STILE_LANGUAGE_NONE || listener->language == STILE_LANGUAGE_RAW)
		return true;
	return listener->protocol == STILE_PROTOCOL_UDP ? datagram_speaks(listener->language)
							: language_of(listener->language) != NULL;
}

/* An answer is shorter than its request, and that is no longer than a datagram can be. */
static void check_raw_datagram(struct diag *diag, const struct config_listener *listener)
{
	const struct raw *raw = listener->raw;
	unsigned int least = 0;

	for (unsigned int i = 0; i < raw->n_pieces; i++)
		least += raw->pieces[i].kind == RAW_WAIT_S || raw->pieces[i].kind == RAW_WAIT_MS
				 ? 1
				 : raw->pieces[i].length;
	if (least >= STILE_DATAGRAM_SIZE)
		diag_error(diag, listener->raw_place,
			   "raw: '%s' would never send its %u bytes: an answer over udp is shorter "
			   "than its request, %d bytes at most",
			   listener->name.text, least, STILE_DATAGRAM_SIZE - 1);
}

/*
 * What a place is filled with is known while the request is at hand and the wait is reckoned: in
 * the first piece, whatever the request's size. Those that follow have the bytes alone.
 */
static void check_raw_places(struct diag *diag, const struct config_listener *listener)
{
	static const unsigned int widths[] = {
		[RAW_WAIT_S] = LANGUAGE_WIDTH_S,
		[RAW_WAIT_MS] = LANGUAGE_WIDTH_MS,
	};
	const struct raw *raw = listener->raw;
	unsigned int end = 0;

	for (unsigned int i = 0; i < raw->n_pieces; i++) {
		const struct raw_piece *piece = &raw->pieces[i];
		bool request = piece->kind == RAW_REQUEST;

		end += request || piece->kind == RAW_BYTES ? piece->length : widths[piece->kind];
		if (request && raw->server_first) {
			diag_error(diag, listener->raw_place,
				   "raw: '%s' has {request:...} and first: server, where nothing "
				   "was asked yet, expected first: client",
				   listener->name.text);
			return;
		}
		if (piece->kind != RAW_BYTES && end > STILE_ANSWER_PIECE) {
			diag_error(diag, listener->raw_place,
				   "raw: a place of '%s' ends at byte %u, and places are filled in "
				   "within the first %d: put it further to the front",
				   listener->name.text, end, STILE_ANSWER_PIECE);
			return;
		}
	}
}

static void check_raw(struct diag *diag, const struct config_listener *listener)
{
	if (listener->unsure & (CONFIG_LANGUAGE | CONFIG_RAW))
		return;
	if (listener->raw_place.line && listener->language != STILE_LANGUAGE_RAW)
		diag_error(diag, listener->raw_place,
			   "raw is for app_protocol: raw only, and '%s' has %s",
			   listener->name.text, policy_language_names[listener->language]);
	if (listener->language == STILE_LANGUAGE_RAW && !listener->raw_place.line)
		diag_error(
			diag, listener->language_place,
			"app_protocol: '%s' has raw and does not say what is sent, expected raw: "
			"{bytes: ...} beside it",
			listener->name.text);
	if (listener->raw && listener->raw->server_first &&
	    listener->protocol == STILE_PROTOCOL_UDP && !(listener->unsure & CONFIG_PROTOCOL))
		diag_error(diag, listener->raw_place,
			   "raw: '%s' is on udp, where no server speaks first, expected first: "
			   "client",
			   listener->name.text);
	if (listener->language != STILE_LANGUAGE_RAW || !listener->raw ||
	    (listener->unsure & (CONFIG_LANGUAGE | CONFIG_PROTOCOL)))
		return;
	if (listener->protocol == STILE_PROTOCOL_UDP)
		check_raw_datagram(diag, listener);
	else
		check_raw_places(diag, listener);
}

/* Whether there is anything to say there. */
static bool check(struct diag *diag, const struct config_listener *listener)
{
	check_raw(diag, listener);
	if (listener->unsure & (CONFIG_LANGUAGE | CONFIG_PROTOCOL))
		return false;
	if (listener->dns_answer_place.line && listener->language != STILE_LANGUAGE_DNS)
		diag_error(diag, listener->dns_answer_place,
			   "dns_answer is for app_protocol: dns only, and '%s' has %s",
			   listener->name.text, policy_language_names[listener->language]);
	if (listener->dns_answer_place.line && !listener->dns_refused &&
	    listener->language == STILE_LANGUAGE_DNS && listener->protocol == STILE_PROTOCOL_TCP)
		diag_error(diag, listener->dns_answer_place,
			   "dns_answer: truncated sends clients to tcp, and '%s' is there, "
			   "expected refused",
			   listener->name.text);
	if (!fits(listener)) {
		diag_error(diag, listener->language_place,
			   "app_protocol: %s is spoken over %s, and '%s' is on %s",
			   policy_language_names[listener->language],
			   protocol_of(listener->language), listener->name.text,
			   policy_protocol_names[listener->protocol]);
		return false;
	}
	return listener->language != STILE_LANGUAGE_NONE;
}

/* The slot of @datagram, which is added where it is not there yet; 0: there is no room. */
static uint16_t place(struct policy *policy, const struct stile_datagram *datagram)
{
	size_t slot = 1;

	while (slot < policy->n_datagrams &&
	       memcmp(&policy->datagrams[slot], datagram, sizeof(*datagram)) != 0)
		slot++;
	if (slot == STILE_DATAGRAMS_MAX)
		return 0;
	policy->datagrams[slot] = *datagram;
	if (slot >= policy->n_datagrams)
		policy->n_datagrams = slot + 1;
	return (uint16_t)slot;
}

static void build_listener(struct policy_build *build, size_t index)
{
	const struct config_listener *listener = &build->config->listeners[index];
	const struct datagram_wish wish = { listener->dns_refused, listener->raw };
	struct stile_policy *kernel = &build->policy->kernel;
	struct stile_datagram datagram;
	uint16_t slot;

	kernel->listeners[build->listeners[index]].language = (uint8_t)listener->language;
	if (!check(build->diag, listener) || listener->protocol != STILE_PROTOCOL_UDP ||
	    (listener->language == STILE_LANGUAGE_RAW && !listener->raw))
		return;
	/* Only texts of an operator's own could be too long, and they are bounded. */
	if (datagram_build(listener->language, &wish, &datagram) < 0)
		return;
	slot = place(build->policy, &datagram);
	if (slot == 0)
		diag_error(build->diag, listener->language_place,
			   "app_protocol: too many different answers on udp: there is room for %d",
			   STILE_DATAGRAMS_MAX - 1);
	kernel->listeners[build->listeners[index]].answer = slot;
	kernel->has_datagrams = 1;
}

/* Every attachment tells what its listener does: the program finds it in one step. */
static void build_attachments(struct stile_policy *kernel)
{
	for (size_t i = 0; i < STILE_ATTACHMENTS_MAX; i++) {
		struct stile_attachment *attachment = &kernel->attachments[i];
		const struct stile_listener *listener = &kernel->listeners[attachment->listener];

		if (attachment->limiter && listener->protocol == STILE_PROTOCOL_UDP)
			attachment->answer = listener->answer;
	}
}

int policy_build_datagrams(struct policy_build *build)
{
	build->policy->datagrams = calloc(STILE_DATAGRAMS_MAX, sizeof(*build->policy->datagrams));
	if (!build->policy->datagrams)
		return -ENOMEM;
	for (size_t i = 0; i < build->config->n_listeners; i++)
		build_listener(build, i);
	build_attachments(&build->policy->kernel);
	return 0;
}
