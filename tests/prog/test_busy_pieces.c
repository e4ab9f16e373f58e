/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers that need several segments: each piece comes on the acknowledgment of the one before, or
 * again on what the client sends again because it was not acknowledged.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "talk.h"
#include "util.h"

#define ACK_PSH (PKT_ACK | PKT_PSH)
#define ALL (PKT_ACK | PKT_PSH | PKT_FIN)

#define COOKIE(name) "reply limited " name "/" name "=limited cookie"

#define PORT_LONG 81
#define PORT_HEADERS 82
#define PORT_SERVER 25

#define BODY_SIZE 3600
#define GREETING_SIZE 800
#define REQUEST_SIZE 1100 /* the longest one, and no more than the MSS */
#define MOST_IPV4 536	  /* RFC 9293, 3.7.1 */
#define MOST_IPV6 1220
#define PIECES_MAX 30

/* One event in ten seconds, so that who is refused at once has just ten to wait. */
static const char config[] =
	"rate_limiters:\n"
	"  long:\n"
	"    {keys: [], algorithm: token_bucket, limit: 6, window: 1m, burst: 1,\n"
	"     response: {body: '%s'}}\n"
	"  server: {keys: [], algorithm: token_bucket, limit: 6, window: 1m, burst: 1}\n"
	"  headers:\n"
	"    {keys: [], algorithm: token_bucket, limit: 6, window: 1m, burst: 1,\n"
	"     response: {headers: {X: '%s'}, body: '%s'}}\n"
	"listeners:\n"
	"  headers: {ports: [82], app_protocol: http, rate_limiter_name: headers}\n"
	"  long: {ports: [81], app_protocol: http, rate_limiter_name: long}\n"
	"  server:\n"
	"    {ports: [25], app_protocol: raw, rate_limiter_name: server,\n"
	"     raw: {first: server, bytes: '%s'}}\n";

/* RFC 9110; @headers as the configuration has them. */
#define HEAD(headers, length)                                                                      \
	"HTTP/1.1 429 Too Many Requests\r\n"                                                       \
	"Retry-After:   10\r\n"                                                                    \
	"Cache-Control: no-store\r\n"                                                              \
	"Content-Type: text/plain; charset=utf-8\r\n" headers "Content-Length: " length "\r\n"     \
	"Connection: close\r\n"                                                                    \
	"\r\n"

static char body[BODY_SIZE + 1], greeting[GREETING_SIZE + 1];
static char get[REQUEST_SIZE + 1], head[REQUEST_SIZE + 1] = "HEAD ";
static char whole[512 + BODY_SIZE], long_head[512 + GREETING_SIZE];
static char long_both[512 + 2 * GREETING_SIZE];

struct question {
	const char *what, *cookie;
	uint16_t port;
	bool ipv6;
	const char *request; /* NULL: the service speaks first */
	uint32_t size;	     /* bytes of it */
	const char *want;    /* all that comes */
};

static void fill(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i % 23);
}

static bool load(struct prog *prog)
{
	static const uint16_t ports[] = { PORT_LONG, PORT_HEADERS, PORT_SERVER };
	char text[PROG_CONFIG_SIZE];

	fill(body, BODY_SIZE);
	fill(greeting, GREETING_SIZE);
	fill(get, REQUEST_SIZE);
	fill(head + 5, REQUEST_SIZE - 5);
	snprintf(whole, sizeof(whole), HEAD("", "3600") "%s", body);
	snprintf(long_head, sizeof(long_head), HEAD("X: %s\r\n", "800"), greeting);
	snprintf(long_both, sizeof(long_both), "%s%s", long_head, greeting);
	snprintf(text, sizeof(text), config, body, greeting, greeting, greeting);
	if (!prog_load(prog, text, PROG_NOW))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		CHECK_EQ("the first is let in",
			 prog_passing(prog, &(struct pkt_spec){ .dport = ports[i] }, 1), 1);
	return true;
}

/* The request; then, in turns, an acknowledgment and the request's last byte once more. */
static struct talk_turn turn_of(const struct question *question, uint32_t has, unsigned int i)
{
	uint32_t size = i % 2 || !question->request ? 0 : 1;

