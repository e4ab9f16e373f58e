/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What Stile says to clients that it refused, byte for byte. What is wanted is written down here
 * from RFC 9110 (HTTP) and RFC 5321 (SMTP), and built by tests/pkt.c, which shares nothing with
 * bpf/.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "talk.h"
#include "util.h"

#define ACK_PSH (PKT_ACK | PKT_PSH)
#define ACK_FIN (PKT_ACK | PKT_FIN)
#define ALL (PKT_ACK | PKT_PSH | PKT_FIN)

#define PORT_WEB 80
#define PORT_MAIL 25
#define PORT_CLOSE 22

/* One event in ten seconds, so that who is refused at once has just ten to wait. */
static const char config[] =
	"rate_limiters:\n"
	"  web: {keys: [], algorithm: token_bucket, limit: 6, window: 1m, burst: 1}\n"
	"  mail: {keys: [], algorithm: token_bucket, limit: 6, window: 1m, burst: 1}\n"
	"  close: {keys: [], limit: 1, action: close}\n"
	"listeners:\n"
	"  web: {ports: [80], app_protocol: http, rate_limiter_name: web}\n"
	"  mail: {ports: [25], app_protocol: smtp, rate_limiter_name: mail}\n"
	"  close: {ports: [22], rate_limiter_name: close}\n";

#define HEAD                                                                                       \
	"HTTP/1.1 429 Too Many Requests\r\n"                                                       \
	"Retry-After:   10\r\n"                                                                    \
	"Cache-Control: no-store\r\n"                                                              \
	"Content-Type: text/plain; charset=utf-8\r\n"                                              \
	"Content-Length: 18\r\n"                                                                   \
	"Connection: close\r\n"                                                                    \
	"\r\n"
#define WHOLE HEAD "Too Many Requests\n"
#define HEAD_SIZE (sizeof(HEAD) - 1)
#define WHOLE_SIZE (sizeof(WHOLE) - 1)
#define MAIL "421 Service busy, try again in   10 seconds\r\n"
#define MAIL_SIZE (sizeof(MAIL) - 1)

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_SIZE (sizeof(GET) - 1)
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define GET_LONG                                                                                   \
	"GET / HTTP/1.1\r\nX: " HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED    \
		HUNDRED HUNDRED HUNDRED "\r\n\r\n"

#define COOKIE(name) "reply limited " name "/" name "=limited cookie"
#define BUSY "reply busy busy"
#define SILENT "drop busy"
#define FOREIGN "pass established"

static bool load(struct prog *prog)
{
	static const uint16_t ports[] = { PORT_WEB, PORT_MAIL, PORT_CLOSE };

	if (!prog_load(prog, config, PROG_NOW))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {

		CHECK_EQ("the first is let in",
			 prog_passing(prog, &(struct pkt_spec){ .dport = ports[i] }, 1), 1);
	}
	return true;
}

/* Every way in which the SYN and what follows it can be wrapped. */
static const struct pkt_spec wraps[] = {
	{ .sport = 1 },
	{ .ipv6 = true },
	{ .ipv6 = true, .mss = 1440 },
	{ .mss = 1460 },
	{ .vlans = 1 },
	{ .vlans = 2, .ipv6 = true },
	{ .tcp_options = 40, .ip_options = 12 },
	{ .tcp_options = 20, .payload = 100 },
	{ .ipv6 = true, .extensions = { PKT_HOP_BY_HOP, PKT_DESTINATION } },
	{ .ipv6 = true, .extensions = { PKT_DESTINATION_LONG } },
	{ .from = CLIENT_FAR, .to = SERVER_TWO, .sport = 65535 },
};

struct row {
	const char *what;
	struct talk_turn turn;
};

static void check_rows(struct prog *prog, uint16_t port, const char *cookie, const struct row *rows,
		       size_t n_rows)
{
	struct talk talk;
	char what[160];

	for (size_t i = 0; i < ARRAY_SIZE(wraps); i++) {
		struct pkt_spec spec = wraps[i];

		spec.dport = port;
		if (!talk_begin(&talk, prog, &spec, cookie))
			return;
		for (size_t j = 0; j < n_rows; j++) {
			snprintf(what, sizeof(what), "%s (wrap %zu)", rows[j].what, i);
			talk_turn(&talk, what, &rows[j].turn);
		}
	}
}

