/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Busy answers over TCP in every language, byte for byte: what is wanted is written down from the
 * document that each row names. What conversations do besides is in test_busy.c.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "talk.h"
#include "util.h"

#define ACK_PSH (PKT_ACK | PKT_PSH)
#define ALL (PKT_ACK | PKT_PSH | PKT_FIN)
#define BUSY "reply busy busy"

struct message {
	const char *bytes;
	size_t size;
};
#define MESSAGE(text)                                                                              \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

/* A turn: what the client sends behind what it has sent and got, and what it gets. */
struct turn {
	const char *what;
	uint32_t sent, has;
	struct message request, answer; /* answer.bytes NULL: silence */
	uint16_t flags;			/* of the answer */
};

/* One event in ten seconds, so that who is refused at once has just ten to wait. */
static void check_turns(const char *keys, const struct turn *turns, size_t n)
{
	static const struct pkt_spec wraps[] = { { .sport = 1 }, { .ipv6 = true, .vlans = 1 } };
	char config[512], what[160];
	autoprog struct prog prog = {};
	struct talk talk;

	snprintf(config, sizeof(config),
		 "rate_limiters: {a: {keys: [], algorithm: token_bucket, limit: 6, window: 1m, "
		 "burst: 1}}\nlisteners: {s: {ports: [80], rate_limiter_name: a, %s}}\n",
		 keys);
	if (!prog_load(&prog, config, PROG_NOW))
		return;
	CHECK_EQ("the first is let in", prog_passing(&prog, &(struct pkt_spec){}, 1), 1);
	for (size_t i = 0; i < ARRAY_SIZE(wraps); i++) {
		struct pkt_spec spec = wraps[i];

		spec.dport = 80;
		if (!talk_begin(&talk, &prog, &spec, "reply limited s/a=limited cookie"))
			return;
		for (size_t j = 0; j < n; j++) {
			const struct turn *turn = &turns[j];
			const struct talk_turn sent = {
				.flags = turn->request.size ? ACK_PSH : PKT_ACK,
				.has = turn->has,
				.sent = turn->sent,
				.data = turn->request.bytes,
				.data_size = turn->request.size,
				.want = turn->flags ? BUSY : "drop busy",
				.back_flags = turn->flags,
				.back = turn->answer.bytes,
				.back_size = turn->answer.size,
			};

			snprintf(what, sizeof(what), "%s: %s (IPv%d)", keys, turn->what,
				 spec.ipv6 ? 6 : 4);
			talk_turn(&talk, what, &sent);
		}
	}
}

/* RESP: "Simple errors"; Redis, networking.c: what it says at maxclients. */
static void test_redis(void)
{
	static const struct turn turns[] = {
		{ .what = "the end of the handshake" },
		{ .what = "PING",
		  .request = MESSAGE("*1\r\n$4\r\nPING\r\n"),
		  .answer = MESSAGE("-ERR max number of clients reached\r\n"),
		  .flags = ALL },
	};

	check_turns("app_protocol: redis", turns, ARRAY_SIZE(turns));
}

#define PG_STARTUP "\0\0\0\x0e\0\3\0\0user\0a\0\0" /* protocol 3.0, user a */
#define PG_ERROR                                                                                   \
	"E\0\0\0\x57SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0"                    \
	"HTry again in   10 seconds.\0\0"

/*
 * PostgreSQL, 55.7 "Message Formats": SSLRequest (80877103), GSSENCRequest (80877104),
 * CancelRequest (80877102), ErrorResponse; 55.8: its fields; appendix A: 53300,
 * too_many_connections.
 */
static void test_postgresql(void)
{
	static const struct turn turns[] = {
		{ .what = "the end of the handshake" },
		{ .what = "a start",
		  .request = MESSAGE(PG_STARTUP),
		  .answer = MESSAGE(PG_ERROR),
		  .flags = ALL },
		{ .what = "SSLRequest",
		  .request = MESSAGE("\0\0\0\x08\x04\xd2\x16\x2f"),
		  .answer = MESSAGE("N"),
		  .flags = ACK_PSH },
		{ .what = "a start behind it",
		  .sent = 8,
		  .has = 1,
		  .request = MESSAGE(PG_STARTUP),
		  .answer = MESSAGE(PG_ERROR),
		  .flags = ALL },
		{ .what = "GSSENCRequest behind it",
		  .sent = 8,
		  .has = 1,
		  .request = MESSAGE("\0\0\0\x08\x04\xd2\x16\x30"),
		  .answer = MESSAGE("N"),
		  .flags = ACK_PSH },
		{ .what = "a start behind both",
		  .sent = 16,
		  .has = 2,
		  .request = MESSAGE(PG_STARTUP),
		  .answer = MESSAGE(PG_ERROR),
		  .flags = ALL },
		{ .what = "a CancelRequest, whose answer no client reads",
		  .request = MESSAGE("\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\1\0\0\0\2"),
		  .answer = MESSAGE(PG_ERROR),
		  .flags = ALL },
	};

	check_turns("app_protocol: postgresql", turns, ARRAY_SIZE(turns));
}

