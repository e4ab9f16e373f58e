/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers of many pieces, which arrive whole: behind requests of any size, from clients that go on
 * sending, and where packets get lost.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "process.h"
#include "util.h"

#define HEADER_SIZE 600
#define BODY_SIZE 3000

#define CONFIG                                                                                     \
	"interfaces: {%s: {mode: %s}}\n"                                                           \
	"rate_limiters:\n"                                                                         \
	"  one:\n"                                                                                 \
	"    {keys: [], algorithm: token_bucket, limit: 1, window: 1h,\n"                          \
	"     response: {headers: {X: '%s'}, body: '%s'}}\n"                                       \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], app_protocol: http, rate_limiter_name: one}\n"

/* Whose one request is spent; the file "answer" has what the others get. */
static bool begin(struct live *live, const char *interface, const char *mode)
{
	char header[HEADER_SIZE + 1] = "", body[BODY_SIZE + 1] = "";
	char config[sizeof(CONFIG) + HEADER_SIZE + BODY_SIZE + 64];

	memset(header, 'X', HEADER_SIZE);
	for (int i = 0; i < BODY_SIZE; i++)
		body[i] = (char)('a' + i % 23);
	snprintf(config, sizeof(config), CONFIG, interface, mode, header, body);
	if (!live_start_web(live) || !live_write(live, "answer", body) || !live_start(live, config))
		return false;
	if (strcmp(interface, "lo") == 0)
		live_shell(live, LIVE_SERVER, "curl -sf -m 5 http://127.0.0.1/");
	else
		live_shell(live, LIVE_CLIENT, "curl -sf -m 5 http://" SERVER_IPV4 "/");
	return true;
}

static void check_whole(const struct live *live, enum live_side side, const char *what,
			const char *line)
{
	autooutput struct output output =
		process_shell(live->netns[side], "cd %s && %s", live->directory, line);

	CHECK_STR_EQ(what, output.text, "");
	CHECK_EQ(what, output.code, 0);
}

static void check_sizes(const struct live *live, enum live_side side, const char *host)
{
	static const unsigned int paddings[] = { 1, 210, 610, 1010 }; /* some 90 bytes besides */
	char what[128], line[256];

	for (size_t i = 0; i < ARRAY_SIZE(paddings); i++) {
		snprintf(what, sizeof(what), "%u bytes to %s", 90 + paddings[i], host);
		snprintf(
			line, sizeof(line),
			"curl -sSgm 9 -H X-Pad:$(printf %%0%ud 0) 'http://%s/' 2>&1 | cmp - answer",
			paddings[i], host);
		check_whole(live, side, what, line);
	}
}

/* All that comes is the head, although that needs several pieces, too. */
static void check_head(const struct live *live, const char *address)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "timeout 9 bash -c 'exec 3<>/dev/tcp/%s/80; "
		 "printf \"HEAD / HTTP/1.0\\r\\n\\r\\n\" >&3; cat <&3' >head && "
		 "grep -qx \"X: X\\{%d\\}.\" head && tail -c 21 head >end && "
		 "printf 'Connection: close\\r\\n\\r\\n' | tail -c 21 | cmp - end",
		 address, HEADER_SIZE);
	check_whole(live, LIVE_CLIENT, address, line);
}

static void check_from_client(const struct live *live)
{
	check_head(live, SERVER_IPV4);
	check_head(live, SERVER_IPV6);
	check_sizes(live, LIVE_CLIENT, SERVER_IPV4);
	check_sizes(live, LIVE_CLIENT, "[" SERVER_IPV6 "]");
}

static void test_generic(void)
{
	autolive struct live live;

	if (live_begin(&live, "pieces-generic") && begin(&live, "srv0", "generic"))
		check_from_client(&live);
}

static void test_native(void)
{
	autolive struct live live;

	if (live_begin(&live, "pieces-native") && live_peer_native(&live) &&
	    begin(&live, "srv0", "native"))
		check_from_client(&live);
}

static void test_loopback(void)
{
	autolive struct live live;

	if (!live_begin(&live, "pieces-lo") || !begin(&live, "lo", "generic"))
		return;
	check_sizes(&live, LIVE_SERVER, "127.0.0.1");
	check_sizes(&live, LIVE_SERVER, "[::1]");
}

/* It sends all of it before it reads: what arrives behind our end may not break the connection. */
static const char upload[] =
	"import sys, urllib.error, urllib.request\n"
	"try:\n"
	"    urllib.request.urlopen(sys.argv[1], data=b'x' * 1000000, timeout=9)\n"
	"except urllib.error.HTTPError as error:\n"
	"    print(error.code, int(error.headers['Retry-After']) > 0,\n"
	"          error.read() == open('answer', 'rb').read())\n";

static void check_upload(const struct live *live, const char *host)
{
	autooutput struct output output = process_shell(
		live->netns[LIVE_CLIENT], "cd %s && python3 upload.py 'http://%s/' 2>&1",
		live->directory, host);

	CHECK_STR_EQ(host, output.text, "429 True True\n");
}

static void test_upload(void)
{
	autolive struct live live;

	if (!live_begin(&live, "pieces-upload") || !begin(&live, "srv0", "generic") ||
	    !live_write(&live, "upload.py", upload))
		return;
	check_upload(&live, SERVER_IPV4);
	check_upload(&live, "[" SERVER_IPV6 "]");
}

/* One packet of nine is lost, each way, at other places each time; only the client repeats. */
static void test_lossy(void)
{
	autolive struct live live;

	if (!live_begin(&live, "pieces-lossy") || !begin(&live, "srv0", "generic"))
		return;
	live_shell(&live, LIVE_CLIENT,
		   "nft 'add table inet lossy; "
		   "add chain inet lossy in { type filter hook input priority 0; }; "
		   "add chain inet lossy out { type filter hook output priority 0; }; "
		   "add rule inet lossy in tcp sport 80 numgen inc mod 9 == 4 counter drop; "
		   "add rule inet lossy out tcp dport 80 numgen inc mod 9 == 8 counter drop'");
	for (int i = 0; i < 5; i++)
		check_whole(&live, LIVE_CLIENT, "it arrives in the end",
			    "curl -sSm 30 http://" SERVER_IPV4 "/ 2>&1 | cmp - answer");
	live_shell(&live, LIVE_CLIENT,
		   "test $(nft list table inet lossy | grep -c 'packets [1-9].* drop') = 2");
}

CHECK_SUITE(busy_pieces, { "generic", test_generic }, { "native", test_native },
	    { "loopback", test_loopback }, { "urllib's POST of a megabyte", test_upload },
	    { "lost packets", test_lossy });
