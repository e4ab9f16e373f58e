/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SYN cookies, byte for byte, by RFC 9293, 3.5; RFC 7323, 2 and 3; RFC 2018, 2; RFC 3168, 6.1.1.
 * What is wanted is written down here, and built by tests/pkt.c, which shares nothing with bpf/.
 * What a cookie keeps is looked at in the places that it has in the number.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "check.h"
#include "connection.h"
#include "prog.h"
#include "util.h"

#define PORT 8080
#define SEQUENCE 0xfffffffeU
#define MTU 1500 /* so that segments are of the sizes that everybody knows */
#define MTU_LOOPBACK 65536
#define CHALLENGED "reply challenged challenge"
#define LET_IN "pass allowed web/l=allowed"
#define ECN (PKT_SYN | PKT_ECE | PKT_CWR)

static const char config[] =
	"rate_limiters: {l: {limit: 1000000, window: 1h}}\n"
	"listeners: {web: {ports: [8080], rate_limiter_name: l, prove_sources: always}}\n";

static int set_mtu(int mtu)
{
	struct ifreq request = { .ifr_name = "lo" };
	autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!check_privileged()) /* nothing will be loaded either, and that is told */
		return 0;
	request.ifr_mtu = mtu;
	return fd < 0 ? -1 : ioctl(fd, SIOCSIFMTU, &request);
}

static int begin(void)
{
	return set_mtu(MTU);
}

static int end(void)
{
	return set_mtu(MTU_LOOPBACK);
}

#define MSS 2, 4, 0x05, 0xb4 /* 1460 */
#define MSS_V6 2, 4, 0x05, 0xa0
#define SACK 4, 2
#define STAMPS 8, 10, 1, 2, 3, 4, 0, 0, 0, 0
#define SCALE_9 3, 3, 9
#define NOP 1
#define CUT_OFF 2, 200 /* no such length */
/* Of the answer: our scale, the time stamp that is put in by the test, and the client's back. */
#define SCALE 1, 3, 3, 7
#define OUR_STAMP 0xee, 0xee, 0xee, 0xee
#define ECHO OUR_STAMP, 1, 2, 3, 4
#define NO_SCALE 15

struct row {
	const char *what;
	struct pkt_spec spec;
	uint8_t asked[40], n_asked;
	uint8_t want[20], n_want;
	uint16_t mss; /* that is kept: in the time stamp, or the nearest below it */
	uint8_t index, scale;
	bool sack, ecn;
};

