/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libpcap reads the file; what is not Ethernet gets a header of it, with the protocol that the
 * capture's own header names. Cooked captures tell in which direction a packet went.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "capture.h"
#include "util.h"

#define COOKED_OUTGOING 4
#define NANOSECOND_DIGITS 1000000000ULL

struct capture {
	pcap_t *pcap;
	FILE *file;
	int link;
	uint8_t frame[CAPTURE_FRAME_MAX];
};

/* A link layer's header: its size, and where it says what. -1: it does not. */
struct capture_link {
	int link;
	uint32_t size;
	int protocol, direction;
	bool is_wide; /* the direction takes two bytes */
};

static const struct capture_link links[] = {
	{ DLT_EN10MB, 0, -1, -1, false },     { DLT_LINUX_SLL, 16, 14, 0, true },
	{ DLT_LINUX_SLL2, 20, 0, 10, false }, { DLT_RAW, 0, -1, -1, false },
	{ DLT_IPV4, 0, -1, -1, false },	      { DLT_IPV6, 0, -1, -1, false },
};

static const struct capture_link *find_link(int link)
{
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (links[i].link == link)
			return &links[i];
	}
	return NULL;
}

int capture_open(const char *path, struct capture **ret_capture,
		 char ret_reason[CAPTURE_REASON_SIZE])
{
	char reason[PCAP_ERRBUF_SIZE];
	struct capture *capture = calloc(1, sizeof(*capture));
	const char *name;

	if (!capture) {
		snprintf(ret_reason, CAPTURE_REASON_SIZE, "%s", strerror(ENOMEM));
		return -1;
	}
	capture->pcap =
		pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, reason);
	if (!capture->pcap) {
		snprintf(ret_reason, CAPTURE_REASON_SIZE, "%s", reason);
		free(capture);
		return -1;
	}
	capture->file = pcap_file(capture->pcap);
	capture->link = pcap_datalink(capture->pcap);
	if (!find_link(capture->link)) {
		name = pcap_datalink_val_to_name(capture->link);
		snprintf(ret_reason, CAPTURE_REASON_SIZE,
			 "found link type %s, expected Ethernet, a Linux cooked capture or raw IP",
			 name ? name : "of an unknown number");
		capture_close(capture);
		return -1;
	}
	*ret_capture = capture;
	return 0;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	pcap_close(capture->pcap);
	free(capture);
}

static uint16_t read_word(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* Puts Ethernet's header before what the link layer carries. */
static void make_frame(struct capture *capture, const uint8_t *bytes, uint32_t size,
		       struct capture_packet *packet)
{
	const struct capture_link *link = find_link(capture->link);
	struct ethhdr ethernet = {};
	uint32_t room = CAPTURE_FRAME_MAX - sizeof(ethernet);

	if (size < link->size) {
		packet->is_cut = true;
		size = link->size;
	} else if (link->direction >= 0) {
		packet->is_outgoing = bytes[link->direction + (link->is_wide ? 1 : 0)] ==
				      COOKED_OUTGOING;
	}
	if (packet->is_cut && size == link->size)
		ethernet.h_proto = 0;
	else if (link->protocol >= 0)
		ethernet.h_proto = htons(read_word(bytes + link->protocol));
	else
		ethernet.h_proto = htons(size && bytes[0] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP);
	size -= link->size;
	size = size < room ? size : room;
	memcpy(capture->frame, &ethernet, sizeof(ethernet));
	memcpy(capture->frame + sizeof(ethernet), bytes + link->size, size);
	packet->size = (uint32_t)sizeof(ethernet) + size;
}

int capture_next(struct capture *capture, struct capture_packet *ret_packet,
		 char ret_reason[CAPTURE_REASON_SIZE])
{
	struct capture_packet packet = { .frame = capture->frame };
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	int result = pcap_next_ex(capture->pcap, &header, &bytes);
	long position;

	if (result == PCAP_ERROR_BREAK)
		return 0;
	if (result != 1) {
		snprintf(ret_reason, CAPTURE_REASON_SIZE, "%s", pcap_geterr(capture->pcap));
		return -1;
	}
	packet.time =
		(uint64_t)header->ts.tv_sec * NANOSECOND_DIGITS + (uint64_t)header->ts.tv_usec;
	packet.is_cut = header->caplen < header->len;
	if (capture->link == DLT_EN10MB) {
		packet.size = header->caplen < CAPTURE_FRAME_MAX ? header->caplen
								 : CAPTURE_FRAME_MAX;
		memcpy(capture->frame, bytes, packet.size);
	} else {
		make_frame(capture, bytes, header->caplen, &packet);
	}
	position = capture->file ? ftell(capture->file) : -1;
	packet.position = position > 0 ? (uint64_t)position : 0;
	*ret_packet = packet;
	return 1;
}
