/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places of a limiter of concurrency: many connections at once, and what gives a place back. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"
#include "live.h"
#include "sockets.h"
#include "util.h"

#define WEB_IPV4 SERVER_IPV4 ":80"
#define WEB_IPV6 "[" SERVER_IPV6 "]:80"
#define QUIET_MS 300
#define SHORT_BACKLOG 10
#define RELOADS 8
#define AGAIN_MS 4000 /* a SYN is sent again after one second, and after three */

#define CONFIG(limiters, names)                                                                    \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {" limiters "}\n"                                                          \
	"listeners: {web: {ports: [80], rate_limiter_name: " names "}}\n"                          \
	"metrics: {listen: none}\n"

static const char per_client[] = CONFIG("a: {algorithm: concurrency, limit: 20}", "a");

static const struct service web = { "web", PORT_WEB };

static unsigned int burst(const struct live *live, struct sockets *sockets, const char *from,
			  unsigned int n)
{
	const struct burst all = { .from = from,
				   .to = strchr(from, ':') ? WEB_IPV6 : WEB_IPV4,
				   .n = n,
				   .quiet_ms = QUIET_MS };

	return sockets_burst(live, sockets, &all);
}

static bool begin(struct live *live, const char *config)
{
	return live_begin(live, "places") && live_start_web(live) && live_start(live, config);
}

static void reload(const struct live *live, const char *config)
{
	autooutput struct output output = {};

	if (!live_write(live, "stile.yaml", config))
		return;
	output = live_stile(live, "reload");
	CHECK_EQ("it is reloaded", output.code, 0);
}

static void test_burst(void)
{
	autosockets struct sockets sockets = {}, others = {};
	autolive struct live live;

	if (!begin(&live, per_client))
		return;
	CHECK_EQ("of 500 at once, 20", burst(&live, &sockets, CLIENT_ONE, 500), 20);
	live_check_open(&live, &web, "they are open", 20);
	CHECK_EQ("and no more", burst(&live, &sockets, CLIENT_ONE, 50), 0);
	CHECK_EQ("another client has its own", burst(&live, &others, CLIENT_TWO, 50), 20);
	sockets_close(&sockets, 7);
	live_check_open(&live, &web, "some are closed", 33);
	CHECK_EQ("as many may come", burst(&live, &sockets, CLIENT_ONE, 50), 7);
	sockets_reset(&sockets, 20);
	live_check_open(&live, &web, "all are reset", 20);
	CHECK_EQ("20 more", burst(&live, &sockets, CLIENT_ONE, 500), 20);
}

static void test_burst_ipv6(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live, CONFIG("a: {keys: [], algorithm: concurrency, limit: 20}", "a")))
		return;
	CHECK_EQ("of 500 at once, 20", burst(&live, &sockets, CLIENT_SIX_ONE, 500), 20);
	CHECK_EQ("for all together", burst(&live, &sockets, CLIENT_ONE, 50), 0);
	sockets_close(&sockets, 20);
	live_check_open(&live, &web, "all are closed", 0);
	CHECK_EQ("of 500 at once, 20 over IPv4", burst(&live, &sockets, CLIENT_ONE, 500), 20);
}

/* Those that were open before Stile started are counted; so are those past its interfaces. */
static void test_older(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!live_begin(&live, "places") || !live_start_web(&live))
		return;
	sockets_open(&live, &sockets, CLIENT_ONE, WEB_IPV4, 15);
	if (!live_start(&live, per_client))
		return;
	live_check_open(&live, &web, "they are found", 15);
	CHECK_EQ("there is room for five", burst(&live, &sockets, CLIENT_ONE, 100), 5);
	sockets_close(&sockets, 15);
	live_check_open(&live, &web, "the old ones are closed", 5);
	CHECK_EQ("15 more", burst(&live, &sockets, CLIENT_ONE, 100), 15);
}

static void test_daemon(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live, per_client))
		return;
	CHECK_EQ("of 100 at once, 20", burst(&live, &sockets, CLIENT_ONE, 100), 20);
	live_stop(&live, SIGKILL);
	CHECK_EQ("the daemon is dead: no more", burst(&live, &sockets, CLIENT_ONE, 100), 0);
	sockets_close(&sockets, 12);
	live_check_open(&live, &web, "some are closed meanwhile", 8);
	CHECK_EQ("as many may come", burst(&live, &sockets, CLIENT_ONE, 100), 12);
	sockets_close(&sockets, 5);
	if (!live_start_again(&live))
		return;
	live_check_open(&live, &web, "it is there again", 15);
	CHECK_EQ("there is room for five", burst(&live, &sockets, CLIENT_ONE, 100), 5);
	CHECK_EQ("and no more", burst(&live, &sockets, CLIENT_ONE, 100), 0);
}

