/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What answers cost, by kind, each segment of a conversation by itself and a whole refused exchange
 * as their sum; and what packets of open connections pay for it, while nobody is refused and while
 * somebody is. A program that only parses is taken off everywhere.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <bpf/bpf.h>

#include "drive.h"
#include "forge.h"
#include "load.h"
#include "loader.h"
#include "util.h"

#define PACKETS 100000
#define GET "GET / HTTP/1.1\r\n\r\n"

static const char config[] =
	"interfaces: {lo: {}}\n"
	"replies_per_second: 10000000\n"
	"rate_limiters:\n"
	"  busy: {keys: [], algorithm: token_bucket, limit: 1, window: 1h}\n"
	"  each: {keys: [], algorithm: token_bucket, limit: 1, window: 1h, unit: datagrams}\n"
	"listeners:\n"
	"  dns: {protocol: udp, ports: [53], app_protocol: dns, rate_limiter_name: each}\n"
	"  ntp: {protocol: udp, ports: [123], app_protocol: ntp, rate_limiter_name: each}\n"
	"  sip: {protocol: udp, ports: [5060], app_protocol: sip, rate_limiter_name: each}\n"
	"  coap: {protocol: udp, ports: [5683], app_protocol: coap, rate_limiter_name: each}\n"
	"  http: {ports: [80], app_protocol: http, rate_limiter_name: busy}\n"
	"  smtp: {ports: [25], app_protocol: smtp, rate_limiter_name: busy}\n"
	"  reset: {ports: [22], rate_limiter_name: busy}\n"
	"  quiet: {ports: [81], app_protocol: http, rate_limiter_name: busy}\n";

static const char config_reset[] =
	"interfaces: {lo: {}}\n"
	"rate_limiters:\n"
	"  busy: {keys: [], algorithm: token_bucket, limit: 1, window: 1h}\n"
	"listeners:\n"
	"  quiet: {ports: [81], rate_limiter_name: busy}\n";

/* A client is never refused: what is measured is the proof. */
static const char config_proofs[] =
	"interfaces: {lo: {}}\n"
	"rate_limiters:\n"
	"  wide: {algorithm: token_bucket, limit: 10000000, window: 1s}\n"
	"listeners:\n"
	"  proves: {ports: [443], prove_sources: always, rate_limiter_name: wide}\n"
	"  charges: {ports: [444], rate_limiter_name: wide}\n";

struct kind {
	struct drive *drive;
	int program;
	struct pkt_spec spec;
	bool talks;   /* it acknowledges a cookie, */
	uint32_t has; /* and these bytes */
};

/* One packet through the program: the frame that comes back. */
static int once(int program, const struct pkt_spec *spec, struct pkt_frame *back)
{
	struct pkt_frame frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_out = back->bytes,
		    .data_size_out = sizeof(back->bytes), .repeat = 1);

	pkt_build(spec, &frame);
	options.data_in = frame.bytes;
	options.data_size_in = (uint32_t)frame.size;
	if (bpf_prog_test_run_opts(program, &options) < 0)
		return -errno;
	back->size = options.data_size_out;
	back->l4 = frame.l4;
	return 0;
}

/* The number that acknowledges the cookie a SYN gets now: one is good for a minute. */
static int acknowledge(int program, const struct pkt_spec *spec, uint32_t *ret_number)
{
	struct pkt_spec syn = { .dport = spec->dport, .ipv6 = spec->ipv6, .sequence = 1 };
	struct pkt_frame back;
	uint32_t number;
	int result = once(program, &syn, &back);

	memcpy(&number, back.bytes + back.l4 + 4, sizeof(number));
	*ret_number = ntohl(number) + 1;
	return result;
}

static int measure(struct bench_row *row, double *ret_values)
{
	struct kind *kind = row->context;
	const struct drive_plan plan = { .spec = &kind->spec,
					 .sources = DRIVER_ONE,
					 .warmup = 1000,
					 .repeat = PACKETS,
					 .fixed = true };
	int result = 0;

	if (kind->talks)
		result = acknowledge(kind->program, &kind->spec, &kind->spec.acknowledgment);
	kind->spec.acknowledgment += kind->has;
	return result ? result : drive_run(kind->drive, kind->program, &plan, &ret_values[0]);
}

