/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of answers, all of them. What is wanted is built by tests/pkt.c, which shares nothing
 * with bpf/reply.h, checksums included.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define SEQUENCE 0x11223344

static const char config[] =
	"rate_limiters:\n"
	"  syns: {keys: [], limit: 1, window: 1h}\n"
	"  dgrams: {keys: [], limit: 1, window: 1h, unit: datagrams, action: reset}\n"
	"listeners:\n"
	"  web: {protocol: tcp, ports: [80], rate_limiter_name: syns}\n"
	"  dns: {protocol: udp, ports: [53], rate_limiter_name: dgrams}\n";

static bool load_used_up(struct prog *prog)
{
	return prog_load(prog, config, PROG_NOW) &&
	       CHECK_EQ("the limit of SYNs is used up", prog_passing(prog, &(struct pkt_spec){}, 1),
			1) &&
	       CHECK_EQ("the limit of datagrams is used up",
			prog_passing(prog,
				     &(struct pkt_spec){ .protocol = IPPROTO_UDP, .dport = 53 }, 1),
			1);
}

static void check_frame(const char *what, const struct prog *prog, const struct pkt_frame *want)
{
	char part[160];

	if (!CHECK_EQ(what, prog->back.size, want->size))
		return;
	/* In parts, so that a failure shows the bytes that differ. */
	snprintf(part, sizeof(part), "%s: Ethernet and tags", what);
	CHECK_MEM_EQ(part, prog->back.bytes, want->bytes, want->l3);
	snprintf(part, sizeof(part), "%s: IP", what);
	CHECK_MEM_EQ(part, prog->back.bytes + want->l3, want->bytes + want->l3,
		     want->l4 - want->l3);
	snprintf(part, sizeof(part), "%s: behind IP", what);
	CHECK_MEM_EQ(part, prog->back.bytes + want->l4, want->bytes + want->l4,
		     want->size - want->l4);
}

/* Who answers whom, behind the same tags. */
static struct pkt_spec answer_to(const struct pkt_spec *spec)
{
	bool ipv6 = spec->ipv6;

	return (struct pkt_spec){
		.from = spec->to ? spec->to
			: ipv6	 ? SERVER_ONE_V6
				 : SERVER_ONE,
		.to = spec->from ? spec->from
		      : ipv6	 ? CLIENT_ONE_V6
				 : CLIENT_ONE,
		.sport = spec->dport ? spec->dport : 80,
		.dport = spec->sport ? spec->sport : CLIENT_PORT,
		.vlans = spec->vlans,
		.answer = true,
	};
}

/* RFC 9293, 3.10.7.1: SEQ=0, ACK=SEG.SEQ+SEG.LEN, RST and ACK; the SYN is one of SEG.LEN. */
static void check_reset(struct prog *prog, const char *what, const struct pkt_spec *spec)
{
	struct pkt_spec answer = answer_to(spec);
	struct pkt_frame want;

	answer.flags = PKT_RST | PKT_ACK;
	answer.acknowledgment = spec->sequence + spec->payload + 1;
	pkt_build(&answer, &want);
	CHECK_STR_EQ(what, prog_send(prog, spec), "reply limited web/syns=limited reset");
	check_frame(what, prog, &want);
}

static void test_reset(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
	} rows[] = {
		{ "IPv4", { .sequence = SEQUENCE } },
		{ "IPv4, other addresses and ports",
		  { .sequence = SEQUENCE, .from = CLIENT_FAR, .to = SERVER_TWO, .sport = 65535 } },
		{ "IPv4 options go", { .sequence = SEQUENCE, .ip_options = 40 } },
		{ "TCP options go", { .sequence = SEQUENCE, .tcp_options = 40 } },
		{ "data in the SYN are acknowledged", { .sequence = SEQUENCE, .payload = 1000 } },
		{ "data behind options of both kinds",
		  { .sequence = SEQUENCE, .ip_options = 8, .tcp_options = 12, .payload = 33 } },
		{ "the sequence number wraps", { .sequence = 0xffffffff } },
		{ "the sequence number wraps in the data",
		  { .sequence = 0xfffffff0, .payload = 100 } },
		{ "a first fragment", { .sequence = SEQUENCE, .more = true, .payload = 24 } },
		{ "flags that offer ECN",
		  { .sequence = SEQUENCE, .flags = PKT_SYN | PKT_ECE | PKT_CWR } },
		{ "IPv6", { .sequence = SEQUENCE, .ipv6 = true } },
		{ "IPv6, other addresses and ports",
		  { .sequence = SEQUENCE,
		    .ipv6 = true,
		    .from = CLIENT_FAR_V6,
		    .to = SERVER_TWO_V6,
		    .sport = 1 } },
		{ "IPv6, data and TCP options",
		  { .sequence = SEQUENCE, .ipv6 = true, .tcp_options = 20, .payload = 1001 } },
		{ "extension headers go",
		  { .sequence = SEQUENCE,
		    .ipv6 = true,
		    .payload = 7,
		    .extensions = { PKT_HOP_BY_HOP, PKT_ROUTING, PKT_FRAGMENT, PKT_AH,
				    PKT_DESTINATION } } },
		{ "a kilobyte of them goes",
		  { .sequence = SEQUENCE, .ipv6 = true, .extensions = { PKT_DESTINATION_LONG } } },
	};
	autoprog struct prog prog = {};
	char what[128];

	if (!load_used_up(&prog))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (uint8_t vlans = 0; vlans <= 2; vlans++) {
			struct pkt_spec spec = rows[i].spec;

			spec.vlans = vlans;
			snprintf(what, sizeof(what), "%s (%d tags)", rows[i].what, vlans);
			check_reset(&prog, what, &spec);
		}
	}
}

