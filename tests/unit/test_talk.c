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
	.other = 1,
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
}

/* Where parts are cut, and whose part goes on there. */
static void test_cut(void)
{
	static const struct {
		const char *what;
		enum talk_side side;
		__u32 from, length, never, want;
	} rows[] = {
		{ "one rule: anywhere", TALK_ALONE, 0, 47, 0, 47 },
		{ "the last rule's: anywhere,", TALK_LAST, 0, 46, 61, 46 },
		{ "and from anywhere,", TALK_LAST, 2, 46, 61, 46 },
		{ "but at 47", TALK_LAST, 0, 47, 61, 46 },
		{ "nor at 47 from 2 on", TALK_LAST, 2, 45, 61, 44 },
		{ "nor where the other's FIN ends", TALK_LAST, 0, 61, 61, 60 },
		{ "nor there from 10 on", TALK_LAST, 10, 51, 61, 50 },
		{ "where that is 64: nor at 63", TALK_LAST, 0, 64, 64, 62 },
		{ "where that is 63", TALK_LAST, 0, 63, 63, 62 },
		{ "nothing is nothing", TALK_LAST, 15, 0, 61, 0 },
		{ "the other's: at 47", TALK_OTHER, 0, 47, 61, 47 },
		{ "not at 48", TALK_OTHER, 0, 48, 61, 47 },
		{ "not at 62", TALK_OTHER, 0, 62, 61, 47 },
		{ "from there on to 63", TALK_OTHER, 47, 16, 61, 16 },
		{ "not a byte more", TALK_OTHER, 47, 31, 61, 16 },
		{ "fifteen bytes", TALK_OTHER, 0, 15, 61, 15 },
		{ "fewer do not reach", TALK_OTHER, 0, 14, 61, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what,
			 talk_cut(rows[i].side, rows[i].from, rows[i].length, rows[i].never),
			 rows[i].want);
	CHECK_EQ("the other's FIN ends", talk_other_end(&http), 61);
	CHECK_EQ("of one rule", talk_other_end(&smtp), 0);
	CHECK("at 47 the other's goes on", talk_continued(&http, 47) == &http.rules[0]);
	CHECK("at 46 the last's", talk_continued(&http, 46) == &http.rules[1]);
	CHECK("and at 48", talk_continued(&http, 48) == &http.rules[1]);
	CHECK("of one rule always", talk_continued(&smtp, 15) == &smtp.rules[0]);
	CHECK_EQ("the other's side", talk_side(&http, &http.rules[0]), TALK_OTHER);
	CHECK_EQ("the last's", talk_side(&http, &http.rules[1]), TALK_LAST);
	CHECK_EQ("one rule has none", talk_side(&smtp, &smtp.rules[0]), TALK_ALONE);
	CHECK_EQ("nor have those that go on", talk_side(&postgresql, &postgresql.rules[2]),
		 TALK_ALONE);
}

CHECK_SUITE(talk, { "what a segment gets", test_step }, { "how much a client has", test_bounds },
	    { "where it is cut", test_cut });
