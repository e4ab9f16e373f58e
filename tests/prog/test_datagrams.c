/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Busy answers to datagrams, byte for byte. What is wanted is written down from each language's own
 * document. SIP's are in test_sip.c.
 */
#include "check.h"
#include "datagram_rows.h"
#include "util.h"

#define DNS_QUESTION "\7example\3org\0\0\1\0\1"	 /* RFC 1035, 4.1.2: A, IN */
#define DNS_OPT "\0\0\x29\x04\xd0\0\0\x80\0\0\0" /* RFC 6891, 6.1.2: 1232 bytes, DO */

/* RFC 1035, 4.1.1: ID, flags, and four counts. */
static void test_dns_truncated(void)
{
	static const struct datagram_row rows[] = {
		{ "a question comes back with QR and TC",
		  MESSAGE("\xab\xcd\1\0\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  MESSAGE("\xab\xcd\x83\0\0\1\0\0\0\0\0\0" DNS_QUESTION) },
		{ "with EDNS, and AD and CD set: CD stays (RFC 4035, 3.2.2)",
		  MESSAGE("\xab\xcd\1\x30\0\1\0\0\0\0\0\1" DNS_QUESTION DNS_OPT),
		  MESSAGE("\xab\xcd\x83\x10\0\1\0\0\0\0\0\1" DNS_QUESTION DNS_OPT) },
		{ "the root, without recursion",
		  MESSAGE("\0\1\0\0\0\1\0\0\0\0\0\0"
			  "\0\0\6\0\1"),
		  MESSAGE("\0\1\x82\0\0\1\0\0\0\0\0\0"
			  "\0\0\6\0\1") },
		{ "a response is never answered",
		  MESSAGE("\xab\xcd\x81\x80\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  { 0 } },
		{ "an update is not (RFC 2136)",
		  MESSAGE("\xab\xcd\x28\0\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  { 0 } },
		{ "two questions are not",
		  MESSAGE("\xab\xcd\1\0\0\2\0\0\0\0\0\0" DNS_QUESTION),
		  { 0 } },
		{ "answers in a query are not",
		  MESSAGE("\xab\xcd\1\0\0\1\0\1\0\0\0\0" DNS_QUESTION),
		  { 0 } },
		{ "a header alone is not", MESSAGE("\xab\xcd\1\0\0\1\0\0\0\0\0\0"), { 0 } },
		{ "what is no DNS is not", MESSAGE("x"), { 0 } },
	};

	datagram_check_rows(LIMITER LISTENER("app_protocol: dns"), rows, ARRAY_SIZE(rows));
	datagram_check_rows(LIMITER LISTENER("app_protocol: dns, dns_answer: truncated"), rows, 1);
}

/* RCODE 5. */
static void test_dns_refused(void)
{
	static const struct datagram_row rows[] = {
		{ "a question comes back with QR and REFUSED",
		  MESSAGE("\xab\xcd\1\0\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  MESSAGE("\xab\xcd\x81\5\0\1\0\0\0\0\0\0" DNS_QUESTION) },
	};

	datagram_check_rows(LIMITER LISTENER("app_protocol: dns, dns_answer: refused"), rows,
			    ARRAY_SIZE(rows));
}

#define NTP_REST                                                                                   \
	"\0\0\0\0\0\0\0\0"                                                                         \
	"\0\0\0\0"                                                                                 \
	"\0\0\0\0\0\0\0\0"                                                                         \
	"\0\0\0\0\0\0\0\0"                                                                         \
	"\0\0\0\0\0\0\0\0"
#define NTP_TIME "\xed\xcb\xa9\x87\x65\x43\x21\x10"
#define NTP_KISS                                                                                   \
	"\0\0\0\0\0\0\0\0"                                                                         \
	"RATE"                                                                                     \
	"\0\0\0\0\0\0\0\0" NTP_TIME NTP_TIME NTP_TIME

/* RFC 5905, figure 8: the request; and 7.4: what comes back. */
static void test_ntp(void)
{
	static const struct datagram_row rows[] = {
		{ "a client of version 4", MESSAGE("\x23\0\6\x20" NTP_REST NTP_TIME),
		  MESSAGE("\xe4\0\6\0" NTP_KISS) },
		{ "of version 3, that would poll every two seconds: ten are 2^4",
		  MESSAGE("\x1b\0\1\xfa" NTP_REST NTP_TIME), MESSAGE("\xdc\0\4\0" NTP_KISS) },
		{ "of version 1 (RFC 1769), and with a poll that is not one",
		  MESSAGE("\x0b\0\x7f\0" NTP_REST NTP_TIME), MESSAGE("\xcc\0\4\0" NTP_KISS) },
		{ "an authenticator is left out",
		  MESSAGE("\x23\0\6\x20" NTP_REST NTP_TIME "\0\0\0\1"
			  "0123456789abcdef"),
		  MESSAGE("\xe4\0\6\0" NTP_KISS) },
		{ "a server's packet is never answered",
		  MESSAGE("\x24\1\6\x20" NTP_REST NTP_TIME),
		  { 0 } },
		{ "nor a peer's", MESSAGE("\x21\1\6\x20" NTP_REST NTP_TIME), { 0 } },
		{ "nor a monitor's (mode 6)", MESSAGE("\x16\2\0\1" NTP_REST NTP_TIME), { 0 } },
		{ "nor one that is too short", MESSAGE("\x23\0\6\x20" NTP_REST), { 0 } },
	};

	datagram_check_rows(LIMITER LISTENER("app_protocol: ntp"), rows, ARRAY_SIZE(rows));
}

/* RFC 7252, 3: the header; 3.1: options; 12.1.2: codes. Ten seconds in Max-Age, option 14. */
static void test_coap(void)
{
	static const struct datagram_row rows[] = {
		{ "a confirmable GET /time with a token: its acknowledgment",
		  MESSAGE("\x44\1\x12\x34"
			  "tokn"
			  "\xb4time"),
		  MESSAGE("\x64\xa3\x12\x34"
			  "tokn"
			  "\xd2\1\0\x0a") },
		{ "a PUT that is not confirmable: another like it",
		  MESSAGE("\x51\3\0\7"
			  "t"
			  "\xb4time"
			  "\xff"
			  "1"),
		  MESSAGE("\x51\xa3\0\7"
			  "t"
			  "\xd2\1\0\x0a") },
		{ "no token",
		  MESSAGE("\x40\1\0\1"
			  "\xbb.well-known\4core"),
		  MESSAGE("\x60\xa3\0\1"
			  "\xd2\1\0\x0a") },
		{ "the longest token",
		  MESSAGE("\x48\1\0\1"
			  "12345678"
			  "\xb4time"),
		  MESSAGE("\x68\xa3\0\1"
			  "12345678"
			  "\xd2\1\0\x0a") },
		{ "a longer one is reserved",
		  MESSAGE("\x49\1\0\1"
			  "123456789"
			  "\xb4time"),
		  { 0 } },
		{ "a token that is not all there",
		  MESSAGE("\x48\1\0\1"
			  "1234"),
		  { 0 } },
		{ "a request that is shorter than its answer",
		  MESSAGE("\x41\1\0\1"
			  "t"
			  "\xb1"
			  "a"),
		  { 0 } },
		{ "a ping is never answered", MESSAGE("\x40\0\0\1"), { 0 } },
		{ "nor an acknowledgment",
		  MESSAGE("\x60\x45\0\1"
			  "\xff"
			  "abcdefgh"),
		  { 0 } },
		{ "nor a reset", MESSAGE("\x70\0\0\1"), { 0 } },
		{ "nor a response",
		  MESSAGE("\x50\x45\0\1"
			  "\xff"
			  "abcdefgh"),
		  { 0 } },
		{ "nor another version",
		  MESSAGE("\x84\1\x12\x34"
			  "tokn"
			  "\xb4time"),
		  { 0 } },
	};

	datagram_check_rows(LIMITER LISTENER("app_protocol: coap"), rows, ARRAY_SIZE(rows));
}

/* The operator's own. */
static void test_raw(void)
{
	static const struct datagram_row rows[] = {
		{ "bytes, waits, and what was asked",
		  MESSAGE("0123456789 and more than the answer has, so that there is room"),
		  MESSAGE("\xff\0BUSY 10 s, 10000 ms {456}\r\n") },
		{ "no request that is as long as the answer",
		  MESSAGE("01234567890123456789012345678"),
		  { 0 } },
	};

	datagram_check_rows(
		LIMITER LISTENER("app_protocol: raw, raw: {bytes: '\\xff\\0BUSY {wait_s} s, "
				 "{wait_ms} ms {{request:4:3}}\\r\\n'}"),
		rows, ARRAY_SIZE(rows));
}

CHECK_SUITE(datagrams, { "dns, truncated", test_dns_truncated },
	    { "dns, refused", test_dns_refused }, { "ntp", test_ntp }, { "coap", test_coap },
	    { "raw", test_raw });
