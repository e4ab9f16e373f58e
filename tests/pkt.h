/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames built from a few words: who sends what to whom, behind which headers. Checksums are
 * right, and made byte by byte, with nothing of bpf/, so that answers can be held against them.
 */
#ifndef STILE_PKT_H
#define STILE_PKT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>

/* Documentation addresses (RFC 5737, RFC 3849). ONE and TWO are of one /24, and of one /64. */
#define CLIENT_ONE "192.0.2.9"
#define CLIENT_TWO "192.0.2.10"
#define CLIENT_FAR "198.51.100.9"
#define SERVER_ONE "203.0.113.1"
#define SERVER_TWO "203.0.113.2"
#define CLIENT_ONE_V6 "2001:db8:9::9"
#define CLIENT_TWO_V6 "2001:db8:9::10"
#define CLIENT_FAR_V6 "2001:db8:a::9"
#define SERVER_ONE_V6 "2001:db8::1"
#define SERVER_TWO_V6 "2001:db8::2"
#define CLIENT_MAPPED "::ffff:" CLIENT_ONE /* as the source of an IPv6 packet */

#define CLIENT_PORT 40000

#define PKT_SIZE_MAX 3500 /* what BPF_PROG_TEST_RUN takes in one piece */
#define PKT_VLANS_MAX 3
#define PKT_EXTENSIONS_MAX 12
#define PKT_HOPS 64 /* of answers; built requests have another number */

enum pkt_flag {
	PKT_FIN = 1,
	PKT_SYN = 2,
	PKT_RST = 4,
	PKT_PSH = 8,
	PKT_ACK = 16,
	PKT_URG = 32,
	PKT_ECE = 64,
	PKT_CWR = 128,
	PKT_NO_FLAGS = 256,
};

/* IPv6 extension headers (RFC 8200, 4; AH: RFC 4302). */
enum pkt_extension {
	PKT_NO_EXTENSION, /* ends a list */
	PKT_HOP_BY_HOP,
	PKT_ROUTING,
	PKT_DESTINATION,
	PKT_DESTINATION_LONG, /* 1024 bytes */
	PKT_AH,
	PKT_FRAGMENT, /* the whole packet in one piece (RFC 6946), or as .fragment and .more say */
	PKT_NO_NEXT,  /* nothing follows */
	PKT_AH_CUT,   /* claims to be longer than the frame */
	PKT_ROUTING_CUT, /* the same */
};

/* What to build; what is left out has the value in brackets. */
struct pkt_spec {
	const char *from, *to; /* as text [CLIENT_ONE, SERVER_ONE] */
	bool ipv6;	       /* for those that are left out */
	uint16_t sport, dport; /* [CLIENT_PORT, 80] */
	uint8_t protocol;      /* IPPROTO_... [TCP] */
	uint16_t flags;	       /* TCP [PKT_SYN] */
	uint32_t sequence, acknowledgment;
	uint8_t tcp_options;		 /* bytes, in fours */
	const uint8_t *tcp_option_bytes; /* what they are [no operations] */
	uint16_t window;		 /* [64240; of an answer 0] */
	bool no_window;			 /* 0 */
	uint16_t mss;			 /* an option behind the others; 0: none */
	bool short_header;		 /* the TCP header says that it has four bytes */
	uint16_t payload;		 /* bytes behind the TCP or UDP header */
	uint8_t vlans;			 /* tags: 1 is 802.1Q, 2 is 802.1ad around it, 3 one more */
	uint8_t ip_options;		 /* bytes of IPv4 options, in fours, to 40 */
	enum pkt_extension extensions[PKT_EXTENSIONS_MAX];
	uint16_t fragment; /* its offset, in eights: no TCP or UDP header, .payload bytes instead */
	bool more;	   /* more fragments follow */
	uint16_t type;	   /* EtherType [that of the address family] */
	bool group;	   /* to a multicast MAC address */
	bool answer;	   /* from the server's MAC, and with the IP header of an answer */
	/* ICMP: behind the first eight bytes, which say port unreachable; otherwise the payload. */
	const void *body;
	size_t body_size;
	size_t cut; /* bytes taken off the frame's end, whatever its headers say */
};

struct pkt_frame {
	uint8_t bytes[PKT_SIZE_MAX];
	size_t size;
	size_t l3, l4; /* offsets of the IP header, and of what follows it and its extensions */
};

/* A mistake in @spec is one in the test: it ends the program with a word on it. */
void pkt_build(const struct pkt_spec *spec, struct pkt_frame *ret_frame);

/* RFC 1071, added up by bytes; @sum: what comes before, or 0. */
uint32_t pkt_sum(uint32_t sum, const void *bytes, size_t size);
uint16_t pkt_checksum(uint32_t sum);

#endif /* STILE_PKT_H */
