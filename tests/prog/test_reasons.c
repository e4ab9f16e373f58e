/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every exit of the pipeline, in IPv4 and IPv6, without a VLAN tag, with one, and with two. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "connection.h"
#include "prog.h"

enum port {
	PORT_NOBODY = 79,
	PORT_OPEN = 81,
	PORT_PLENTY = 82,
	PORT_ONE = 83,
	PORT_COUNTING = 84,
	PORT_CROWDED = 85,
	PORT_LOST = 86,
	PORT_QUEUED = 87,
	PORT_TALKING = 88,
	PORT_WAITING = 89,
	PORT_EVICTING = 90,
	PORT_ECHO = 7,
};

static const char config[] =
	"blocked: [198.51.100.0/24, '2001:db8:a::/48']\n"
	"trusted: [" CLIENT_TWO ", '" CLIENT_TWO_V6 "']\n"
	"rate_limiters:\n"
	"  plenty: {limit: 1000000, window: 1h}\n"
	"  one: {keys: [], limit: 1, window: 1h}\n"
	"  counting: {keys: [], limit: 1, window: 1h, action: count}\n"
	"  crowded: {limit: 1000, window: 1h, max_keys: 1, max_keys_action: reject}\n"
	"  lost: {limit: 1, window: 1h}\n"
	"  talking: {keys: [], limit: 1, window: 1h}\n"
	"  waiting: {keys: [], algorithm: concurrency, limit: 1, queue: 99}\n"
	"  evicting: {keys: [], algorithm: concurrency, limit: 1}\n"
	"  session: {keys: [], limit: 1, window: 1h, unit: sessions}\n"
	"  session-six: {keys: [], limit: 1, window: 1h, unit: sessions}\n"
	"listeners:\n"
	"  open: {protocol: tcp, ports: [81]}\n"
	"  plenty: {protocol: tcp, ports: [82], rate_limiter_name: plenty}\n"
	"  one: {protocol: tcp, ports: [83], rate_limiter_name: one}\n"
	"  counting: {protocol: tcp, ports: [84], rate_limiter_name: counting}\n"
	"  crowded: {protocol: tcp, ports: [85], rate_limiter_name: crowded}\n"
	"  lost: {protocol: tcp, ports: [86], rate_limiter_name: lost}\n"
	"  queued: {protocol: tcp, ports: [87], accept_queue_limit: 80%}\n"
	"  talking: {protocol: tcp, ports: [88], app_protocol: http, rate_limiter_name: talking}\n"
	"  waiting: {protocol: tcp, ports: [89], rate_limiter_name: waiting}\n"
	"  evicting: {protocol: tcp, ports: [90], rate_limiter_name: evicting, "
	"on_limit: evict-idle}\n"
	"  echo: {protocol: udp, ports: [7], rate_limiter_name: session}\n"
	"  echo-six: {protocol: udp, addresses: ['" SERVER_ONE_V6 "'], ports: [7], "
	"rate_limiter_name: session-six}\n";

static const char config_disabled[] = "enabled: false\n"
				      "blocked: [198.51.100.0/24, '2001:db8:a::/48']\n"
				      "rate_limiters: {one: {keys: [], limit: 1, window: 1h}}\n"
				      "listeners: {one: {protocol: tcp, rate_limiter_name: one}}\n";

static const char config_unattended[] = "watchdog: {after: 10s, then: pass}\n"
					"blocked: [198.51.100.0/24, '2001:db8:a::/48']\n"
					"listeners: {one: {protocol: tcp}}\n";

#define ETHERTYPE_ARP 0x0806
#define SEQUENCE_REPEATED 77