/* One in a few lines. */
/* clang-format off */
static const struct row rows[] = {
	{ "Linux", {}, { MSS, SACK, STAMPS, NOP, SCALE_9 }, 20,
	  { MSS, SACK, 8, 10, ECHO, SCALE }, 20, 1460, 3, 9, true, false },
	{ "Windows", {}, { MSS, NOP, 3, 3, 8, NOP, NOP, SACK }, 12,
	  { MSS, NOP, NOP, SACK, SCALE }, 12, 1460, 3, 8, true, false },
	{ "no options", {}, {}, 0, {}, 0, 536, 0, NO_SCALE, false, false },
	{ "nothing but a size", {}, { MSS }, 4, { MSS }, 4, 1460, 3, NO_SCALE, false, false },
	{ "a size that is clamped", {}, { 2, 4, 0x05, 0x8c, STAMPS, NOP, NOP }, 16,
	  { MSS, NOP, NOP, 8, 10, ECHO }, 16, 1420, 2, NO_SCALE, false, false },
	{ "a larger one", {}, { 2, 4, 0x23, 0x00, SACK, STAMPS }, 16,
	  { MSS, SACK, 8, 10, ECHO }, 16, 8960, 3, NO_SCALE, true, false },
	{ "one below 536", {}, { 2, 4, 0, 88, SACK, STAMPS }, 16, { MSS, SACK, 8, 10, ECHO },
	  16, 536, 0, NO_SCALE, true, false },
	{ "one of 0", {}, { 2, 4, 0, 0 }, 4, {}, 0, 536, 0, NO_SCALE, false, false },
	{ "nothing but a scale", {}, { SCALE_9, 0 }, 4, { SCALE }, 4, 536, 0, 9, false, false },
	{ "a scale that is too large", {}, { 3, 3, 77, 0 }, 4, { SCALE }, 4, 536, 0, 14, false,
	  false },
	{ "nothing but SACK", {}, { SACK, NOP, NOP }, 4, { NOP, NOP, SACK }, 4, 536, 0,
	  NO_SCALE, true, false },
	{ "nothing but time stamps", {}, { NOP, NOP, STAMPS }, 12, { NOP, NOP, 8, 10, ECHO },
	  12, 536, 0, NO_SCALE, false, false },
	{ "close together, and upside down", {}, { SCALE_9, STAMPS, SACK, MSS, 0 }, 20,
	  { MSS, SACK, 8, 10, ECHO, SCALE }, 20, 1460, 3, 9, true, false },
	{ "TCP Fast Open asks for a cookie (RFC 7413, 2)", {},
	  { MSS, SACK, STAMPS, NOP, SCALE_9, 34, 2, NOP, NOP }, 24,
	  { MSS, SACK, 8, 10, ECHO, SCALE }, 20, 1460, 3, 9, true, false },
	{ "or has one, and sends data", { .payload = 500 },
	  { MSS, SACK, STAMPS, NOP, SCALE_9, 34, 10, 1, 2, 3, 4, 5, 6, 7, 8, NOP, NOP }, 32,
	  { MSS, SACK, 8, 10, ECHO, SCALE }, 20, 1460, 3, 9, true, false },
	{ "MP_CAPABLE (RFC 8684, 3.1)", {}, { MSS, SACK, STAMPS, NOP, SCALE_9, 30, 4, 1, 1 },
	  24, { MSS, SACK, 8, 10, ECHO, SCALE }, 20, 1460, 3, 9, true, false },
	{ "ECN", { .flags = ECN }, { MSS, SACK, STAMPS, NOP, SCALE_9 }, 20,
	  { MSS, SACK, 8, 10, ECHO, SCALE }, 20, 1460, 3, 9, true, true },
	{ "ECN, without time stamps to keep it in", { .flags = ECN }, { MSS }, 4, { MSS }, 4,
	  1460, 3, NO_SCALE, false, false },
	{ "one flag of its two", { .flags = PKT_SYN | PKT_ECE }, { MSS, SACK, STAMPS }, 16,
	  { MSS, SACK, 8, 10, ECHO }, 16, 1460, 3, NO_SCALE, true, false },
	{ "data are not acknowledged", { .payload = 1000 }, { MSS }, 4, { MSS }, 4, 1460, 3,
	  NO_SCALE, false, false },
	{ "options of IPv4 go", { .ip_options = 40 }, { MSS }, 4, { MSS }, 4, 1460, 3, NO_SCALE,
	  false, false },
	{ "what ends too early", {}, { SACK, CUT_OFF, STAMPS, NOP, NOP }, 16,
	  { NOP, NOP, SACK }, 4, 536, 0, NO_SCALE, true, false },
	{ "forty bytes of nothing else", {},
	  { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, MSS },
	  40, { MSS }, 4, 1460, 3, NO_SCALE, false, false },
	{ "IPv6", { .ipv6 = true }, { MSS_V6, SACK, STAMPS, NOP, SCALE_9 }, 20,
	  { MSS_V6, SACK, 8, 10, ECHO, SCALE }, 20, 1440, 3, 9, true, false },
	{ "IPv6, no options", { .ipv6 = true }, {}, 0, {}, 0, 1220, 0, NO_SCALE, false, false },
	{ "IPv6, a size below the least", { .ipv6 = true }, { 2, 4, 2, 24, SACK, STAMPS }, 16,
	  { MSS_V6, SACK, 8, 10, ECHO }, 16, 1220, 0, NO_SCALE, true, false },
	{ "extension headers go",
	  { .ipv6 = true, .extensions = { PKT_HOP_BY_HOP, PKT_ROUTING, PKT_FRAGMENT,
	    PKT_DESTINATION } },
	  { MSS_V6, NOP, SCALE_9, NOP, NOP, SACK }, 12, { MSS_V6, NOP, NOP, SACK, SCALE }, 12,
	  1440, 3, 9, true, false },
};
/* clang-format on */

