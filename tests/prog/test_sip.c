/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Busy answers in SIP, byte for byte: RFC 3261, 7.3 (headers), 8.2.6.2 (what a response takes from
 * its request), 8.2.7 (whoever keeps no state), 21.5.4 (503) and 25.1 (the grammar).
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "datagram_rows.h"
#include "prog.h"
#include "util.h"

#define MESSAGE_MAX 1500
#define INVITE "INVITE sip:bob@biloxi.com SIP/2.0\r\n"
#define VIA "Via: SIP/2.0/UDP pc33.atlanta.com;branch=z9hG4bKnashds8\r\n"
#define VIA_TWO "Via: SIP/2.0/UDP bigbox3.site3.atlanta.com;branch=z9hG4bK77ef4c2312983.1\r\n"
#define FROM "From: Alice <sip:alice@atlanta.com>;tag=1928301774\r\n"
#define TO "To: Bob <sip:bob@biloxi.com>"
#define TO_TAGGED TO ";tag=a6c85cf\r\n"
#define CALL "Call-ID: a84b4c76e66710\r\nCSeq: 314159 INVITE\r\n"
#define OTHERS                                                                                     \
	"Max-Forwards: 70\r\nContact: <sip:alice@pc33.atlanta.com>\r\n"                            \
	"Content-Type: application/sdp\r\nContent-Length: 4\r\n\r\nv=0\n"
#define BUSY "SIP/2.0 503 Service Unavailable\r\n"
#define END "Retry-After: 10\r\nContent-Length: 0\r\n\r\n"
#define TEN_LINES "a:1\r\na:2\r\na:3\r\na:4\r\na:5\r\na:6\r\na:7\r\na:8\r\na:9\r\na:0\r\n"
#define HUNDRED_LINES                                                                              \
	TEN_LINES TEN_LINES TEN_LINES TEN_LINES TEN_LINES TEN_LINES TEN_LINES TEN_LINES TEN_LINES  \
		TEN_LINES
#define HUNDRED                                                                                    \
	"0123456789012345678901234567890123456789012345678901234567890123456789"                   \
	"012345678901234567890123456789"
#define IDENTITY "Identity: " HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED "\r\n"
#define SPACES "                                                                                "
#define BUSY_LISTENER LIMITER LISTENER("app_protocol: sip")

