/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the counter of SYN cookies says of handshakes, and how it is read. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "syncookies.h"
#include "util.h"

static void test_note(void)
{
	static const struct {
		const char *what;
		int64_t sent; /* -1: it cannot be read */
		uint64_t now, last;
	} rows[] = {
		{ "the first look knows nothing of what was before", 7, 10, 10 },
		{ "it stands still: none was sent since", 7, 11, 10 },
		{ "it has moved", 8, 12, 12 },
		{ "and stands still again", 8, 13, 12 },
		{ "it cannot be read: one may have been", -1, 14, 14 },
		{ "nor is it known what it was before", 8, 15, 15 },
		{ "it stands still at last", 8, 16, 15 },
	};
	struct syncookies cookies = {};
	uint64_t none = 0;

	syncookies_note(&cookies, &none, 9);
	CHECK_EQ("none was ever sent", cookies.last, 0);
	cookies.known = false;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t sent = (uint64_t)rows[i].sent;

		syncookies_note(&cookies, rows[i].sent < 0 ? NULL : &sent, rows[i].now);
		CHECK_EQ(rows[i].what, cookies.last, rows[i].last);
	}
}

static void test_parse(void)
{
	static const struct {
		const char *text;
		bool found;
		uint64_t sent;
	} rows[] = {
		{ "TcpExt: SyncookiesSent SyncookiesRecv\nTcpExt: 41 3\n", true, 41 },
		{ "IpExt: A B\nIpExt: 1 2\nTcpExt: A SyncookiesSent\nTcpExt: 1 2\n", true, 2 },
		{ "TcpExt: SyncookiesRecv\nTcpExt: 41\n", false, 0 },
		{ "TcpExt: A SyncookiesSent\nTcpExt: 41\n", false, 0 },
		{ "TcpExt: SyncookiesSent\n", false, 0 },
		{ "\n", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		FILE *file = fmemopen((void *)rows[i].text, strlen(rows[i].text), "r");
		uint64_t sent = 0;

		CHECK("there is a file", file != NULL);
		if (!file)
			return;
		CHECK_EQ(rows[i].text, syncookies_parse(file, &sent), rows[i].found);
		CHECK_EQ(rows[i].text, sent, rows[i].sent);
		(void)fclose(file); /* it was only read */
	}
}

CHECK_SUITE(syncookies, { "what is known of a handshake", test_note },
	    { "the kernel's file", test_parse });