static const struct row {
	const char *what;
	const char *want;
	struct pkt_spec spec;
	const char *from[2]; /* IPv4, IPv6 */
	bool only_ipv6;
	bool disabled;	 /* under another configuration */
	bool unattended; /* under a third */
	bool three_tags;
	bool of_a_socket; /* the SYN of the connection that is there */
	bool elsewhere;	  /* its rows are in the file that it names */
	bool of_a_talk;	  /* acknowledges the answer to a SYN that is refused just before */
} rows[_STILE_REASON_MAX] = {
	[STILE_REASON_NOT_IP] = {
		.what = "what is not IP passes",
		.want = "pass not_ip",
		.spec = { .type = ETHERTYPE_ARP },
	},
	[STILE_REASON_TRUNCATED] = {
		.what = "a TCP header without its last byte passes",
		.want = "pass truncated",
		.spec = { .dport = PORT_ONE, .cut = 1 },
	},
	[STILE_REASON_FRAGMENT] = {
		.what = "a fragment that is not the first passes",
		.want = "pass fragment",
		.spec = { .extensions = { PKT_FRAGMENT }, .fragment = 3, .payload = 40 },
	},
	[STILE_REASON_EXT_HEADER] = {
		.what = "extension headers that go on for too long are dropped",
		.want = "drop ext_header",
		.spec = { .extensions = { PKT_DESTINATION_LONG, PKT_DESTINATION_LONG,
					  PKT_DESTINATION } },
		.only_ipv6 = true,
	},
	[STILE_REASON_NOT_TRANSPORT] = {
		.what = "SCTP passes",
		.want = "pass not_transport",
		.spec = { .protocol = IPPROTO_SCTP, .payload = 32, .dport = PORT_ONE },
	},
	[STILE_REASON_TINY_FRAGMENT] = {
		.what = "a first fragment that ends within the TCP header is dropped",
		.want = "drop tiny_fragment",
		.spec = { .dport = PORT_ONE,
			  .extensions = { PKT_FRAGMENT },
			  .more = true,
			  .cut = 12 },
	},
	[STILE_REASON_MARTIAN] = {
		.what = "an IPv6 source that is an IPv4 client's passes",
		.want = "pass martian",
		.spec = { .dport = PORT_ONE },
		.from = { NULL, CLIENT_MAPPED },
		.only_ipv6 = true,
	},
	[STILE_REASON_BLOCKED] = {
		.what = "a source on the blocked list is dropped",
		.want = "drop blocked",
		.spec = { .dport = PORT_OPEN },
		.from = { CLIENT_FAR, CLIENT_FAR_V6 },
	},
	[STILE_REASON_UNPROTECTED] = {
		.what = "a port that no listener names passes",
		.want = "pass unprotected",
		.spec = { .dport = PORT_NOBODY },
	},
	[STILE_REASON_BAD_FLAGS] = {
		.what = "SYN and FIN together are dropped",
		.want = "drop bad_flags",
		.spec = { .dport = PORT_OPEN, .flags = PKT_SYN | PKT_FIN },
	},
	[STILE_REASON_ESTABLISHED] = {
		.what = "an ACK at a listener that refuses SYNs passes",
		.want = "pass established",
		.spec = { .dport = PORT_ONE, .flags = PKT_ACK },
	},
	[STILE_REASON_EXEMPT] = {
		.what = "a trusted source passes, and the limiter notes it",
		.want = "pass exempt one/one=exempt",
		.spec = { .dport = PORT_ONE },
		.from = { CLIENT_TWO, CLIENT_TWO_V6 },
	},
	[STILE_REASON_UNLIMITED] = {
		.what = "a listener without a limiter lets pass",
		.want = "pass unlimited",
		.spec = { .dport = PORT_OPEN },
	},
	[STILE_REASON_REPEATED] = {
		.what = "a SYN again, while its socket is there, is free of charge",
		.want = "pass repeated",
		.of_a_socket = true,
	},
	[STILE_REASON_ALLOWED] = {
		.what = "a SYN within the limit passes",
		.want = "pass allowed plenty/plenty=allowed",
		.spec = { .dport = PORT_PLENTY },
	},
	[STILE_REASON_COUNTED] = {
		.what = "over the limit, action count lets pass and counts",
		.want = "pass counted counting/counting=counted",
		.spec = { .dport = PORT_COUNTING },
	},
	[STILE_REASON_LIMITED] = {
		.what = "over the limit, a SYN is reset",
		.want = "reply limited one/one=limited reset",
		.spec = { .dport = PORT_ONE },
	},
	[STILE_REASON_FULL] = {
		.what = "a new client that finds no room is reset",
		.want = "reply full crowded/crowded=full (crowded: found no room) reset",
		.spec = { .dport = PORT_CROWDED },
	},
	[STILE_REASON_NO_TABLE] = {
		.what = "a limiter whose table is missing lets pass",
		.want = "pass no_table",
		.spec = { .dport = PORT_LOST },
	},
	[STILE_REASON_DISABLED] = {
		.what = "switched off, Stile lets even the blocked pass",
		.want = "pass disabled",
		.from = { CLIENT_FAR, CLIENT_FAR_V6 },
		.disabled = true,
	},
	[STILE_REASON_UNATTENDED] = {
		.what = "where the watchdog bites, even the blocked pass",
		.want = "pass unattended",
		.from = { CLIENT_FAR, CLIENT_FAR_V6 },
		.unattended = true,
	},
	[STILE_REASON_MALFORMED] = {
		.what = "a TCP header that is said to have four bytes is dropped",
		.want = "drop malformed",
		.spec = { .dport = PORT_ONE, .short_header = true },
	},
	[STILE_REASON_VLAN_TAGS] = {
		.what = "more than two tags are dropped",
		.want = "drop vlan_tags",
		.spec = { .dport = PORT_ONE },
		.three_tags = true,
	},
	[STILE_REASON_SESSION] = {
		.what = "another datagram of a session passes",
		.want = "pass session",
		.spec = { .protocol = IPPROTO_UDP, .dport = PORT_ECHO, .sport = 1 },
	},
	[STILE_REASON_BUSY] = {
		.what = "a refused client that has connected and says nothing is not answered",
		.want = "drop busy",
		.spec = { .dport = PORT_TALKING },
		.of_a_talk = true,
	},
	[STILE_REASON_HELD] = {
		.what = "another datagram of a session that was refused is dropped",
		.want = "drop held",
		.spec = { .protocol = IPPROTO_UDP, .dport = PORT_ECHO, .sport = 2 },
	},
	[STILE_REASON_WAITING] = {
		.what = "a SYN waits for the one place there is",
		.want = "drop waiting",
		.spec = { .dport = PORT_WAITING },
	},
	[STILE_REASON_EVICTING] = {
		.what = "a SYN is to come again when a connection of its client is closed",
		.want = "drop evicting evicting/evicting=limited",
		.spec = { .dport = PORT_EVICTING },
	},
	[STILE_REASON_CHALLENGED] = { .what = "test_prove.c", .elsewhere = true },
	[STILE_REASON_UNPROVEN] = { .what = "test_prove.c", .elsewhere = true },
	[STILE_REASON_ACCEPT_QUEUE] = {
		.what = "a SYN that the accept queue has no room for is reset",
		.want = "reply accept_queue reset",
		.spec = { .dport = PORT_QUEUED },
	},
};