/* The same options, with the time stamp that is due where there is room for one. */
static void stamp(const struct row *row, uint8_t ret_options[20])
{
	static const uint8_t room[] = { OUR_STAMP };
	const uint32_t stamp =
		htonl((uint32_t)(PROG_NOW >> 37) << 17 | (uint32_t)row->ecn << 16 | row->mss);

	memcpy(ret_options, row->want, sizeof(row->want));
	for (int i = 0; i + 4 <= row->n_want; i += 4)
		if (memcmp(row->want + i, room, sizeof(room)) == 0)
			memcpy(ret_options + i, &stamp, sizeof(stamp));
}

static uint32_t number_of(const struct prog *prog, const struct pkt_spec *spec)
{
	const size_t l4 = 14 + spec->vlans * 4U + (spec->ipv6 ? 40 : 20);
	uint32_t number;

	memcpy(&number, prog->back.bytes + l4 + 4, sizeof(number));
	return ntohl(number);
}

static void check_answer(const struct prog *prog, const struct row *row,
			 const struct pkt_spec *spec, uint32_t number)
{
	uint8_t options[20];
	const struct pkt_spec answer = {
		.from = spec->ipv6 ? SERVER_ONE_V6 : SERVER_ONE,
		.to = spec->ipv6 ? CLIENT_ONE_V6 : CLIENT_ONE,
		.sport = PORT,
		.dport = spec->sport,
		.flags = PKT_SYN | PKT_ACK | (row->ecn ? PKT_ECE : 0),
		.sequence = number,
		.acknowledgment = SEQUENCE + 1,
		.tcp_options = row->n_want,
		.tcp_option_bytes = options,
		.window = spec->ipv6 ? 45 * 1440 : 44 * 1460, /* whole segments in 65535 bytes */
		.vlans = spec->vlans,
		.answer = true,
	};
	struct pkt_frame want;

	stamp(row, options);
	pkt_build(&answer, &want);
	if (!CHECK_EQ(row->what, prog->back.size, want.size))
		return;
	CHECK_MEM_EQ(row->what, prog->back.bytes, want.bytes, want.l4);
	CHECK_MEM_EQ(row->what, prog->back.bytes + want.l4, want.bytes + want.l4,
		     want.size - want.l4);
	CHECK("no longer than the SYN", prog->back.size <= prog->sent.size);
}

/* What is kept without time stamps. */
static void check_kept(const struct row *row, uint32_t number)
{
	CHECK_EQ(row->what, number >> 31, PROG_NOW >> 35 & 1);
	CHECK_EQ(row->what, number >> 29 & 3, row->index);
	CHECK_EQ(row->what, number >> 28 & 1, row->sack);
	CHECK_EQ(row->what, number >> 24 & 15, row->scale);
}

/* @sport: so that no connection is that of another row. */
static void check_row(struct prog *prog, const struct row *row, uint8_t vlans, uint16_t sport)
{
	struct pkt_spec spec = row->spec;
	uint32_t number;

	spec.sport = sport;
	spec.dport = PORT;
	spec.sequence = SEQUENCE;
	spec.tcp_options = row->n_asked;
	spec.tcp_option_bytes = row->asked;
	spec.vlans = vlans;
	if (!CHECK_STR_EQ(row->what, prog_send(prog, &spec), CHALLENGED))
		return;
	number = number_of(prog, &spec);
	check_answer(prog, row, &spec, number);
	check_kept(row, number);
	spec.flags = PKT_ACK;
	spec.payload = 0;
	spec.sequence = SEQUENCE + 1;
	spec.acknowledgment = number + 1;
	CHECK_STR_EQ(row->what, prog_send(prog, &spec), LET_IN);
	spec.sequence = SEQUENCE;
	CHECK_STR_EQ(row->what, prog_send(prog, &spec), "pass established");
}