static void test_copied(void)
{
	static const struct datagram_row rows[] = {
		{ "an INVITE, within a dialog",
		  MESSAGE(INVITE VIA_TWO VIA TO_TAGGED FROM CALL OTHERS),
		  MESSAGE(BUSY VIA_TWO VIA TO_TAGGED FROM CALL END) },
		{ "short names, other cases, and a header that goes on (7.3.1, 7.3.3)",
		  MESSAGE("OPTIONS sip:bob@biloxi.com SIP/2.0\r\n"
			  "v: SIP/2.0/UDP pc33\r\n ;branch=z9hG4bKnashds8\r\n"
			  "Subject: a\r\n b\r\n"
			  "t: <sip:bob@biloxi.com>;TAG=1\r\nf: <sip:a@b>;tag=2\r\n"
			  "I: a84b4c76e66710\r\nCSEQ: 1 OPTIONS\r\n" OTHERS),
		  MESSAGE(BUSY "v: SIP/2.0/UDP pc33\r\n ;branch=z9hG4bKnashds8\r\n"
			       "t: <sip:bob@biloxi.com>;TAG=1\r\nf: <sip:a@b>;tag=2\r\n"
			       "I: a84b4c76e66710\r\nCSEQ: 1 OPTIONS\r\n" END) },
		{ "white space before colons (25.1, HCOLON)",
		  MESSAGE(INVITE "Via : a\r\nv\t:b\r\nTo \t :<sip:b>;tag=1\r\nFrom" SPACES ": c\r\n"
				 "Call-ID :d\r\nCSeq\t: 1 INVITE\r\n" OTHERS),
		  MESSAGE(BUSY "Via : a\r\nv\t:b\r\nTo \t :<sip:b>;tag=1\r\nFrom" SPACES ": c\r\n"
			       "Call-ID :d\r\nCSeq\t: 1 INVITE\r\n" END) },
		{ "each Via in its order, wherever and however it is written",
		  MESSAGE(INVITE VIA FROM "v: one, two\r\n" CALL
					  "VIA: three\r\n\tfour\r\n \r\n" TO_TAGGED
					  "Viable: no\r\nVi: no\r\n" VIA_TWO OTHERS),
		  MESSAGE(BUSY VIA FROM "v: one, two\r\n" CALL
					"VIA: three\r\n\tfour\r\n \r\n" TO_TAGGED VIA_TWO END) },
		{ "what goes on with another header is not copied",
		  MESSAGE(INVITE VIA TO_TAGGED "Subject: x\r\n Via: no\r\n" FROM CALL OTHERS),
		  MESSAGE(BUSY VIA TO_TAGGED FROM CALL END) },
		{ "nor what looks like a header in the body",
		  MESSAGE(INVITE VIA TO_TAGGED FROM CALL "Subject: x\r\n\r\n" VIA_TWO TO_TAGGED),
		  MESSAGE(BUSY VIA TO_TAGGED FROM CALL END) },
		{ "a hundred other headers",
		  MESSAGE(INVITE VIA TO_TAGGED FROM CALL HUNDRED_LINES VIA_TWO OTHERS),
		  MESSAGE(BUSY VIA TO_TAGGED FROM CALL VIA_TWO END) },
		{ "a long one", MESSAGE(INVITE VIA TO_TAGGED IDENTITY FROM CALL OTHERS),
		  MESSAGE(BUSY VIA TO_TAGGED FROM CALL END) },
		{ "where there is no room for the wait, it is left out",
		  MESSAGE("OPTIONS sip:bob@biloxi.com SIP/2.0\r\nVia: a\r\nTo: b;tag=1\r\n"
			  "From: c\r\nCall-ID: d\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\n\r\n"),
		  MESSAGE(BUSY "Via: a\r\nTo: b;tag=1\r\nFrom: c\r\n"
			       "Call-ID: d\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n") },
		{ "and where there is none for the rest, there is no answer",
		  MESSAGE("A b SIP/2.0\r\nVia: a\r\nTo: b;tag=1\r\nFrom: c\r\n"
			  "Call-ID: d\r\nCSeq: 1 A\r\n\r\n"),
		  { 0 } },
	};

	datagram_check_rows(BUSY_LISTENER, rows, ARRAY_SIZE(rows));
}

