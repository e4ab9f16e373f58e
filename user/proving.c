/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is still waited for and what was done are sums of which a tenth fades with each step, so
 * that they stand for about a second. A handshake under way looks like one that comes to nothing
 * for as long as its packets take; so it takes more of them than were completed.
 */
#include "proving.h"

/* Counters of a slot that has changed hands, or of a table that was made anew, start again. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : 0;
}

static uint64_t fade(uint64_t sum)
{
	return sum - sum / PROVING_STEPS;
}

static void count(struct proving *proving, const struct proving_input *input)
{
	const struct proving_input before = proving->before;
	bool known = proving->known && (proving->on || input->counted);
	uint64_t asked = since(input->asked, before.asked);
	uint64_t answered = proving->on ? since(input->proven, before.proven)
					: since(input->opened, before.opened);
	uint64_t most;

	proving->before = *input;
	proving->known = true;
	if (!known)
		return;
	proving->waiting = fade(proving->waiting + asked);
	proving->waiting -= answered < proving->waiting ? answered : proving->waiting;
	proving->done = fade(proving->done + answered);
	/* What a flood leaves is soon forgotten, however large it was. */
	most = 4 * (PROVING_UNANSWERED + proving->done);
	if (proving->waiting > most)
		proving->waiting = most;
}

static enum proving_reason find_reason(const struct proving *proving,
				       const struct proving_input *input)
{
	if (proving->waiting > PROVING_UNANSWERED + proving->done)
		return PROVING_HANDSHAKES;
	if (input->table)
		return PROVING_TABLE;
	return input->queue ? PROVING_QUEUE : PROVING_NONE;
}

static bool is_quiet(const struct proving *proving, const struct proving_input *input)
{
	return !input->table && !input->queue &&
	       proving->waiting <= PROVING_ANSWERED_MIN + proving->done / 4;
}

bool proving_step(struct proving *proving, const struct proving_input *input)
{
	enum proving_reason reason;

	count(proving, input);
	if (!proving->on) {
		reason = find_reason(proving, input);
		if (reason == PROVING_NONE)
			return false;
		proving->reason = reason;
		proving->on = true;
		proving->quiet = 0;
		return true;
	}
	proving->quiet = is_quiet(proving, input) ? proving->quiet + 1 : 0;
	if (proving->quiet < PROVING_QUIET_STEPS)
		return false;
	proving->on = false;
	return true;
}
