/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Busy answers to datagrams, byte for byte. What is wanted is written down from each language's own
 * document, and its frame is built by tests/pkt.c, checksums included.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define MESSAGE_MAX 1500

struct message {
	const char *bytes;
	size_t size;
};
#define MESSAGE(text)                                                                              \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

/* One client's datagram is let in, and in ten seconds another one is. */
#define LIMITER                                                                                    \
	"rate_limiters: {a: {algorithm: token_bucket, limit: 6, window: 1m, burst: 1, "            \
	"unit: datagrams}}\n"
#define LISTENER(keys)                                                                             \
	"listeners: {u: {protocol: udp, ports: [53], rate_limiter_name: a, " keys "}}\n"

struct row {
	const char *what;
	struct message request, answer; /* answer.bytes NULL: none */
};

static void check_answer(struct prog *prog, const struct row *row, const struct pkt_spec *place)
{
	struct pkt_spec spec = *place, answer;
	struct pkt_frame want;
	char what[160];

	snprintf(what, sizeof(what), "%s (IPv%d, %d tags)", row->what, place->ipv6 ? 6 : 4,
		 place->vlans);
	spec.protocol = IPPROTO_UDP;
	spec.dport = 53;
	spec.body = row->request.bytes;
	spec.body_size = row->request.size;
	if (!row->answer.bytes) {
		CHECK_STR_EQ(what, prog_send(prog, &spec), "drop limited u/a=limited failed");
		return;
	}
	answer = (struct pkt_spec){
		.from = place->ipv6 ? SERVER_ONE_V6 : SERVER_ONE,
		.to = place->ipv6 ? CLIENT_ONE_V6 : CLIENT_ONE,
		.protocol = IPPROTO_UDP,
		.sport = 53,
		.dport = CLIENT_PORT,
		.vlans = place->vlans,
		.answer = true,
		.body = row->answer.bytes,
		.body_size = row->answer.size,
	};
	pkt_build(&answer, &want);
	CHECK_STR_EQ(what, prog_send(prog, &spec), "reply limited u/a=limited busy");
	if (CHECK_EQ(what, prog->back.size, want.size))
		CHECK_MEM_EQ(what, prog->back.bytes, want.bytes, want.size);
}

static void check_rows(const char *config, const struct row *rows, size_t n)
{
	static const struct pkt_spec places[] = {
		{ .vlans = 0 },	     { .ipv6 = true },
		{ .vlans = 2 },	     { .ipv6 = true, .vlans = 1 },
		{ .ip_options = 8 }, { .ipv6 = true, .extensions = { PKT_DESTINATION } },
	};
	autoprog struct prog prog = {};

	if (!prog_load(&prog, config, PROG_NOW))
		return;
	for (int ipv6 = 0; ipv6 < 2; ipv6++)
		CHECK_EQ("the limit is used up",
			 prog_passing(&prog,
				      &(struct pkt_spec){
					      .protocol = IPPROTO_UDP, .dport = 53, .ipv6 = ipv6 },
				      1),
			 1);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(places); j++)
			check_answer(&prog, &rows[i], &places[j]);
}

#define DNS_QUESTION "\7example\3org\0\0\1\0\1"	 /* RFC 1035, 4.1.2: A, IN */
#define DNS_OPT "\0\0\x29\x04\xd0\0\0\x80\0\0\0" /* RFC 6891, 6.1.2: 1232 bytes, DO */

