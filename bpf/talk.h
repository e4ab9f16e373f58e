/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a segment of a conversation gets, from nothing but the segment: how many bytes of our
 * stream its sender has, whether it brings data or ends its own. Pure.
 *
 * Our stream is what rules that go on said (the prelude), one part, and a FIN. Of a part that needs
 * several segments each follows on the acknowledgment of the one before. Which rule began it is
 * told by the place that is acknowledged: the other rule's part is cut only where this is a
 * multiple of TALK_SIDE, less one, the last rule's nowhere there, nor where the other's FIN ends.
 */
#ifndef STILE_BPF_TALK_H
#define STILE_BPF_TALK_H

#include <stile/abi.h>

#include "compiler.h"
#include "parse.h"

#define TALK_SIDE 16

enum talk_side {
	TALK_ALONE, /* there is no other rule */
	TALK_LAST,
	TALK_OTHER,
};

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

/* Where the other rule's FIN ends; 0: there is none. */
static __always_inline __u32 talk_other_end(const struct stile_answer *answer)
{
	return answer->other ? talk_rule(answer, answer->other - 1)->length + 1U : 0;
}

/* Whether a client that has @has bytes has all of a part, and the FIN: the bytes that it sends. */
static __always_inline bool talk_is_over(const struct stile_answer *answer, __u32 has)
{
	if (has <= answer->prelude)
		return false;
	/* Who had a prelude gets the rest in one segment. */
	if (answer->prelude)
		return true;
	return has > talk_last(answer)->length || has == talk_other_end(answer);
}

/* The rule whose part a client goes on with that has @has bytes of it. */
static __always_inline const struct stile_answer_rule *
talk_continued(const struct stile_answer *answer, __u32 has)
{
	return talk_rule(answer,
			 (answer->other && has % TALK_SIDE == TALK_SIDE - 1 ? answer->other
									    : answer->n_rules) -
				 1);
}

static __always_inline enum talk_side talk_side(const struct stile_answer *answer,
						const struct stile_answer_rule *rule)
{
	if (!answer->other)
		return TALK_ALONE;
	return rule == talk_rule(answer, answer->other - 1) ? TALK_OTHER : TALK_LAST;
}

/*
 * How many of @length bytes behind @from a segment brings that is not the last: see above. @never:
 * talk_other_end().
 */
static __always_inline __u32 talk_cut(enum talk_side side, __u32 from, __u32 length, __u32 never)
{
	__u32 rest = (from + length + 1) % TALK_SIDE;

	if (side == TALK_OTHER)
		return length > rest ? length - rest : 0;
	if (side == TALK_ALONE || length == 0)
		return length;
	if (from + length == never) {
		length--;
		rest = (rest + TALK_SIDE - 1) % TALK_SIDE;
	}
	return rest ? length : length - 1;
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

#endif /* STILE_BPF_TALK_H */
