/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans and limiters in words. */
#include "check.h"
#include "phrase.h"
#include "util.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define MINUTE (60 * S)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static void test_duration(void)
{
	static const struct {
		const char *what;
		uint64_t ns;
		const char *want;
	} rows[] = {
		{ "no time", 0, "0.0 s" },
		{ "the shortest wait is not none", 1, "0.1 s" },
		{ "tenths", 7300 * MS, "7.3 s" },
		{ "tenths are rounded up", 7300 * MS + 1, "7.4 s" },
		{ "the last in seconds", 59900 * MS, "59.9 s" },
		{ "rounded up to a minute", 59900 * MS + 1, "1 min 0 s" },
		{ "minutes and seconds", 125 * S, "2 min 5 s" },
		{ "rounded up to an hour", HOUR - 1, "1 h 0 min" },
		{ "hours and minutes", 3 * HOUR + 12 * MINUTE, "3 h 12 min" },
		{ "rounded up to a day", DAY - 1, "1 d 0 h" },
		{ "days and hours", 4 * DAY + HOUR, "4 d 1 h" },
		{ "as long as there is", UINT64_MAX, "213504 d 0 h" },
	};
	char text[PHRASE_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what, phrase_duration(rows[i].ns, text), rows[i].want);
}

static void test_window(void)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} rows[] = {
		{ S, "1s" },	{ 10 * S, "10s" },	{ 90 * S, "90s" },	 { MINUTE, "1m" },
		{ HOUR, "1h" }, { 90 * MINUTE, "90m" }, { 1500 * MS, "1500ms" },
	};
	char text[PHRASE_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].want, phrase_window(rows[i].ns, text), rows[i].want);
}

static void test_limiter(void)
{
	struct stile_limiter limiter = {
		.limit = 600,
		.window = MINUTE,
		.unit = STILE_UNIT_CONNECTIONS,
		.keyed = 1,
		.ipv4_prefix = 32,
		.ipv6_prefix = 64,
	};
	char text[PHRASE_SIZE];

	CHECK_STR_EQ("a window", phrase_limit(&limiter, text), "600 connections per 1m");
	CHECK_STR_EQ("clients", phrase_keys(&limiter, text), "client_ip, IPv4 /32, IPv6 /64");
	limiter.algorithm = STILE_ALGORITHM_TOKEN_BUCKET;
	limiter.unit = STILE_UNIT_DATAGRAMS;
	limiter.burst = 20;
	limiter.keyed = 0;
	CHECK_STR_EQ("a bucket", phrase_limit(&limiter, text), "600 datagrams per 1m, burst 20");
	limiter.limit = 1;
	CHECK_STR_EQ("one", phrase_limit(&limiter, text), "1 datagram per 1m, burst 20");
	limiter.unit = STILE_UNIT_UNSET;
	CHECK_STR_EQ("one of two kinds", phrase_limit(&limiter, text),
		     "1 connection or session per 1m, burst 20");
	CHECK_STR_EQ("one bucket for all", phrase_keys(&limiter, text), "all together");
}

CHECK_SUITE(phrase, { "duration", test_duration }, { "window", test_window },
	    { "limiter", test_limiter });