struct table {
	struct bench *bench;
	struct drive *drive;
	struct bench_row *floor;
	bool ipv6;
};

static struct bench_row *add(struct table *table, int program, const struct pkt_spec *spec,
			     const char *what)
{
	static struct kind kinds[BENCH_ROWS];
	struct kind *kind = &kinds[table->bench->n_rows];
	struct bench_row *row;

	*kind = (struct kind){ .drive = table->drive, .program = program, .spec = *spec };
	kind->spec.ipv6 = table->ipv6;
	row = bench_add(table->bench, measure, kind, "%s, IPv%d", what, table->ipv6 ? 6 : 4);
	row->floor = table->floor;
	return row;
}

static void add_turn(struct table *table, int program, const struct pkt_spec *spec, uint32_t has,
		     const char *what)
{
	struct kind *kind = add(table, program, spec, what)->context;

	kind->talks = true;
	kind->has = has;
}

/* The segments of a conversation at @port, of which the SYN is one. */
static int add_talk(struct table *table, int program, uint16_t port, const char *name)
{
	struct pkt_spec spec = { .dport = port, .ipv6 = table->ipv6, .sequence = 7 };
	struct pkt_frame back;
	char what[40];
	uint32_t size;
	int result =
		once(program, &spec, &back); /* the first is let in, and none that repeats it */

	spec.sequence = 1;
	snprintf(what, sizeof(what), "%s: SYN", name);
	add(table, program, &spec, what);
	spec.flags = PKT_ACK;
	spec.sequence = 2;
	snprintf(what, sizeof(what), "%s: ACK", name);
	add_turn(table, program, &spec, 0, what);
	spec.flags = PKT_ACK | PKT_PSH;
	spec.body = GET;
	spec.body_size = strlen(GET);
	if (result == 0)
		result = acknowledge(program, &spec, &spec.acknowledgment);
	if (result == 0)
		result = once(program, &spec, &back);
	size = (uint32_t)(back.size - back.l4) - 20;
	snprintf(what, sizeof(what), "%s: data, %u bytes back", name, size);
	add_turn(table, program, &spec, 0, what);
	spec.body = NULL;
	spec.flags = PKT_ACK | PKT_FIN;
	snprintf(what, sizeof(what), "%s: FIN", name);
	add_turn(table, program, &spec, size + 1, what);
	return result;
}

struct datagram {
	const char *name;
	uint16_t port;
	const char *bytes;
	size_t size;
};
#define DATAGRAM(name, port, bytes)                                                                \
	{                                                                                          \
		name, port, bytes, sizeof(bytes) - 1                                               \
	}

static const struct datagram datagrams[] = {
	DATAGRAM("dns", 53,
		 "\xab\xcd\1\0\0\1\0\0\0\0\0\0"
		 "\7example\3org\0\0\1\0\1"),
	DATAGRAM("ntp", 123,
		 "\x23\0\6\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xed\xcb\xa9\x87\x65\x43\x21\x10"),
	DATAGRAM("sip", 5060,
		 "INVITE sip:bob@biloxi.com SIP/2.0\r\n"
		 "Via: SIP/2.0/UDP pc33.atlanta.com;branch=z9hG4bKnashds8\r\n"
		 "Max-Forwards: 70\r\nTo: Bob <sip:bob@biloxi.com>\r\n"
		 "From: Alice <sip:alice@atlanta.com>;tag=1928301774\r\n"
		 "Call-ID: a84b4c76e66710\r\nCSeq: 314159 INVITE\r\n"
		 "Contact: <sip:alice@pc33.atlanta.com>\r\n"
		 "Content-Type: application/sdp\r\nContent-Length: 10\r\n\r\nv=0\r\ns=-\r\n"),
	DATAGRAM("coap", 5683, "\x44\1\x12\x34tokn\xb4time"),
};

