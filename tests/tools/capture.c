/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capture CLIENTS PACKETS RATE [LINK]: writes a capture of SYNs to 10.77.0.1 port 80 to the
 * standard output: of CLIENTS clients in turn, from 10.78.0.0 on, RATE packets a second. LINK is
 * ethernet (default), vlan, cooked, cooked2 or raw.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define BEGIN_SECONDS 1767225600 /* an hour's beginning */
#define NS_PER_SECOND 1000000000ULL

static const struct link {
	const char *name;
	uint32_t number; /* in the file */
	uint8_t header[20];
	size_t size;
} links[] = {
	{ "ethernet", 1, { [12] = 0x08 }, 14 },
	{ "vlan", 1, { [12] = 0x81, [15] = 5, [16] = 0x08 }, 18 },
	{ "cooked", 113, { [3] = 1, [14] = 0x08 }, 16 },
	{ "cooked2", 276, { [0] = 0x08, [9] = 1 }, 20 },
	{ "raw", 101, { 0 }, 0 },
};

static const struct link *find_link(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (strcmp(links[i].name, name) == 0)
			return &links[i];
	}
	fprintf(stderr, "capture: no link '%s'\n", name);
	exit(2);
}

static void put(const void *bytes, size_t size)
{
	if (size && fwrite(bytes, size, 1, stdout) != 1) {
		perror("capture");
		exit(1);
	}
}

static void put_packet(const struct link *link, uint64_t number, uint32_t client, uint64_t time)
{
	struct iphdr ip = { .version = 4,
			    .ihl = 5,
			    .ttl = 64,
			    .protocol = IPPROTO_TCP,
			    .tot_len = htons(sizeof(ip) + sizeof(struct tcphdr)),
			    .saddr = htonl(0x0a4e0000 + client),
			    .daddr = htonl(0x0a4d0001) };
	struct tcphdr tcp = { .source = htons((uint16_t)(1024 + number % 60000)),
			      .dest = htons(80),
			      .seq = htonl((uint32_t)number * 2654435761U),
			      .doff = 5,
			      .syn = 1 };
	uint32_t size = (uint32_t)(link->size + sizeof(ip) + sizeof(tcp));
	uint32_t header[4] = { (uint32_t)(BEGIN_SECONDS + time / NS_PER_SECOND),
			       (uint32_t)(time % NS_PER_SECOND), size, size };

	put(header, sizeof(header));
	put(link->header, link->size);
	put(&ip, sizeof(ip));
	put(&tcp, sizeof(tcp));
}

int main(int argc, char **argv)
{
	const struct link *link = find_link(argc > 4 ? argv[4] : "ethernet");
	uint32_t file[6] = { 0xa1b23c4d, 0x00040002, 0, 0, 65535, link->number };
	uint64_t n_packets, rate;
	uint32_t n_clients;

	if (argc < 4 || argc > 5) {
		fputs("usage: capture CLIENTS PACKETS RATE [LINK]\n", stderr);
		return 2;
	}
	n_clients = (uint32_t)strtoul(argv[1], NULL, 10);
	n_packets = strtoull(argv[2], NULL, 10);
	rate = strtoull(argv[3], NULL, 10);
	if (n_clients == 0 || rate == 0) {
		fputs("capture: CLIENTS and RATE are at least 1\n", stderr);
		return 2;
	}
	put(file, sizeof(file));
	for (uint64_t i = 0; i < n_packets; i++)
		put_packet(link, i, (uint32_t)(i % n_clients), i * NS_PER_SECOND / rate);
	if (fflush(stdout) == EOF) {
		perror("capture");
		return 1;
	}
	return 0;
}