static struct {
	struct prog prog, disabled, unattended;
	struct connection connections[2], crowd;
} world = { .connections = { { -1, -1, -1, false, 0, 0 }, { -1, -1, -1, false, 0, 0 } },
	    .crowd = { -1, -1, -1, false, 0, 0 } };

/* Six clients fill the one set of a table for one client. */
static void fill_crowded(void)
{
	char from[32];

	for (int i = 1; i <= STILE_SET_WAYS; i++) {
		snprintf(from, sizeof(from), "192.0.2.%d", 100 + i);
		CHECK_STR_EQ("a client takes the room there is",
			     prog_send(&world.prog,
				       &(struct pkt_spec){ .from = from, .dport = PORT_CROWDED }),
			     "pass allowed crowded/crowded=allowed");
	}
}

/* One that is let in and one that is refused, over IPv4 and over IPv6. */
static void open_sessions(void)
{
	for (int i = 0; i < 4; i++)
		CHECK_EQ("a limit of one session lets one in",
			 prog_passing(&world.prog,
				      &(struct pkt_spec){ .protocol = IPPROTO_UDP,
							  .dport = PORT_ECHO,
							  .sport = (uint16_t)(1 + i / 2),
							  .ipv6 = i % 2 },
				      1),
			 i < 2);
}

/* The clients of both families hold a connection, and another one has the only place. */
static void hold_places(void)
{
	struct stile_holder_key key = { .listener = 0 };
	const struct stile_holder holder = { 1 };
	int map = prog_map(&world.prog, "holders");

	(void)prog_send(&world.prog, &(struct pkt_spec){ .dport = PORT_WAITING, .sport = 1 });
	(void)prog_send(&world.prog, &(struct pkt_spec){ .dport = PORT_EVICTING, .sport = 1 });
	for (int i = 1; i < STILE_LISTENERS_MAX; i++)
		if (strcmp(world.prog.policy.kernel.listeners[i].name, "evicting") == 0)
			key.listener = world.prog.policy.kernel.listeners[i].serial;
	CHECK_EQ("an address", prefix_parse_address(CLIENT_ONE, key.address), 0);
	CHECK_EQ("it holds one", bpf_map_update_elem(map, &key, &holder, BPF_ANY), 0);
	CHECK_EQ("an address", prefix_parse_address(CLIENT_ONE_V6, key.address), 0);
	memset(key.address + 8, 0, 8);
	CHECK_EQ("it holds one", bpf_map_update_elem(map, &key, &holder, BPF_ANY), 0);
}