/* Connections end and nobody tells: the places that they held are free all the same. */
static void test_unseen(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live, per_client))
		return;
	CHECK_EQ("of 100 at once, 20", burst(&live, &sockets, CLIENT_ONE, 100), 20);
	(void)live_stop(&live, SIGKILL);
	live_shell(&live, LIVE_SERVER, "bpftool link detach pinned /sys/fs/bpf/stile/%s/cgroup",
		   live.instance);
	sockets_close(&sockets, 15);
	if (!live_start_again(&live))
		return;
	live_check_open(&live, &web, "five are left", 5);
	CHECK_EQ("15 may come", burst(&live, &sockets, CLIENT_ONE, 100), 15);
	CHECK_EQ("and no more", burst(&live, &sockets, CLIENT_ONE, 100), 0);
}

static void test_reload(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live, per_client))
		return;
	CHECK_EQ("20 are let in", burst(&live, &sockets, CLIENT_ONE, 100), 20);
	reload(&live, CONFIG("a: {algorithm: concurrency, limit: 25}", "a"));
	CHECK_EQ("a higher limit", burst(&live, &sockets, CLIENT_ONE, 100), 5);
	reload(&live, CONFIG("a: {algorithm: concurrency, limit: 10}", "a"));
	sockets_close(&sockets, 10);
	live_check_open(&live, &web, "fifteen are left", 15);
	CHECK_EQ("a lower one", burst(&live, &sockets, CLIENT_ONE, 100), 0);
	reload(&live, CONFIG("b: {keys: [], algorithm: concurrency, limit: 18}", "b"));
	CHECK_EQ("a new limiter knows who is there", burst(&live, &sockets, CLIENT_ONE, 100), 3);
	reload(&live, CONFIG("c: {limit: 1000}", "c"));
	CHECK_EQ("none counts places", burst(&live, &sockets, CLIENT_ONE, 7), 7);
	reload(&live, CONFIG("a: {algorithm: concurrency, limit: 30, max_keys: 50}", "a"));
	CHECK_EQ("one does again", burst(&live, &sockets, CLIENT_ONE, 100), 5);
	reload(&live, CONFIG("a: {algorithm: concurrency, limit: 30, max_keys: 5000}", "a"));
	CHECK_EQ("its table is another", burst(&live, &sockets, CLIENT_ONE, 100), 0);
	sockets_close(&sockets, 30);
	live_check_open(&live, &web, "all are closed", 0);
	CHECK_EQ("30 may come", burst(&live, &sockets, CLIENT_ONE, 100), 30);
}

struct retry {
	const struct live *live;
	struct sockets *sockets;
};

/* They do not all die in the same second. */
static bool are_let_in(void *context)
{
	const struct retry *retry = context;

	(void)burst(retry->live, retry->sockets, CLIENT_THREE, 20);
	return retry->sockets->n >= 20;
}

/* SYN-ACKs to CLIENT_THREE are lost; the kernel gives up soon, and Stile thinks it takes longer. */
static void test_lost(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;
	struct retry retry = { &live, &sockets };

	if (!begin(&live, per_client))
		return;
	live_shell(&live, LIVE_SERVER, "sysctl -qw net.ipv4.tcp_synack_retries=1");
	live_shell(&live, LIVE_SERVER,
		   "ip neigh replace " CLIENT_THREE
		   " lladdr 02:00:00:00:00:99 nud permanent dev " SERVER_LINK);
	CHECK_EQ("no handshake succeeds", burst(&live, &sockets, CLIENT_THREE, 30), 0);
	live_shell(&live, LIVE_SERVER, "ip neigh del " CLIENT_THREE " dev " SERVER_LINK);
	CHECK_EQ("they hold their places", burst(&live, &sockets, CLIENT_THREE, 30), 0);
	(void)live_wait(are_let_in, &retry);
	CHECK_EQ("and give them back when they are dead, all 20", sockets.n, 20);
}

/* Connects again and again, and keeps what it gets. */
static bool start_storm(struct live *live)
{
	char *argv[] = { "python3", "-c",
			 "import socket\n"
			 "held = []\n"
			 "while True:\n"
			 "  held.append(socket.socket())\n"
			 "  try: held[-1].connect(('" SERVER_IPV4 "', 80))\n"
			 "  except OSError: held.pop()\n",
			 NULL };
	const struct process process = { live->netns[LIVE_CLIENT], "/dev/null", NULL, argv };
	pid_t pid = process_start(&process);

	if (pid > 0)
		live->others[live->n_others++] = pid;
	return CHECK("the storm begins", pid > 0);
}

/* Each reload brings a limiter that has never heard of anybody. */
static void test_new_limiter(void)
{
	autosockets struct sockets sockets = {};
	autolive struct live live;
	char text[512];

	if (!begin(&live, CONFIG("l: {keys: [], algorithm: concurrency, limit: 15}", "l")))
		return;
	sockets_open(&live, &sockets, CLIENT_TWO, WEB_IPV4, 15);
	live_check_open(&live, &web, "there is no room", 15);
	if (!start_storm(&live) || !start_storm(&live))
		return;
	for (int name = 'a'; name < 'a' + RELOADS; name++) {
		CHECK("the storm is refused", live_wait_refused(&live, 100));
		snprintf(text, sizeof(text),
			 CONFIG("%c: {keys: [], algorithm: concurrency, limit: 20}", "%c"), name,
			 name);
		reload(&live, text);
		live_check_open(&live, &web, "never more than 20", 20);
	}
	CHECK("the storm is refused to the end", live_wait_refused(&live, 100));
	live_check_open(&live, &web, "and there are 20", 20);
}