/* A datagram that is refused, when one that was let in has used the limit up. */
static int add_datagram(struct table *table, int program, const struct datagram *datagram)
{
	struct pkt_spec spec = { .protocol = IPPROTO_UDP,
				 .ipv6 = table->ipv6,
				 .dport = datagram->port,
				 .body = datagram->bytes,
				 .body_size = datagram->size };
	struct pkt_frame back;
	uint16_t from;
	char what[40];
	int result = once(program, &spec, &back);

	if (result == 0)
		result = once(program, &spec, &back);
	memcpy(&from, back.bytes + back.l4, sizeof(from));
	if (result == 0 && ntohs(from) != datagram->port)
		return -ENOMSG; /* it is not an answer */
	snprintf(what, sizeof(what), "%s: %zu bytes, %zu back", datagram->name, datagram->size,
		 back.size - back.l4 - 8);
	add(table, program, &spec, what);
	return result;
}

static void add_proofs(struct table *table, int program)
{
	struct pkt_spec spec = { .dport = 444, .sequence = 1, .mss = 1460 };

	add(table, program, &spec, "SYN admitted");
	spec.dport = 443;
	add(table, program, &spec, "proof: SYN, cookie back");
	spec.mss = 0;
	spec.flags = PKT_ACK;
	spec.sequence = 2;
	add_turn(table, program, &spec, 0, "proof: ACK with it, admitted");
	spec.acknowledgment = 99;
	add(table, program, &spec, "open connection, sources are proven");
}

static int add_family(struct table *table, int with, int without, int proofs)
{
	struct pkt_spec open = { .flags = PKT_ACK | PKT_PSH,
				 .body = GET,
				 .body_size = strlen(GET),
				 .acknowledgment = 99,
				 .sequence = 2 };
	struct pkt_spec refused = { .dport = 22, .sequence = 1 };
	int result;

	table->floor = NULL;
	table->floor = add(table, drive_parse_program(table->drive), &open, "parse only");
	open.dport = 81;
	add(table, without, &open, "open connection, no language");
	add(table, with, &open, "open connection, nobody refused");
	add(table, with, &refused, "SYN refused, RST");
	result = add_talk(table, with, 80, "http");
	if (result == 0)
		result = add_talk(table, with, 25, "smtp");
	for (size_t i = 0; i < ARRAY_SIZE(datagrams) && result == 0; i++)
		result = add_datagram(table, with, &datagrams[i]);
	open.dport = 80;
	add(table, with, &open, "open connection, some refused");
	open.tcp_options = 12;
	open.body = NULL;
	add(table, with, &open, "the same with time stamps");
	add_proofs(table, proofs);
	return result;
}

/* Proofs are for whom something listens; its socket stays to the end of the process. */
static int listen_here(void)
{
	const struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(443) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ||
	    listen(fd, 16) < 0)
		return -errno;
	return 0;
}

int main(void)
{
	static struct bench bench = {
		.section = "answers",
		.title = "Answers, by kind: ns of CPU in the program",
		.columns = { "ns/packet" },
		.rounds = 9,
		.warmups = 1,
	};
	struct table table = { .bench = &bench };
	autoload struct load with = {}, without = {}, proofs = {};
	int result = forge_namespace();

	bench_wait_turn();
	if (result == 0)
		result = listen_here();
	if (result == 0)
		result = drive_new(1, &table.drive);
	if (result == 0)
		result = load_config(config_proofs, NULL, &proofs);
	if (result == 0)
		result = load_config(config, NULL, &with);
	if (result == 0)
		result = load_config(config_reset, NULL, &without);
	for (int ipv6 = 0; ipv6 < 2 && result == 0; ipv6++) {
		table.ipv6 = ipv6;
		result = add_family(&table, loader_program(with.loader),
				    loader_program(without.loader), loader_program(proofs.loader));
	}
	if (result)
		fprintf(stderr, "answers: %s\n", strerror(-result));
	else
		result = bench_run(&bench) || bench_end(&bench);
	drive_free(table.drive);
	return result != 0;
}