/* MySQL, "ERR_Packet", before the handshake: no SQL state; error 1040, ER_CON_COUNT_ERROR. */
static void test_mysql(void)
{
	static const struct turn turns[] = {
		{ .what = "the end of the handshake",
		  .answer = MESSAGE("\x17\0\0\0\xff\x10\x04Too many connections"),
		  .flags = ALL },
	};

	check_turns("app_protocol: mysql", turns, ARRAY_SIZE(turns));
}

/* OPC 10000-6, 7.1.2.2: header; 7.1.2.5: Error; 5.2.2.4: String. 0x807D0000 is in NodeIds.csv. */
static void test_opcua(void)
{
	static const struct turn turns[] = {
		{ .what = "the end of the handshake" },
		{ .what = "Hello",
		  .request = MESSAGE("HELF\x1c\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0"),
		  .answer = MESSAGE("ERRF\x24\0\0\0\0\0\x7d\x80\x14\0\0\0RetryAfterMs=0010000"),
		  .flags = ALL },
	};

	check_turns("app_protocol: opcua", turns, ARRAY_SIZE(turns));
}

/* RFC 8446, 5.1: the record, of an alert (21); 6: fatal (2), 6.2: internal_error (80). */
static void test_tls(void)
{
	static const struct turn turns[] = {
		{ .what = "the end of the handshake" },
		{ .what = "the start of a ClientHello",
		  .request = MESSAGE("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"),
		  .answer = MESSAGE("\x15\x03\x03\0\x02\x02\x50"),
		  .flags = ALL },
	};

	check_turns("app_protocol: tls", turns, ARRAY_SIZE(turns));
}

#define DNS_QUESTION "\7example\3org\0\0\1\0\1" /* RFC 1035, 4.1.2: A, IN */

/* RFC 7766, 8: the length; RFC 1035, 4.1.1: ID, flags (QR, OPCODE, RD; CD, RCODE), and counts. */
static void test_dns(void)
{
	static const struct turn turns[] = {
		{ .what = "the end of the handshake" },
		{ .what = "a question",
		  .request = MESSAGE("\0\x1d\xab\xcd\1\0\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  .answer = MESSAGE("\0\x0c\xab\xcd\x81\5\0\0\0\0\0\0\0\0"),
		  .flags = ALL },
		{ .what = "without recursion, with AD and CD: CD stays (RFC 4035, 3.2.2)",
		  .request = MESSAGE("\0\x1d\0\1\0\x30\0\1\0\0\0\0\0\0" DNS_QUESTION),
		  .answer = MESSAGE("\0\x0c\0\1\x80\x15\0\0\0\0\0\0\0\0"),
		  .flags = ALL },
		{ .what = "an update (RFC 2136)",
		  .request = MESSAGE("\0\x1d\0\2\x28\0\0\1\0\0\0\1\0\0" DNS_QUESTION),
		  .answer = MESSAGE("\0\x0c\0\2\xa8\5\0\0\0\0\0\0\0\0"),
		  .flags = ALL },
		{ .what = "the length alone",
		  .request = MESSAGE("\0\x1d"),
		  .answer = MESSAGE(""),
		  .flags = PKT_ACK | PKT_FIN },
		{ .what = "the client has that end", .has = 1, .sent = 2 },
	};

	check_turns("app_protocol: dns", turns, ARRAY_SIZE(turns));
	check_turns("app_protocol: dns, dns_answer: refused", turns, ARRAY_SIZE(turns));
}

static void test_raw(void)
{
	static const struct turn client[] = {
		{ .what = "the end of the handshake" },
		{ .what = "a request",
		  .request = MESSAGE("0123456789"),
		  .answer = MESSAGE("\xff{345}   10 s,   10000 ms\r\n"),
		  .flags = ALL },
		{ .what = "a short request: spaces stay",
		  .request = MESSAGE("0123"),
		  .answer = MESSAGE("\xff{3  }   10 s,   10000 ms\r\n"),
		  .flags = ALL },
	};
	static const struct turn server[] = {
		{ .what = "the end of the handshake",
		  .answer = MESSAGE("\0 BUSY   10"),
		  .flags = ALL },
	};

	check_turns("app_protocol: raw, raw: {bytes: '\\xff{{request:3:3}} {wait_s} s, "
		    "{wait_ms} ms\\r\\n'}",
		    client, ARRAY_SIZE(client));
	check_turns("app_protocol: raw, raw: {first: server, bytes: '\\0 BUSY {wait_s}'}", server,
		    ARRAY_SIZE(server));
}

CHECK_SUITE(languages, { "redis", test_redis }, { "postgresql", test_postgresql },
	    { "mysql", test_mysql }, { "opcua", test_opcua }, { "tls", test_tls },
	    { "dns", test_dns }, { "raw", test_raw });
