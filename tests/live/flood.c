/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SYNs from forged sources, as fast as one process can send them. Sources come in groups: each
 * sends a few dozen SYNs and is never heard of again, so that at any moment some clients are new,
 * some are spending, and some are refused.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "faults.h"
#include "util.h"

#define FIRST_SOURCE 0x0a4e0001U /* 10.78.0.1 */
#define FORGED_MAX (1U << 17)	 /* 10.78.0.0/15 */

struct syn {
	struct iphdr ip;
	struct tcphdr tcp;
};

static volatile sig_atomic_t stop;

static void on_stop(int number)
{
	(void)number;
	stop = 1;
}

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

static struct syn make_syn(const struct live_forged *forged, uint32_t source, uint32_t number)
{
	struct syn syn = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP },
		.tcp = { .doff = 5, .syn = 1, .dest = htons(forged->port) },
	};

	syn.ip.saddr = htonl(forged->first + source);
	(void)inet_pton(AF_INET, SERVER_IPV4, &syn.ip.daddr); /* it is an address */
	syn.ip.tot_len = htons(sizeof(syn));
	syn.tcp.source = htons((uint16_t)(1024 + number));
	syn.tcp.seq = htonl(number * 2654435761U);
	syn.tcp.window = htons(1024);
	syn.tcp.check = checksum(&syn);
	return syn;
}

struct flood {
	const struct live_forged *forged;
	int fd;
	struct live_flooded flooded;
};

/* One SYN of each source of a group. */
static void send_group(struct flood *flood, uint32_t first, uint32_t number)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct mmsghdr messages[LIVE_FLOOD_GROUP] = {};
	struct iovec parts[LIVE_FLOOD_GROUP];
	struct syn syns[LIVE_FLOOD_GROUP];
	int n;

	(void)inet_pton(AF_INET, SERVER_IPV4, &to.sin_addr); /* as above */
	for (uint32_t i = 0; i < LIVE_FLOOD_GROUP; i++) {
		syns[i] = make_syn(flood->forged, first + i, number);
		parts[i] = (struct iovec){ &syns[i], sizeof(syns[i]) };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &to,
			.msg_namelen = sizeof(to),
			.msg_iov = &parts[i],
			.msg_iovlen = 1,
		};
	}
	n = sendmmsg(flood->fd, messages, LIVE_FLOOD_GROUP, 0);
	flood->flooded.syns += n > 0 ? (uint64_t)n : 0;
}

/*
 * Ends between two groups, so that every source has sent all its SYNs. Where all have, the last
 * group goes on: one that came back later may have had to make room, and begin anew.
 */
static void run_flood(struct flood *flood)
{
	uint32_t first = 0;

	while (!stop) {
		for (uint32_t number = 0; number < LIVE_FLOOD_SYNS; number++)
			send_group(flood, first, number);
		flood->flooded.sources = first + LIVE_FLOOD_GROUP;
		if (flood->flooded.sources < FORGED_MAX)
			first += LIVE_FLOOD_GROUP;
	}
}

/* All sources in turn, again and again. */
static void run_turns(struct flood *flood)
{
	flood->flooded.sources = flood->forged->sources;
	for (uint32_t number = 0; !stop; number++) {
		for (uint32_t first = 0; first < flood->forged->sources; first += LIVE_FLOOD_GROUP)
			send_group(flood, first, number);
	}
}

__attribute__((noreturn)) static void flood_child(int netns, const struct live_forged *forged,
						  int out)
{
	struct flood flood = { .forged = forged };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGTERM, on_stop);
	(void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE); /* only the test takes longer */
	if (setns(netns, CLONE_NEWNET) < 0)
		_exit(1);
	flood.fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (flood.fd < 0)
		_exit(1);
	if (forged->sources)
		run_turns(&flood);
	else
		run_flood(&flood);
	_exit(write(out, &flood.flooded, sizeof(flood.flooded)) != sizeof(flood.flooded));
}

bool live_forge_begin(const struct live *live, const struct live_forged *forged,
		      struct live_background *ret_background)
{
	int ends[2];
	pid_t pid;

	if (!CHECK("the flood gets a pipe", pipe(ends) == 0))
		return false;
	pid = fork();
	if (pid == 0)
		flood_child(live->netns[LIVE_CLIENT], forged, ends[1]);
	close(ends[1]);
	*ret_background = (struct live_background){ .pid = pid, .result = ends[0] };
	return CHECK("the flood begins", pid > 0);
}

/* Answers to the sources go to the client's side, where they end. */
bool live_flood_begin(const struct live *live, struct live_background *ret_background)
{
	const struct live_forged forged = { .first = FIRST_SOURCE, .port = PORT_FLOOD };

	live_shell(live, LIVE_SERVER, "ip route add 10.78.0.0/15 via " CLIENT_ONE);
	return live_forge_begin(live, &forged, ret_background);
}

bool live_flood_end(struct live_background *background, struct live_flooded *ret_flooded)
{
	int status = process_end(background->pid, SIGTERM);
	ssize_t n = read(background->result, ret_flooded, sizeof(*ret_flooded));

	close(background->result);
	background->pid = 0;
	return CHECK("the flood says what it sent",
		     WIFEXITED(status) && WEXITSTATUS(status) == 0 && n == sizeof(*ret_flooded));
}
