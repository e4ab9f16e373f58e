/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In whose words a refused client is told, and when nobody tells it anything. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "talk.h"
#include "util.h"

#define GET "GET / HTTP/1.1\r\n\r\n"
#define ACK_PSH (PKT_ACK | PKT_PSH)
#define BUSY "reply busy busy"
#define PORT 8081

/* The conversation of a SYN that is refused as @cookie says: it is told @words. */
static void check_words(struct prog *prog, const struct pkt_spec *spec, const char *cookie,
			const char *words)
{
	const uint8_t *data;
	struct talk talk;
	char text[1024];
	size_t size;
	bool fin;

	if (!talk_begin(&talk, prog, spec, cookie))
		return;
	talk_turn(&talk, "a request",
		  &(struct talk_turn){ .flags = ACK_PSH,
				       .data = GET,
				       .want = strncmp(cookie, "lo: ", 4) ? BUSY : "lo: " BUSY });
	data = talk_data(&talk, &size, &fin);
	snprintf(text, sizeof(text), "%.*s", (int)size, (const char *)data);
	if (!CHECK("its words", strstr(text, words)))
		CHECK_STR_EQ("all of them", text, words);
}

/* The interface's limiter is asked first, then the source's, which stands for the listener's. */
static void test_words(void)
{
	static const struct pkt_spec one = { .from = CLIENT_ONE }, far = { .from = CLIENT_FAR },
				     two = { .from = CLIENT_TWO }, third = { .from = "192.0.2.77" };
	autoprog struct prog prog = {};

	if (!prog_load(&prog,
		       "interfaces: {lo: {rate_limiter_name: edge}}\n"
		       "rate_limiters:\n"
		       "  edge: {keys: [], limit: 3, window: 1h, response: {body: the edge}}\n"
		       "  own: {limit: 1, window: 1h, response: {body: the listener}}\n"
		       "  of-source: {limit: 1, window: 1h, response: {body: the source}}\n"
		       "listeners:\n"
		       "  web:\n"
		       "    app_protocol: http\n"
		       "    rate_limiter_name: own\n"
		       "    sources: {198.51.100.0/24: of-source}\n",
		       PROG_NOW))
		return;
	CHECK_STR_EQ("one of one", prog_send(&prog, &one),
		     "lo: pass allowed web/edge=allowed web/own=allowed");
	check_words(&prog, &one, "lo: reply limited web/own=limited cookie", "the listener");
	CHECK_STR_EQ("one of another", prog_send(&prog, &far),
		     "lo: pass allowed web/edge=allowed web/of-source=allowed");
	check_words(&prog, &far, "lo: reply limited web/of-source=limited cookie", "the source");
	CHECK_STR_EQ("and a third", prog_send(&prog, &two),
		     "lo: pass allowed web/edge=allowed web/own=allowed");
	check_words(&prog, &third, "lo: reply limited web/edge=limited cookie", "the edge");
}

/* One that waits to be accepted, where there is one place. */
static bool fill(int *ret_listener, int *ret_client)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(PORT),
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	const int on = 1;

	*ret_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	*ret_client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!CHECK("a service listens",
		   setsockopt(*ret_listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
			   bind(*ret_listener,
				(const struct sockaddr *)&(struct sockaddr_in){
					.sin_family = AF_INET,
					.sin_port = htons(PORT),
				},
				sizeof(address)) == 0 &&
			   listen(*ret_listener, 0) == 0))
		return false;
	return CHECK("one waits",
		     connect(*ret_client, (const struct sockaddr *)&address, sizeof(address)) == 0);
}

static void test_queue(void)
{
	const struct pkt_spec spec = { .dport = PORT };
	autofd int listener = -1, client = -1;
	autoprog struct prog prog = {};

	if (!fill(&listener, &client) ||
	    !prog_load(&prog,
		       "listeners: {web: {ports: [8081], app_protocol: http, "
		       "accept_queue_limit: 1}}\n",
		       PROG_NOW))
		return;
	check_words(&prog, &spec, "reply accept_queue cookie",
		    "HTTP/1.1 429 Too Many Requests\r\n");
	check_words(&prog, &spec, "reply accept_queue cookie", "Retry-After:    1\r\n");
}

/* While the watchdog lets all pass, conversations are the host's own business. */
static void test_watchdog(void)
{
	autoprog struct prog prog = {};
	struct talk talk;

	if (!prog_load(&prog,
		       "watchdog: {after: 10s, then: pass}\n"
		       "rate_limiters: {l: {keys: [], limit: 1, window: 1h}}\n"
		       "listeners: {web: {app_protocol: http, rate_limiter_name: l}}\n",
		       PROG_NOW))
		return;
	prog_heartbeat(&prog, PROG_NOW);
	CHECK_EQ("the first is let in", prog_passing(&prog, &(struct pkt_spec){}, 1), 1);
	if (!talk_begin(&talk, &prog, &(struct pkt_spec){}, "reply limited web/l=limited cookie"))
		return;
	prog_heartbeat(&prog, PROG_NOW - 11 * NSEC_PER_SEC);
	talk_turn(&talk, "a request passes",
		  &(struct talk_turn){ .flags = ACK_PSH, .data = GET, .want = "pass unattended" });
	prog_heartbeat(&prog, PROG_NOW);
	talk_turn(&talk, "and is answered once the daemon is back",
		  &(struct talk_turn){ .flags = ACK_PSH, .data = GET, .want = BUSY });
}

CHECK_SUITE(busy_choice, { "in whose words", test_words }, { "a full accept queue", test_queue },
	    { "watchdog", test_watchdog });