/* A service at PORT_WEB that accepts when it is told to. */
static int listen_short(const struct live *live)
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT_WEB) };
	int fd;

	live_enter(live, LIVE_SERVER);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(live);
	CHECK("the service listens",
	      bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
		      listen(fd, SHORT_BACKLOG) == 0);
	return fd;
}

/* Each says something, again and again until it is heard, and whoever is there is accepted. */
static void accept_all(int listener, const struct sockets *clients, struct sockets *accepted)
{
	struct pollfd waiting = { .fd = listener, .events = POLLIN };

	for (unsigned int i = 0; i < clients->n; i++)
		CHECK_EQ("it says something", send(clients->fds[i], "x", 1, 0), 1);
	while (accepted->n < clients->n && poll(&waiting, 1, LIVE_BOUND_MS) > 0)
		accepted->fds[accepted->n++] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

/* ACKs are lost on the server's side, so that handshakes overflow the listener's queue. */
static void check_syncookies(const char *when)
{
	const struct burst all = { CLIENT_ONE, WEB_IPV4, 500, AGAIN_MS, 0, 0 };
	autosockets struct sockets sockets = {}, accepted = {};
	autolive struct live live;
	autofd int listener = -1;

	if (!live_begin(&live, "places"))
		return;
	listener = listen_short(&live);
	if (!live_start(&live, CONFIG("a: {algorithm: concurrency, limit: 20, queue: 480}", "a")))
		return;
	live_shell(&live, LIVE_SERVER,
		   "sysctl -qw net.ipv4.tcp_syncookies=%s; nft 'add table ip held; "
		   "add chain ip held in {type filter hook input priority 0;}; "
		   "add rule ip held in tcp dport 80 tcp flags & (syn|ack) == ack drop'",
		   when);
	CHECK_EQ("of 500, 20, however often the others ask", sockets_burst(&live, &sockets, &all),
		 20);
	CHECK("some of them by a cookie",
	      live_counter(&live, LIVE_SERVER, "TcpExtSyncookiesSent") > 0);
	live_shell(&live, LIVE_SERVER, "nft delete table ip held");
	accept_all(listener, &sockets, &accepted);
	live_check_open(&live, &web, "all of them are open", 20);
	CHECK_EQ("and they hold their places", burst(&live, &sockets, CLIENT_ONE, 30), 0);
	sockets_close(&sockets, 20);
	sockets_close(&accepted, 20);
	live_check_open(&live, &web, "all are closed", 0);
}

/* No socket is left of a handshake, and it goes on as soon as its client is heard. */
static void test_syncookies(void)
{
	check_syncookies("1");
	check_syncookies("2");
}

static void test_queue(void)
{
	const struct burst some = { CLIENT_ONE, WEB_IPV4, 30, QUIET_MS, 3, AGAIN_MS };
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live, CONFIG("a: {algorithm: concurrency, limit: 10, queue: 5}", "a")))
		return;
	CHECK_EQ("ten, and three of those who wait, in place of three",
		 sockets_burst(&live, &sockets, &some), 13);
	live_check_open(&live, &web, "there are never more than ten", 10);
	live_check_explained(&live, CLIENT_ONE, "waiting");
	live_check_explained(&live, CLIENT_TWO, "allowed");
}

static void test_establishments(void)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: web\r\n\r\n";
	autosockets struct sockets sockets = {};
	autolive struct live live;

	if (!begin(&live,
		   CONFIG("a: {algorithm: concurrency, limit: 5, unit: establishments}", "a")))
		return;
	CHECK_EQ("five that have no answer yet", burst(&live, &sockets, CLIENT_ONE, 50), 5);
	for (unsigned int i = 0; i < 3; i++) {
		struct pollfd answer = { .fd = sockets.fds[i], .events = POLLIN };

		CHECK_EQ("it asks", send(sockets.fds[i], request, strlen(request), 0),
			 (ssize_t)strlen(request));
		CHECK_EQ("and has an answer", poll(&answer, 1, LIVE_BOUND_MS), 1);
	}
	CHECK_EQ("three more", burst(&live, &sockets, CLIENT_ONE, 50), 3);
	live_check_open(&live, &web, "eight are open", 8);
	sockets_close(&sockets, 8);
	live_check_open(&live, &web, "all are closed", 0);
	CHECK_EQ("five again", burst(&live, &sockets, CLIENT_ONE, 50), 5);
}

CHECK_SUITE(places, { "many at once", test_burst },
	    { "many at once over IPv6, for all together", test_burst_ipv6 },
	    { "connections older than Stile", test_older },
	    { "without a daemon, and with another one", test_daemon },
	    { "connections that end unseen", test_unseen },
	    { "reloads while connections are open", test_reload },
	    { "new limiters in a storm", test_new_limiter }, { "handshakes that die", test_lost },
	    { "SYN cookies", test_syncookies }, { "who waits", test_queue },
	    { "connections without an answer yet", test_establishments });