/* RFC 1035, 4.1.1: ID, flags, and four counts. */
static void test_dns_truncated(void)
{
	static const struct row rows[] = {
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

	check_rows(LIMITER LISTENER("app_protocol: dns"), rows, ARRAY_SIZE(rows));
	check_rows(LIMITER LISTENER("app_protocol: dns, dns_answer: truncated"), rows, 1);
}

/* RCODE 5. */
static void test_dns_refused(void)
{
	static const struct row rows[] = {
		{ "a question comes back with QR and REFUSED",
		  MESSAGE("\xab\xcd\1\0\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  MESSAGE("\xab\xcd\x81\5\0\1\0\0\0\0\0\0" DNS_QUESTION) },
	};

	check_rows(LIMITER LISTENER("app_protocol: dns, dns_answer: refused"), rows,
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
	static const struct row rows[] = {
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

	check_rows(LIMITER LISTENER("app_protocol: ntp"), rows, ARRAY_SIZE(rows));
}

/* RFC 7252, 3: the header; 3.1: options; 12.1.2: codes. Ten seconds in Max-Age, option 14. */
static void test_coap(void)
{
	static const struct row rows[] = {
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

	check_rows(LIMITER LISTENER("app_protocol: coap"), rows, ARRAY_SIZE(rows));
}

#define SIP_VIA "Via: SIP/2.0/UDP pc33.atlanta.com;branch=z9hG4bKnashds8\r\n"
#define SIP_VIA_TWO "Via: SIP/2.0/UDP bigbox3.site3.atlanta.com;branch=z9hG4bK77ef4c2312983.1\r\n"
#define SIP_FROM "From: Alice <sip:alice@atlanta.com>;tag=1928301774\r\n"
#define SIP_TO "To: Bob <sip:bob@biloxi.com>"
#define SIP_CALL "Call-ID: a84b4c76e66710\r\nCSeq: 314159 INVITE\r\n"
#define SIP_OTHERS                                                                                 \
	"Max-Forwards: 70\r\nContact: <sip:alice@pc33.atlanta.com>\r\n"                            \
	"Content-Type: application/sdp\r\nContent-Length: 4\r\n\r\nv=0\n"
#define SIP_BUSY "SIP/2.0 503 Service Unavailable\r\n"
#define SIP_END "Retry-After: 10\r\nContent-Length: 0\r\n\r\n"
#define SIP_LONG                                                                                   \
	"Subject: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n"

/*
 * RFC 3261, 24.2: Alice calls Bob; 8.2.6.2: what a response takes from its request; 21.5.4: 503.
 * Whoever is called has a tag already here, but for test_sip_tag().
 */
static void test_sip(void)
{
	static const struct row rows[] = {
		{ "an INVITE, within a dialog",
		  MESSAGE("INVITE sip:bob@biloxi.com SIP/2.0\r\n" SIP_VIA_TWO SIP_VIA SIP_TO
			  ";tag=a6c85cf\r\n" SIP_FROM SIP_CALL SIP_OTHERS),
		  MESSAGE(SIP_BUSY SIP_VIA_TWO SIP_VIA SIP_TO
			  ";tag=a6c85cf\r\n" SIP_FROM SIP_CALL SIP_END) },
		{ "short names, other cases, and a header that goes on (7.3.1, 7.3.3)",
		  MESSAGE("OPTIONS sip:bob@biloxi.com SIP/2.0\r\n"
			  "v: SIP/2.0/UDP pc33\r\n ;branch=z9hG4bKnashds8\r\n"
			  "Subject: a\r\n b\r\n"
			  "t: <sip:bob@biloxi.com>;TAG=1\r\nf: <sip:a@b>;tag=2\r\n"
			  "I: a84b4c76e66710\r\nCSEQ: 1 OPTIONS\r\n" SIP_OTHERS),
		  MESSAGE(SIP_BUSY "v: SIP/2.0/UDP pc33\r\n ;branch=z9hG4bKnashds8\r\n"
				   "t: <sip:bob@biloxi.com>;TAG=1\r\nf: <sip:a@b>;tag=2\r\n"
				   "I: a84b4c76e66710\r\nCSEQ: 1 OPTIONS\r\n" SIP_END) },
		{ "where there is no room for the wait, it is left out",
		  MESSAGE("OPTIONS sip:bob@biloxi.com SIP/2.0\r\nVia: a\r\nTo: b;tag=1\r\n"
			  "From: c\r\nCall-ID: d\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\n\r\n"),
		  MESSAGE(SIP_BUSY "Via: a\r\nTo: b;tag=1\r\nFrom: c\r\n"
				   "Call-ID: d\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n") },
		{ "and where there is none for the rest, there is no answer",
		  MESSAGE("A b SIP/2.0\r\nVia: a\r\nTo: b;tag=1\r\nFrom: c\r\n"
			  "Call-ID: d\r\nCSeq: 1 A\r\n\r\n"),
		  { 0 } },
		{ "an ACK is never answered (17.1.1.3)",
		  MESSAGE("ACK sip:bob@biloxi.com SIP/2.0\r\n" SIP_VIA SIP_TO
			  ";tag=1\r\n" SIP_FROM SIP_CALL SIP_OTHERS),
		  { 0 } },
		{ "nor a response",
		  MESSAGE("SIP/2.0 200 OK\r\n" SIP_VIA SIP_TO
			  ";tag=1\r\n" SIP_FROM SIP_CALL SIP_OTHERS),
		  { 0 } },
		{ "nor a request without a Call-ID",
		  MESSAGE("INVITE sip:bob@biloxi.com SIP/2.0\r\n" SIP_VIA SIP_TO
			  ";tag=1\r\n" SIP_FROM "CSeq: 1 INVITE\r\n" SIP_OTHERS),
		  { 0 } },
		{ "nor one whose headers do not end",
		  MESSAGE("INVITE sip:bob@biloxi.com SIP/2.0\r\n" SIP_VIA SIP_TO
			  ";tag=1\r\n" SIP_FROM SIP_CALL "Subject: what"),
		  { 0 } },
		{ "nor a double line feed that keeps a way open (RFC 5626, 3.5.1)",
		  MESSAGE("\r\n\r\n"),
		  { 0 } },
	};

	check_rows(LIMITER LISTENER("app_protocol: sip"), rows, ARRAY_SIZE(rows));
}

static const char *sip_answer(struct prog *prog, const struct pkt_spec *spec)
{
	static char text[MESSAGE_MAX];
	size_t headers;

	if (strcmp(prog_send(prog, spec), "reply limited u/a=limited busy") != 0)
		return prog->text;
	headers = prog->sent.l4 + 8;
	snprintf(text, sizeof(text), "%.*s", (int)(prog->back.size - headers),
		 (const char *)prog->back.bytes + headers);
	return text;
}

/* RFC 3261, 8.2.6.2: whoever answers adds a tag; 8.2.7: to a request sent again, the same. */
static void test_sip_tag(void)
{
	static const char request[] = "INVITE sip:bob@biloxi.com SIP/2.0\r\n" SIP_VIA SIP_TO
				      "\r\n" SIP_FROM SIP_CALL SIP_OTHERS;
	static const char begin[] = SIP_BUSY SIP_VIA SIP_TO ";tag=";
	static const char end[] = "\r\n" SIP_FROM SIP_CALL SIP_END;
	struct pkt_spec spec = { .protocol = IPPROTO_UDP,
				 .dport = 53,
				 .body = request,
				 .body_size = sizeof(request) - 1 };
	char first[MESSAGE_MAX], *tag;
	autoprog struct prog prog = {};

	if (!prog_load(&prog, LIMITER LISTENER("app_protocol: sip"), PROG_NOW))
		return;
	CHECK_EQ("the limit is used up", prog_passing(&prog, &spec, 1), 1);
	snprintf(first, sizeof(first), "%s", sip_answer(&prog, &spec));
	if (!CHECK_EQ("it begins with the tag", strncmp(first, begin, strlen(begin)) != 0, false))
		return;
	tag = first + strlen(begin);
	CHECK_EQ("which has eight hexadecimal digits", strspn(tag, "0123456789abcdef"), 8);
	CHECK_STR_EQ("and the rest follows", tag + 8, end);
	CHECK_STR_EQ("the same request gets the same", sip_answer(&prog, &spec), first);
	spec.from = CLIENT_TWO;
	CHECK_EQ("another's limit is used up", prog_passing(&prog, &spec, 1), 1);
	CHECK_EQ("another client gets another tag",
		 strncmp(sip_answer(&prog, &spec) + strlen(begin), tag, 8) != 0, 1);
}

/* The operator's own. */
static void test_raw(void)
{
	static const struct row rows[] = {
		{ "bytes, waits, and what was asked",
		  MESSAGE("0123456789 and more than the answer has, so that there is room"),
		  MESSAGE("\xff\0BUSY 10 s, 10000 ms {456}\r\n") },
		{ "no request that is as long as the answer",
		  MESSAGE("01234567890123456789012345678"),
		  { 0 } },
	};

	check_rows(LIMITER LISTENER("app_protocol: raw, raw: {bytes: '\\xff\\0BUSY {wait_s} s, "
				    "{wait_ms} ms {{request:4:3}}\\r\\n'}"),
		   rows, ARRAY_SIZE(rows));
}

CHECK_SUITE(datagrams, { "dns, truncated", test_dns_truncated },
	    { "dns, refused", test_dns_refused }, { "ntp", test_ntp }, { "coap", test_coap },
	    { "sip", test_sip }, { "sip, a tag", test_sip_tag }, { "raw", test_raw });