static bool prepare(void)
{
	uint32_t lost;

	if (!prog_load(&world.prog, config, PROG_NOW) ||
	    !prog_load(&world.disabled, config_disabled, PROG_NOW) ||
	    !prog_load(&world.unattended, config_unattended, PROG_NOW))
		return false;
	prog_heartbeat(&world.unattended, PROG_NOW - 11 * NSEC_PER_SEC);
	(void)prog_send(&world.prog, &(struct pkt_spec){ .dport = PORT_ONE });
	(void)prog_send(&world.prog, &(struct pkt_spec){ .dport = PORT_COUNTING });
	(void)prog_send(&world.prog, &(struct pkt_spec){ .dport = PORT_TALKING });
	hold_places();
	fill_crowded();
	open_sessions();
	CHECK_EQ("an accept queue is full", connection_crowd(&world.crowd, PORT_QUEUED), 0);
	lost = prog_limiter(&world.prog, "lost");
	CHECK_EQ("a limiter loses its table",
		 bpf_map_delete_elem(prog_map(&world.prog, "limiters"), &lost), 0);
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct connection *connection = &world.connections[ipv6];
		struct pkt_spec syn;

		CHECK_EQ("a connection is opened", connection_open(connection, ipv6, PORT_PLENTY),
			 0);
		syn = connection_syn(connection, SEQUENCE_REPEATED);
		CHECK_STR_EQ("its first SYN is charged", prog_send(&world.prog, &syn),
			     "pass allowed plenty/plenty=allowed");
	}
	return true;
}

/* What follows on the SYN-ACK of Stile's that @spec as a SYN gets. */
static void talk(struct pkt_spec *spec)
{
	uint32_t sequence;

	CHECK_STR_EQ("a SYN over the limit gets a cookie", prog_send(&world.prog, spec),
		     "reply limited talking/talking=limited cookie");
	memcpy(&sequence, world.prog.back.bytes + world.prog.sent.l4 + 4, sizeof(sequence));
	spec->flags = PKT_ACK;
	spec->acknowledgment = ntohl(sequence) + 1;
}

static void check_row(const struct row *row, int ipv6, uint8_t vlans)
{
	struct prog *prog = row->disabled     ? &world.disabled
			    : row->unattended ? &world.unattended
					      : &world.prog;
	struct pkt_spec spec = row->spec;
	char what[160];

	if (row->of_a_socket)
		spec = connection_syn(&world.connections[ipv6], SEQUENCE_REPEATED);
	else
		spec.from = row->from[ipv6];
	spec.ipv6 = ipv6;
	if (row->of_a_talk)
		talk(&spec);
	spec.vlans = row->three_tags ? PKT_VLANS_MAX : vlans;
	snprintf(what, sizeof(what), "%s (IPv%d, %d tags)", row->what, ipv6 ? 6 : 4, vlans);
	CHECK_STR_EQ(what, prog_send(prog, &spec), row->want);
}

static void test_every_reason(void)
{
	if (!prepare())
		return;
	for (int reason = 0; reason < _STILE_REASON_MAX; reason++) {
		CHECK("the reason has a row", rows[reason].what);
		if (rows[reason].elsewhere)
			continue;
		for (int ipv6 = rows[reason].only_ipv6; ipv6 < 2 && rows[reason].what; ipv6++)
			for (uint8_t vlans = 0; vlans <= 2; vlans++)
				check_row(&rows[reason], ipv6, vlans);
	}
}

static int clean_up(void)
{
	connection_close(&world.crowd);
	connection_close(&world.connections[0]);
	connection_close(&world.connections[1]);
	prog_unload(&world.prog);
	prog_unload(&world.disabled);
	prog_unload(&world.unattended);
	return 0;
}

CHECK_SUITE_WITH(reasons, NULL, clean_up, { "every reason", test_every_reason });
