/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a segment of a conversation gets, by how much of the answer its sender has. */
#include "check.h"
#include "talk.h"
#include "util.h"

#define ACK FLAG_ACK
#define FIN (FLAG_ACK | FLAG_FIN)
#define ROOM 1000

/* A client speaks first; who says HEAD gets 60 bytes, others 100. */
static const struct stile_answer http = {
	.length = 100,
	.n_rules = 2,
	.rules = { { .length = 60 }, { .length = 100 } },
};
/* The server does, and says it in one go. */
static const struct stile_answer smtp = {
	.length = 40,
	.n_rules = 1,
	.speaks_first = 1,
	.rules = { { .length = 40 } },
};
/* Two requests may be declined with a byte before the last. */
static const struct stile_answer postgresql = {
	.length = 91,
	.n_rules = 3,
	.prelude = 2,
	.rules = { { .length = 1, .goes_on = 1 }, { .length = 1, .goes_on = 1 }, { .length = 90 } },
};
/* Action close. */
static const struct stile_answer silent = { .n_rules = 1, .speaks_first = 1 };

static void test_step(void)
{
	static const struct {
		const char *what;
		const struct stile_answer *answer;
		__u8 flags;
		__u16 payload;
		__u32 has, window;
		enum talk_step want;
	} rows[] = {
		{ "http: the handshake ends", &http, ACK, 0, 0, ROOM, TALK_SILENCE },
		{ "http: a request", &http, ACK, 20, 0, ROOM, TALK_SAY },
		{ "http: a request and an end", &http, FIN, 20, 0, ROOM, TALK_SAY },
		{ "http: an end without a request", &http, FIN, 0, 0, ROOM, TALK_SAY },
		{ "http: a reset", &http, FLAG_RST, 0, 0, ROOM, TALK_SILENCE },
		{ "http: a reset with data", &http, FLAG_RST | ACK, 20, 0, ROOM, TALK_SILENCE },
		{ "http: part of it acknowledged", &http, ACK, 0, 50, ROOM, TALK_SAY },
		{ "http: all but the FIN", &http, ACK, 0, 100, ROOM, TALK_SAY },
		{ "http: no room", &http, ACK, 0, 50, 0, TALK_SILENCE },
		{ "http: the FIN", &http, ACK, 0, 101, ROOM, TALK_SILENCE },
		{ "http: the FIN of the shorter answer", &http, ACK, 0, 61, ROOM, TALK_SILENCE },
		{ "http: the client's end", &http, FIN, 0, 101, ROOM, TALK_ACK },
		{ "http: the same of the shorter one", &http, FIN, 0, 61, ROOM, TALK_ACK },
		{ "http: data behind the FIN", &http, ACK, 1, 101, ROOM, TALK_ACK },
		{ "http: and an end with them", &http, FIN, 1, 61, ROOM, TALK_ACK },
		{ "smtp: the handshake ends", &smtp, ACK, 0, 0, ROOM, TALK_SAY },
		{ "smtp: with a closed window", &smtp, ACK, 0, 0, 0, TALK_SILENCE },
		{ "smtp: data before it has it", &smtp, ACK, 9, 0, 0, TALK_SAY },
		{ "smtp: it has it", &smtp, ACK, 0, 41, ROOM, TALK_SILENCE },
		{ "smtp: the client's end", &smtp, FIN, 0, 41, ROOM, TALK_ACK },
		{ "postgresql: SSLRequest", &postgresql, ACK, 8, 0, ROOM, TALK_SAY },
		{ "postgresql: one N", &postgresql, ACK, 0, 1, ROOM, TALK_SILENCE },
		{ "postgresql: two", &postgresql, ACK, 0, 2, ROOM, TALK_SILENCE },
		{ "postgresql: start-up behind one", &postgresql, ACK, 60, 1, ROOM, TALK_SAY },
		{ "postgresql: behind two", &postgresql, ACK, 60, 2, ROOM, TALK_SAY },
		{ "postgresql: all behind none", &postgresql, ACK, 0, 91, ROOM, TALK_SILENCE },
		{ "postgresql: all behind two", &postgresql, FIN, 0, 93, ROOM, TALK_ACK },
		{ "postgresql: data behind the FIN", &postgresql, ACK, 5, 92, ROOM, TALK_ACK },
		{ "close: the handshake ends", &silent, ACK, 0, 0, ROOM, TALK_SAY },
		{ "close: data", &silent, ACK, 9, 0, ROOM, TALK_SAY },
		{ "close: the FIN", &silent, ACK, 0, 1, ROOM, TALK_SILENCE },
		{ "close: the client's end", &silent, FIN, 0, 1, ROOM, TALK_ACK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pkt pkt = { .flags = rows[i].flags, .payload = rows[i].payload };

		CHECK_EQ(rows[i].what, talk_step(rows[i].answer, &pkt, rows[i].has, rows[i].window),
			 rows[i].want);
	}
}

static void test_bounds(void)
{
	CHECK("all and the FIN", talk_can_have(&http, 101));
	CHECK("not more", !talk_can_have(&http, 102));
	CHECK("the prelude, all and the FIN", talk_can_have(&postgresql, 93));
	CHECK("and not more", !talk_can_have(&postgresql, 94));
	CHECK("the FIN alone", talk_can_have(&silent, 1));
	CHECK("and not more than that", !talk_can_have(&silent, 2));
	CHECK_EQ("no piece ends where the shorter answer's FIN does", talk_never(&http, 0), 61);
	CHECK_EQ("the last rule bars nothing", talk_never(&http, 1), 0);
	CHECK_EQ("nor do rules that go on", talk_never(&postgresql, 0), 0);
}

CHECK_SUITE(talk, { "what a segment gets", test_step }, { "how much a client has", test_bounds });
