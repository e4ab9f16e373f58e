/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a segment of a conversation gets, from nothing but the segment: how many bytes of our
 * stream its sender has, whether it brings data or ends its own. Pure.
 *
 * Our stream is what rules that go on said (the prelude), one part, and a FIN. Of a part that needs
 * several segments each follows on the acknowledgment of the one before. That cannot tell which
 * rule began it, so only the last rule's part is continued, and no segment of it ends where
 * another rule's part and FIN would.
 */
#ifndef STILE_BPF_TALK_H
#define STILE_BPF_TALK_H

#include <stile/abi.h>

#include "compiler.h"
#include "parse.h"

enum talk_step {
	TALK_SILENCE,
	TALK_SAY, /* bytes of the answer, and a FIN after the last */
	TALK_ACK, /* the client's FIN, or what it goes on sending, which nobody reads */
};

static __always_inline const struct stile_answer_rule *talk_rule(const struct stile_answer *answer,
								 __u32 rule)
{
	return &answer->rules[rule & (STILE_ANSWER_RULES - 1)];
}

static __always_inline const struct stile_answer_rule *talk_last(const struct stile_answer *answer)
{
	return talk_rule(answer, answer->n_rules - 1);
}

/* Whether a client that has @has bytes has all of a part, and the FIN: the bytes that it sends. */
static __always_inline bool talk_is_over(const struct stile_answer *answer, __u32 has)
{
	const struct stile_answer_rule *rule;
	bool over = has > talk_last(answer)->length;
	__u32 i;

	if (has <= answer->prelude)
		return false;
	/* Who had a prelude gets the rest in one segment. */
	if (answer->prelude)
		return true;
	for (i = 0; i < STILE_ANSWER_RULES; i++) {
		rule = talk_rule(answer, i);
		if (i < answer->n_rules && !rule->goes_on && has == rule->length + 1U)
			over = true;
	}
	return over;
}

/* Whether a client of @answer can have @has bytes. */
static __always_inline bool talk_can_have(const struct stile_answer *answer, __u32 has)
{
	return has <= talk_last(answer)->length + answer->prelude + 1U;
}

/* @window: what the client says that it has room for. */
static __always_inline enum talk_step talk_step(const struct stile_answer *answer,
						const struct pkt *pkt, __u32 has, __u32 window)
{
	if (pkt->flags & FLAG_RST)
		return TALK_SILENCE;
	if (talk_is_over(answer, has)) {
		/* A reset would take the answer from a client that has not read it yet. */
		return pkt->payload || pkt->flags & FLAG_FIN ? TALK_ACK : TALK_SILENCE;
	}
	if (pkt->payload || pkt->flags & FLAG_FIN)
		return TALK_SAY;
	if (has <= answer->prelude && !answer->speaks_first)
		return TALK_SILENCE;
	return window ? TALK_SAY : TALK_SILENCE;
}

/* What the last rule's part may not be cut at, because of rule @i: see above. 0: nothing. */
static __always_inline __u32 talk_never(const struct stile_answer *answer, __u32 i)
{
	const struct stile_answer_rule *rule = talk_rule(answer, i);

	return i + 1 < answer->n_rules && !rule->goes_on ? rule->length + 1U : 0;
}

#endif /* STILE_BPF_TALK_H */