static void test_answers(void)
{
	autofd int listening = connection_listen(PORT);
	autoprog struct prog prog = {};

	if (!CHECK("a service listens", listening >= 0) || !prog_load(&prog, config, PROG_NOW))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint8_t vlans = 0; vlans <= 2; vlans++)
			check_row(&prog, &rows[i], vlans, (uint16_t)(1000 + 3 * i + vlans));
}

/* The host's TCP may agree to less than the client asks for. */
static void test_offers(void)
{
	static const struct {
		struct stile_offer offer;
		struct row row;
	} offers[] = {
		{ {},
		  { "nothing",
		    { .flags = ECN },
		    { MSS, SACK, STAMPS, NOP, SCALE_9 },
		    20,
		    { MSS },
		    4,
		    1460,
		    3,
		    NO_SCALE,
		    false,
		    false } },
		{ { .sack = 1, .ecn = 1, .scales = 1, .window_scale = 7 },
		  { "no time stamps",
		    { .flags = ECN },
		    { MSS, SACK, STAMPS, NOP, SCALE_9 },
		    20,
		    { MSS, NOP, NOP, SACK, SCALE },
		    12,
		    1460,
		    3,
		    9,
		    true,
		    false } },
		{ { .timestamps = 1, .sack = 1, .scales = 1, .window_scale = 14 },
		  { "no ECN, and another scale",
		    { .flags = ECN },
		    { MSS, SACK, STAMPS, NOP, SCALE_9 },
		    20,
		    { MSS, SACK, 8, 10, ECHO, NOP, 3, 3, 14 },
		    20,
		    1460,
		    3,
		    9,
		    true,
		    false } },
		{ { .timestamps = 1, .ecn = 1 },
		  { "neither SACK nor scales",
		    { .flags = ECN },
		    { MSS, SACK, STAMPS, NOP, SCALE_9 },
		    20,
		    { MSS, NOP, NOP, 8, 10, ECHO },
		    16,
		    1460,
		    3,
		    NO_SCALE,
		    false,
		    true } },
	};
	autofd int listening = connection_listen(PORT);

	if (!CHECK("a service listens", listening >= 0))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(offers); i++) {
		autoprog struct prog prog = { .offer = &offers[i].offer };

		if (prog_load(&prog, config, PROG_NOW))
			check_row(&prog, &offers[i].row, 0, CLIENT_PORT);
	}
}

/* What is not to be answered, or cannot be, is gone. */
static void test_silence(void)
{
	static const uint8_t options[] = { MSS, SACK, STAMPS, NOP, SCALE_9 };
	autofd int listening = connection_listen(PORT);
	autoprog struct prog prog = {};
	struct pkt_spec spec = { .dport = PORT,
				 .tcp_options = sizeof(options),
				 .tcp_option_bytes = options };

	if (!CHECK("a service listens", listening >= 0) || !prog_load(&prog, config, PROG_NOW))
		return;
	spec.group = true;
	CHECK_STR_EQ("to a group", prog_send(&prog, &spec), "drop challenged");
	spec.group = false;
	spec.to = "224.0.0.1";
	CHECK_STR_EQ("to an address of one", prog_send(&prog, &spec), "drop challenged");
	spec.to = NULL;
	spec.from = "255.255.255.255";
	CHECK_STR_EQ("from everybody", prog_send(&prog, &spec), "drop challenged");
	spec.from = NULL;
	spec.cut = 4;
	CHECK_STR_EQ("options that are not there", prog_send(&prog, &spec),
		     "drop challenged failed");
	spec.cut = 0;
	CHECK_STR_EQ("all is well", prog_send(&prog, &spec), CHALLENGED);
}

CHECK_SUITE_WITH(prove_answers, begin, end, { "SYN cookies, byte for byte", test_answers },
		 { "what the host agrees to", test_offers },
		 { "what gets no answer", test_silence });