/* RFC 1122, 4.2.2.12: a text that says why; with an hour's limit, how long there is to wait. */
static void test_reset_text(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
		const char *text;
	} rows[] = {
		{ "options leave room",
		  { .sequence = SEQUENCE, .tcp_options = 20 },
		  "RetryAfterMs=3600000" },
		{ "more of them, and a tag",
		  { .sequence = SEQUENCE, .tcp_options = 40, .vlans = 1 },
		  "RetryAfterMs=3600000" },
		{ "IPv6",
		  { .sequence = SEQUENCE, .tcp_options = 24, .ipv6 = true },
		  "RetryAfterMs=3600000" },
		{ "too short a SYN gets none", { .sequence = SEQUENCE, .tcp_options = 16 }, "" },
		{ "no options", { .sequence = SEQUENCE, .ipv6 = true }, "" },
	};
	autoprog struct prog prog = {};
	struct pkt_frame want;
	char text[512];

	snprintf(text, sizeof(text),
		 "reset_text: true\nrate_limiters: {syns: {keys: [], limit: 1, "
		 "window: 1h, algorithm: fixed_window}}\nlisteners: {web: "
		 "{ports: [80], rate_limiter_name: syns}}\n");
	if (!prog_load(&prog, text, PROG_NOW) ||
	    !CHECK_EQ("the limit is used up", prog_passing(&prog, &(struct pkt_spec){}, 1), 1))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkt_spec answer = answer_to(&rows[i].spec);

		answer.flags = PKT_RST | PKT_ACK;
		answer.acknowledgment = SEQUENCE + 1;
		answer.body = rows[i].text;
		answer.body_size = strlen(rows[i].text);
		pkt_build(&answer, &want);
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &rows[i].spec),
			     "reply limited web/syns=limited reset");
		check_frame(rows[i].what, &prog, &want);
	}
}

/* RFC 792: the header with its options, and the first 8 bytes behind it; RFC 4443: likewise. */
static void check_icmp(struct prog *prog, const char *what, const struct pkt_spec *spec)
{
	struct pkt_spec answer = answer_to(spec);
	struct pkt_frame sent, want;

	pkt_build(spec, &sent);
	answer.protocol = spec->ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	answer.body = sent.bytes + sent.l3;
	answer.body_size = sent.l4 - sent.l3 + 8;
	pkt_build(&answer, &want);
	CHECK_STR_EQ(what, prog_send_frame(prog, &sent), "reply limited dns/dgrams=limited icmp");
	check_frame(what, prog, &want);
}

static void test_icmp(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
	} rows[] = {
		{ "IPv4", { .payload = 20 } },
		{ "an empty datagram", { .payload = 0 } },
		{ "a large one", { .payload = 1400 } },
		{ "IPv4, other addresses and ports",
		  { .payload = 21, .from = CLIENT_FAR, .to = SERVER_TWO, .sport = 65535 } },
		{ "IPv4 options are quoted", { .payload = 20, .ip_options = 40 } },
		{ "a first fragment", { .payload = 24, .more = true } },
		{ "IPv6", { .payload = 20, .ipv6 = true } },
		{ "IPv6, an empty datagram", { .payload = 0, .ipv6 = true } },
		{ "IPv6, a large one", { .payload = 1401, .ipv6 = true } },
		{ "extension headers are quoted",
		  { .payload = 20,
		    .ipv6 = true,
		    .extensions = { PKT_HOP_BY_HOP, PKT_ROUTING, PKT_FRAGMENT, PKT_AH,
				    PKT_DESTINATION } } },
	};
	autoprog struct prog prog = {};
	char what[128];

	if (!load_used_up(&prog))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (uint8_t vlans = 0; vlans <= 2; vlans++) {
			struct pkt_spec spec = rows[i].spec;

			spec.protocol = IPPROTO_UDP;
			spec.dport = 53;
			spec.vlans = vlans;
			snprintf(what, sizeof(what), "%s (%d tags)", rows[i].what, vlans);
			check_icmp(&prog, what, &spec);
		}
	}
}

/* Headers that would not fit into the quote: no answer, and that is counted. */
static void test_failed(void)
{
	const struct pkt_spec spec = { .protocol = IPPROTO_UDP,
				       .dport = 53,
				       .ipv6 = true,
				       .extensions = { PKT_DESTINATION_LONG } };
	autoprog struct prog prog = {};

	if (!load_used_up(&prog))
		return;
	CHECK_STR_EQ("a kilobyte of headers is not quoted", prog_send(&prog, &spec),
		     "drop limited dns/dgrams=limited failed");
}

/*
 * A packet that a local stack sends may carry a checksum that nobody has finished: an answer must
 * not depend on what is there.
 */
static void test_unfinished_checksum(void)
{
	struct pkt_spec spec = { .sequence = SEQUENCE, .payload = 5 }, answer = answer_to(&spec);
	autoprog struct prog prog = {};
	struct pkt_frame sent, want;

	if (!load_used_up(&prog))
		return;
	answer.flags = PKT_RST | PKT_ACK;
	answer.acknowledgment = SEQUENCE + 6;
	pkt_build(&answer, &want);
	pkt_build(&spec, &sent);
	memset(sent.bytes + sent.l4 + 16, 0x5a, 2);
	CHECK_STR_EQ("a checksum that is wrong", prog_send_frame(&prog, &sent),
		     "reply limited web/syns=limited reset");
	check_frame("a checksum that is wrong", &prog, &want);
}

CHECK_SUITE(answers, { "TCP reset", test_reset }, { "TCP reset with a text", test_reset_text },
	    { "port unreachable", test_icmp }, { "no answer to be had", test_failed },
	    { "a checksum that nobody finished", test_unfinished_checksum });
