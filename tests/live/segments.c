/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Out of one raw socket and into another; frames are those of pkt.h, less their Ethernet header. */
#include "segments.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pkt.h"
#include "util.h"

#define MARK 1
#define MARK_TEXT "1"

const char segments_quiet[] = "nft 'add table inet quiet; "
			      "add chain inet quiet out { type filter hook output priority 0; }; "
			      "add rule inet quiet out tcp sport " SEGMENTS_PORTS
			      " meta mark != " MARK_TEXT " tcp flags & rst != 0 drop'";

bool segments_open(struct segments *segments)
{
	const int mark = MARK;

	segments->out = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	segments->in = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP);
	return segments->out >= 0 && segments->in >= 0 &&
	       setsockopt(segments->out, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) == 0;
}

void segments_close(struct segments *segments)
{
	fd_release(&segments->out);
	fd_release(&segments->in);
}

bool segments_send(const struct segments *segments, const struct segment *segment)
{
	const struct pkt_spec spec = {
		.from = segments->from,
		.to = segments->to,
		.sport = segments->port,
		.dport = segments->to_port,
		.flags = segment->flags,
		.sequence = segment->sequence,
		.acknowledgment = segment->acknowledgment,
		.mss = segment->flags & SEGMENT_SYN ? 1460 : 0,
		.body = segment->body,
		.body_size = segment->body ? strlen(segment->body) : 0,
	};
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct pkt_frame frame;
	size_t size;

	pkt_build(&spec, &frame);
	size = frame.size - frame.l3;
	(void)inet_pton(AF_INET, segments->to, &to.sin_addr); /* it is an address */
	return sendto(segments->out, frame.bytes + frame.l3, size, 0, (const struct sockaddr *)&to,
		      sizeof(to)) == (ssize_t)size;
}

static uint32_t word_at(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return ntohl(word);
}

/* Whether the packet, IPv4 without options, is for the client. */
static bool is_ours(const struct segments *segments, const uint8_t *packet, size_t size)
{
	const uint8_t *tcp = packet + 20;

	return size >= 40 && packet[0] == 0x45 && (tcp[0] << 8 | tcp[1]) == segments->to_port &&
	       (tcp[2] << 8 | tcp[3]) == segments->port;
}

bool segments_await(const struct segments *segments, uint8_t flags, int bound_ms,
		    struct segment *ret_segment)
{
	struct pollfd readable = { .fd = segments->in, .events = POLLIN };
	uint8_t packet[2048];
	ssize_t n;

	while (poll(&readable, 1, bound_ms) == 1) {
		n = recv(segments->in, packet, sizeof(packet), 0);
		if (n <= 0 || !is_ours(segments, packet, (size_t)n) ||
		    (packet[33] & flags) != flags)
			continue;
		*ret_segment = (struct segment){
			.flags = packet[33],
			.sequence = word_at(packet + 24),
			.acknowledgment = word_at(packet + 28),
			.size = (unsigned int)(n - 20 - (packet[32] >> 4) * 4),
		};
		return true;
	}
	return false;
}