static const struct row http_rows[] = {
	{ "the end of the handshake", { .flags = PKT_ACK, .want = SILENT } },
	{ "a request",
	  { .flags = ACK_PSH,
	    .data = GET,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "a request that is sent again",
	  { .flags = ACK_PSH,
	    .data = GET,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "its second segment",
	  { .flags = ACK_PSH,
	    .data = "X: y\r\n",
	    .sent = 1000,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "a request that is longer than the answer",
	  { .flags = ACK_PSH,
	    .data = GET_LONG,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "HEAD",
	  { .flags = ACK_PSH,
	    .data = "HEAD / HTTP/1.0\r\n\r\n",
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = HEAD,
	    .back_size = HEAD_SIZE } },
	{ "no HEAD",
	  { .flags = ACK_PSH,
	    .data = "HEADER",
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "a single byte",
	  { .flags = ACK_PSH,
	    .data = "G",
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "a request and the client's end",
	  { .flags = ALL,
	    .data = GET,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "its end without a request",
	  { .flags = ACK_FIN,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE,
	    .back_size = WHOLE_SIZE } },
	{ "who has room for ten bytes gets ten",
	  { .flags = ACK_PSH,
	    .data = GET,
	    .window = 10,
	    .want = BUSY,
	    .back_flags = ACK_PSH,
	    .back = WHOLE,
	    .back_size = 10,
	    .unacknowledged = GET_SIZE } },
	{ "who has no room is told that it has to wait",
	  {
		  .flags = ACK_PSH,
		  .data = GET,
		  .no_window = true,
		  .want = BUSY,
		  .back_flags = ACK_PSH,
		  .unacknowledged = GET_SIZE,
	  } },
	{ "the answer acknowledged, but for its FIN",
	  { .flags = PKT_ACK, .has = WHOLE_SIZE, .want = BUSY, .back_flags = ACK_FIN } },
	{ "a part of it acknowledged",
	  { .flags = PKT_ACK,
	    .has = 10,
	    .want = BUSY,
	    .back_flags = ALL,
	    .back = WHOLE + 10,
	    .back_size = WHOLE_SIZE - 10 } },
	{ "the same without room",
	  { .flags = PKT_ACK, .has = 10, .no_window = true, .want = SILENT } },
	{ "all of it acknowledged", { .flags = PKT_ACK, .has = WHOLE_SIZE + 1, .want = SILENT } },
	{ "all of what HEAD gets", { .flags = PKT_ACK, .has = HEAD_SIZE + 1, .want = SILENT } },
	{ "the client's end",
	  { .flags = ACK_FIN,
	    .has = WHOLE_SIZE + 1,
	    .want = "reply busy ack",
	    .back_flags = PKT_ACK } },
	{ "the client's end, after HEAD",
	  { .flags = ACK_FIN,
	    .has = HEAD_SIZE + 1,
	    .want = "reply busy ack",
	    .back_flags = PKT_ACK } },
	{ "data behind our end",
	  { .flags = ACK_PSH,
	    .has = WHOLE_SIZE + 1,
	    .data = "more",
	    .want = "reply busy ack",
	    .back_flags = PKT_ACK } },
	{ "data and an end behind our end",
	  { .flags = ALL,
	    .has = WHOLE_SIZE + 1,
	    .data = "more",
	    .want = "reply busy ack",
	    .back_flags = PKT_ACK } },
	{ "a reset", { .flags = PKT_RST | PKT_ACK, .want = SILENT } },
	{ "a reset in the middle", { .flags = PKT_RST | PKT_ACK, .has = 10, .want = SILENT } },
	{ "more than there is acknowledged",
	  { .flags = PKT_ACK, .has = WHOLE_SIZE + 2, .want = FOREIGN } },
	{ "nothing of ours acknowledged",
	  { .flags = PKT_ACK, .has = (uint32_t)-1, .want = FOREIGN } },
	{ "a segment with options: we offered none",
	  { .flags = ACK_PSH, .data = GET, .tcp_options = 12, .want = FOREIGN } },
	{ "a reset that acknowledges nothing", { .flags = PKT_RST, .want = FOREIGN } },
	{ "a request to many", { .flags = ACK_PSH, .data = GET, .group = true, .want = FOREIGN } },
	{ "an end to many",
	  { .flags = ACK_FIN, .has = WHOLE_SIZE + 1, .group = true, .want = FOREIGN } },
};

static void test_http(void)
{
	autoprog struct prog prog = {};

	if (load(&prog))
		check_rows(&prog, PORT_WEB, COOKIE("web"), http_rows, ARRAY_SIZE(http_rows));
}

static void test_smtp(void)
{
	static const struct row rows[] = {
		{ "the end of the handshake",
		  { .flags = PKT_ACK,
		    .want = BUSY,
		    .back_flags = ALL,
		    .back = MAIL,
		    .back_size = MAIL_SIZE } },
		{ "a client that speaks first",
		  { .flags = ACK_PSH,
		    .data = "EHLO a\r\n",
		    .want = BUSY,
		    .back_flags = ALL,
		    .back = MAIL,
		    .back_size = MAIL_SIZE } },
		{ "all of it acknowledged",
		  { .flags = PKT_ACK, .has = MAIL_SIZE + 1, .want = SILENT } },
		{ "the client's end",
		  { .flags = ACK_FIN,
		    .has = MAIL_SIZE + 1,
		    .want = "reply busy ack",
		    .back_flags = PKT_ACK } },
		{ "QUIT",
		  { .flags = ACK_PSH,
		    .has = MAIL_SIZE + 1,
		    .data = "QUIT\r\n",
		    .want = "reply busy ack",
		    .back_flags = PKT_ACK } },
	};
	autoprog struct prog prog = {};

	if (load(&prog))
		check_rows(&prog, PORT_MAIL, COOKIE("mail"), rows, ARRAY_SIZE(rows));
}

static void test_close(void)
{
	static const struct row rows[] = {
		{ "the end of the handshake",
		  { .flags = PKT_ACK, .want = "reply busy close", .back_flags = ACK_FIN } },
		{ "data",
		  { .flags = ACK_PSH,
		    .data = "SSH-2.0-a\r\n",
		    .want = "reply busy close",
		    .back_flags = ACK_FIN } },
		{ "our end acknowledged", { .flags = PKT_ACK, .has = 1, .want = SILENT } },
		{ "the client's end",
		  { .flags = ACK_FIN, .has = 1, .want = "reply busy ack", .back_flags = PKT_ACK } },
		{ "data behind our end",
		  { .flags = ACK_PSH,
		    .has = 1,
		    .data = "SSH-2.0-a\r\n",
		    .want = "reply busy ack",
		    .back_flags = PKT_ACK } },
		{ "more than there is", { .flags = PKT_ACK, .has = 2, .want = FOREIGN } },
	};
	autoprog struct prog prog = {};

	if (load(&prog))
		check_rows(&prog, PORT_CLOSE, COOKIE("close"), rows, ARRAY_SIZE(rows));
}

CHECK_SUITE(busy, { "HTTP", test_http }, { "SMTP", test_smtp }, { "action close", test_close });