/* What is no request, or one that a response cannot be made of. */
static void test_unanswered(void)
{
	static const struct datagram_row rows[] = {
		{ "an ACK (17.1.1.3)",
		  MESSAGE("ACK sip:bob@biloxi.com SIP/2.0\r\n" VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "a CANCEL (8.2.7)",
		  MESSAGE("CANCEL sip:bob@biloxi.com SIP/2.0\r\n" VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "a response",
		  MESSAGE("SIP/2.0 200 OK\r\n" VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "a response that ends like a request",
		  MESSAGE("sip/2.0 200 no SIP/2.0\r\n" VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "another version (7.1)",
		  MESSAGE("INVITE sip:bob@biloxi.com SIP/3.0\r\n" VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "no Via", MESSAGE(INVITE TO_TAGGED FROM CALL OTHERS), { 0 } },
		{ "no From", MESSAGE(INVITE VIA TO_TAGGED CALL OTHERS), { 0 } },
		{ "no To", MESSAGE(INVITE VIA FROM CALL OTHERS), { 0 } },
		{ "no Call-ID",
		  MESSAGE(INVITE VIA TO_TAGGED FROM "CSeq: 1 INVITE\r\n" OTHERS),
		  { 0 } },
		{ "no CSeq", MESSAGE(INVITE VIA TO_TAGGED FROM "Call-ID: a\r\n" OTHERS), { 0 } },
		{ "no colon",
		  MESSAGE(INVITE VIA TO_TAGGED FROM "CSeq: 1 INVITE\r\nCall-ID a\r\n" OTHERS),
		  { 0 } },
		{ "two To", MESSAGE(INVITE VIA TO_TAGGED TO_TAGGED FROM CALL OTHERS), { 0 } },
		{ "two To, one of them short",
		  MESSAGE(INVITE VIA TO_TAGGED FROM CALL "t: <sip:c>\r\n" OTHERS),
		  { 0 } },
		{ "two From", MESSAGE(INVITE VIA TO_TAGGED FROM FROM CALL OTHERS), { 0 } },
		{ "two Call-ID and CSeq",
		  MESSAGE(INVITE VIA TO_TAGGED FROM CALL CALL OTHERS),
		  { 0 } },
		{ "a tag without a value",
		  MESSAGE(INVITE VIA TO ";tag\r\n" FROM CALL OTHERS),
		  { 0 } },
		{ "a tag with an empty one",
		  MESSAGE(INVITE VIA TO ";tag=;a=b\r\n" FROM CALL OTHERS),
		  { 0 } },
		{ "a quote that does not end",
		  MESSAGE(INVITE VIA "To: \"Bob <sip:bob@biloxi.com>;tag=1\r\n" FROM CALL OTHERS),
		  { 0 } },
		{ "a bracket that does not",
		  MESSAGE(INVITE VIA "To: Bob <sip:bob@biloxi.com;tag=1\r\n" FROM CALL OTHERS),
		  { 0 } },
		{ "headers that do not end",
		  MESSAGE(INVITE VIA TO_TAGGED FROM CALL "Subject: what"),
		  { 0 } },
		{ "headers that end without an empty line",
		  MESSAGE(INVITE VIA TO_TAGGED FROM CALL "Subject: what\r\n"),
		  { 0 } },
		{ "lines that end with a line feed alone (25.1)",
		  MESSAGE(INVITE VIA TO_TAGGED FROM "Subject: x\n" CALL OTHERS),
		  { 0 } },
		{ "a first header that goes on with nothing",
		  MESSAGE(INVITE " " VIA VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "a request that begins with white space",
		  MESSAGE(" " INVITE VIA TO_TAGGED FROM CALL OTHERS),
		  { 0 } },
		{ "a double line feed that keeps a way open (RFC 5626, 3.5.1)",
		  MESSAGE("\r\n\r\n"),
		  { 0 } },
		{ "bytes that are no text", MESSAGE("\0\1\2\3\r\n\r\n"), { 0 } },
	};

	datagram_check_rows(BUSY_LISTENER, rows, ARRAY_SIZE(rows));
}

static const char *answer_to(struct prog *prog, const struct pkt_spec *spec)
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

/* 8.2.6.2: whoever answers adds a tag; 8.2.7: to a request sent again, the same. */
static void test_tag(void)
{
	static const char request[] = INVITE VIA TO "\r\n" FROM CALL OTHERS;
	static const char begin[] = BUSY VIA TO ";tag=";
	static const char end[] = "\r\n" FROM CALL END;
	struct pkt_spec spec = { .protocol = IPPROTO_UDP,
				 .dport = 53,
				 .body = request,
				 .body_size = sizeof(request) - 1 };
	char first[MESSAGE_MAX], *tag;
	autoprog struct prog prog = {};

	if (!prog_load(&prog, BUSY_LISTENER, PROG_NOW))
		return;
	CHECK_EQ("the limit is used up", prog_passing(&prog, &spec, 1), 1);
	snprintf(first, sizeof(first), "%s", answer_to(&prog, &spec));
	if (!CHECK_EQ("it begins with the tag", strncmp(first, begin, strlen(begin)) != 0, false))
		return;
	tag = first + strlen(begin);
	CHECK_EQ("which has eight hexadecimal digits", strspn(tag, "0123456789abcdef"), 8);
	CHECK_STR_EQ("and the rest follows", tag + 8, end);
	CHECK_STR_EQ("the same request gets the same", answer_to(&prog, &spec), first);
	spec.from = CLIENT_TWO;
	CHECK_EQ("another's limit is used up", prog_passing(&prog, &spec, 1), 1);
	CHECK_EQ("another client gets another tag",
		 strncmp(answer_to(&prog, &spec) + strlen(begin), tag, 8) != 0, 1);
}

struct to_row {
	const char *what, *to;
	bool has_tag;
};

/* A request with this To, and what comes of it: all that is written here, and the tag behind it. */
static void check_to(struct prog *prog, const struct to_row *row, const char *tag, bool last)
{
	static const char form[] = "%s" VIA "%s%s%s\r\n%s%s";
	char request[MESSAGE_MAX], want[MESSAGE_MAX];
	struct pkt_spec spec = { .protocol = IPPROTO_UDP, .dport = 53, .body = request };
	const char *before = last ? CALL FROM : "", *after = last ? "" : FROM CALL;

	snprintf(request, sizeof(request), INVITE "Subject: " HUNDRED "\r\n" VIA "%s%s\r\n%s\r\n",
		 before, row->to, after);
	spec.body_size = strlen(request);
	snprintf(want, sizeof(want), form, BUSY, before, row->to, row->has_tag ? "" : tag, after,
		 END);
	CHECK_STR_EQ(row->what, answer_to(prog, &spec), want);
}

/* 20.39: To; 25.1: name-addr, addr-spec, to-param, quoted-string, EQUAL, SEMI. */
static void test_to(void)
{
	static const struct to_row rows[] = {
		{ "no tag", "To: Bob <sip:bob@biloxi.com>", false },
		{ "an address alone", "To:sip:bob@biloxi.com", false },
		{ "a tag of the URI is not the header's", "To: <sip:bob@biloxi.com;tag=1>", false },
		{ "nor one in its headers", "To: <sip:bob@biloxi.com?a=b;tag=1>;c=d", false },
		{ "nor one in a name", "To: \"Bob;tag=1\" <sip:bob@biloxi.com>", false },
		{ "with quotes in it", "To: \"\\\";tag=1\\\\\" <sip:bob@biloxi.com>", false },
		{ "nor one in a value", "To: <sip:bob@biloxi.com>;a=\";tag=1\"", false },
		{ "nor another parameter", "To: <sip:bob@biloxi.com>;tagged=1;x-tag=2", false },
		{ "a short name", "t\t: <sip:bob@biloxi.com;tag=1>", false },
		{ "a header that goes on", "To: Bob\r\n\t<sip:bob@biloxi.com;\r\n tag=1>", false },
		{ "and has an empty line that is none", "To: <sip:bob@biloxi.com>\r\n ", false },
		{ "a tag", "To: Bob <sip:bob@biloxi.com>;tag=1", true },
		{ "of an address alone", "To: sip:bob@biloxi.com;tag=1", true },
		{ "with white space (SEMI, EQUAL)", "t: <sip:bob@biloxi.com> ; Tag\t = 1", true },
		{ "where the header goes on", "To: <sip:bob@biloxi.com>\r\n ;tag=1", true },
		{ "with a fold within it", "To: <sip:bob@biloxi.com>;\r\n tag\r\n =\r\n 1", true },
		{ "behind another parameter", "To: <sip:bob@biloxi.com>;a=\"\\\"<\";tag=1", true },
		{ "behind a name with brackets", "To: \"<Bob\" <sip:bob@biloxi.com>;tag=1", true },
	};
	struct pkt_spec spec = { .protocol = IPPROTO_UDP, .dport = 53 };
	static const char request[] = INVITE VIA TO "\r\n" FROM CALL OTHERS;
	autoprog struct prog prog = {};
	char tag[14];

	if (!prog_load(&prog, BUSY_LISTENER, PROG_NOW))
		return;
	CHECK_EQ("the limit is used up", prog_passing(&prog, &spec, 1), 1);
	spec.body = request;
	spec.body_size = strlen(request);
	snprintf(tag, sizeof(tag), "%s", answer_to(&prog, &spec) + strlen(BUSY VIA TO));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_to(&prog, &rows[i], tag, false);
		check_to(&prog, &rows[i], tag, true);
	}
}

CHECK_SUITE(sip, { "what is copied", test_copied }, { "what gets no answer", test_unanswered },
	    { "a tag of our own", test_tag }, { "whether To has one", test_to });