	if (i == 0)
		size = question->size;
	return (struct talk_turn){
		.flags = size ? ACK_PSH : PKT_ACK,
		.has = has,
		.sent = question->size - size,
		.data = size ? question->request + question->size - size : NULL,
		.data_size = size,
		.want = "reply busy busy",
	};
}

/* Bytes that a piece does not acknowledge: what the segment brought, or the last one before it. */
static uint32_t unacknowledged(const struct question *question, const struct talk_turn *turn)
{
	if (turn->data_size)
		return (uint32_t)turn->data_size;
	return question->request ? 1 : 0;
}

static void ask(struct prog *prog, const struct question *question)
{
	const struct pkt_spec spec = { .dport = question->port, .ipv6 = question->ipv6 };
	char got[sizeof(whole) + MOST_IPV6] = "";
	size_t size = 1, n = 0;
	struct talk talk;
	bool fin = false;

	if (!talk_begin(&talk, prog, &spec, question->cookie))
		return;
	for (unsigned int i = 0; i < PIECES_MAX && !fin && size > 0 && n < sizeof(whole); i++) {
		struct talk_turn turn = turn_of(question, (uint32_t)n, i);
		const uint8_t *data;

		talk_turn(&talk, question->what, &turn);
		data = talk_data(&talk, &size, &fin);
		CHECK("it fits any path", size <= (spec.ipv6 ? MOST_IPV6 : MOST_IPV4));
		memcpy(got + n, data, size);
		turn.back_flags = fin ? ALL : ACK_PSH;
		turn.back = got + n;
		turn.back_size = size;
		turn.unacknowledged = fin ? 0 : unacknowledged(question, &turn);
		talk_turn(&talk, "the same again, all of it as it should be", &turn);
		n += size;
	}
	CHECK("it took more than one", n > size);
	CHECK_STR_EQ(question->what, got, question->want);
}

static void test_pieces(void)
{
	static const struct question questions[] = {
		{ "a short request over IPv4", COOKIE("long"), PORT_LONG, false, get, 20, whole },
		{ "300 bytes over IPv4", COOKIE("long"), PORT_LONG, false, get, 300, whole },
		{ "700 bytes over IPv4", COOKIE("long"), PORT_LONG, false, get, 700, whole },
		{ "1100 bytes over IPv4", COOKIE("long"), PORT_LONG, false, get, 1100, whole },
		{ "GET of a long head over IPv4", COOKIE("headers"), PORT_HEADERS, false, get, 20,
		  long_both },
		{ "HEAD of a long head over IPv4", COOKIE("headers"), PORT_HEADERS, false, head, 20,
		  long_head },
		{ "HEAD of 700 bytes over IPv4", COOKIE("headers"), PORT_HEADERS, false, head, 700,
		  long_head },
		{ "a greeting over IPv4", COOKIE("server"), PORT_SERVER, false, NULL, 0, greeting },
		{ "a short request over IPv6", COOKIE("long"), PORT_LONG, true, get, 20, whole },
		{ "300 bytes over IPv6", COOKIE("long"), PORT_LONG, true, get, 300, whole },
		{ "700 bytes over IPv6", COOKIE("long"), PORT_LONG, true, get, 700, whole },
		{ "1100 bytes over IPv6", COOKIE("long"), PORT_LONG, true, get, 1100, whole },
		{ "GET of a long head over IPv6", COOKIE("headers"), PORT_HEADERS, true, get, 20,
		  long_both },
		{ "HEAD of a long head over IPv6", COOKIE("headers"), PORT_HEADERS, true, head, 20,
		  long_head },
		{ "HEAD of 700 bytes over IPv6", COOKIE("headers"), PORT_HEADERS, true, head, 700,
		  long_head },
		{ "a greeting over IPv6", COOKIE("server"), PORT_SERVER, true, NULL, 0, greeting },
	};
	autoprog struct prog prog = {};

	if (!load(&prog))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask(&prog, &questions[i]);
}

CHECK_SUITE(busy_pieces, { "answers in pieces", test_pieces });
