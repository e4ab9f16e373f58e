/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The socket keeps its errors in a queue (IP_RECVERR): without it several refusals that come
 * between two calls are reported as one.
 */
#include "ping.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/errqueue.h>

#define NSEC_PER_MSEC 1000000ULL

struct request {
	uint32_t number;
	uint32_t magic;
};

struct ping {
	const struct ping_plan *plan;
	struct ping_result result;
	uint64_t *sent_at; /* ns, by number; 0: accounted for */
	uint32_t magic;
	int fd;
};

static int ping_open(struct ping *ping)
{
	const struct ping_plan *plan = ping->plan;
	struct endpoint source;
	const int on = 1;

	if (plan->sources.total)
		sources_pick(&plan->sources, 0, &source);
	ping->fd = endpoint_socket(&plan->target, plan->sources.total ? &source : NULL, SOCK_DGRAM);
	if (ping->fd < 0)
		return ping->fd;
	if (connect(ping->fd, (const struct sockaddr *)&plan->target.address, plan->target.length))
		return -errno;
	if (plan->target.address.ss_family == AF_INET6)
		return setsockopt(ping->fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on)) ? -errno
											 : 0;
	return setsockopt(ping->fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) ? -errno : 0;
}

static int ping_send(struct ping *ping, uint32_t number)
{
	struct request request = { .number = number, .magic = ping->magic };
	ssize_t n;

	ping->sent_at[number] = sample_now();
	do { /* a pending refusal is reported in place of sending, once; it is in the queue too */
		n = send(ping->fd, &request, sizeof(request), 0);
	} while (n < 0 && (errno == ECONNREFUSED || errno == EINTR));
	if (n != sizeof(request))
		return n < 0 ? -errno : -EIO;
	ping->result.sent++;
	return 0;
}

/* Takes one request off the books; false where it is none of ours, or not for the first time. */
static bool ping_settle(struct ping *ping, const struct request *request, uint64_t *ret_sent_at)
{
	if (request->magic != ping->magic || request->number >= ping->plan->count ||
	    ping->sent_at[request->number] == 0)
		return false;
	*ret_sent_at = ping->sent_at[request->number];
	ping->sent_at[request->number] = 0;
	return true;
}

static bool ping_read_answer(struct ping *ping)
{
	struct request request;
	uint64_t sent_at;
	ssize_t n = recv(ping->fd, &request, sizeof(request), 0);

	if (n < 0)
		return false;
	if (n != sizeof(request) || !ping_settle(ping, &request, &sent_at)) {
		ping->result.strange++;
		return true;
	}
	ping->result.answered++;
	(void)sample_add(&ping->result.latency, (sample_now() - sent_at) / 1000);
	return true;
}

static bool is_refusal(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct sock_extended_err error;
		bool ours = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
			    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);

		if (!ours)
			continue;
		memcpy(&error, CMSG_DATA(c), sizeof(error));
		return error.ee_errno == ECONNREFUSED;
	}
	return false;
}

/*
 * One error is one datagram refused. Which one cannot be told: an ICMP message need not carry more
 * of it than its UDP header (RFC 792).
 */
static bool ping_read_error(struct ping *ping)
{
	char control[512];
	struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control) };

	if (recvmsg(ping->fd, &message, MSG_ERRQUEUE) < 0)
		return false;
	if (is_refusal(&message))
		ping->result.refused++;
	else
		ping->result.strange++;
	return true;
}

/* Reads until @until, ns, or until nothing is outstanding. */
static void ping_collect(struct ping *ping, uint64_t until)
{
	struct ping_result *result = &ping->result;
	struct pollfd poll_fd = { .fd = ping->fd, .events = POLLIN };
	uint64_t now = sample_now();
	struct timespec wait = {};

	while (now < until && result->answered + result->refused < result->sent) {
		wait.tv_sec = (time_t)((until - now) / 1000000000ULL);
		wait.tv_nsec = (long)((until - now) % 1000000000ULL);
		(void)ppoll(&poll_fd, 1, &wait, NULL); /* what there is shows in the reads */
		while (ping_read_error(ping) || ping_read_answer(ping))
			;
		now = sample_now();
	}
}

static int ping_loop(struct ping *ping)
{
	uint64_t next = sample_now();
	int r;

	for (unsigned int i = 0; i < ping->plan->count; i++) {
		r = ping_send(ping, i);
		if (r < 0)
			return r;
		next += ping->plan->interval_us * 1000ULL;
		ping_collect(ping, next);
		while (sample_now() < next) { /* nothing outstanding: wait out the interval */
			struct timespec wait = { .tv_nsec = 100000 };

			(void)ppoll(NULL, 0, &wait, NULL); /* a wait cut short is taken up again */
		}
	}
	ping_collect(ping, sample_now() + ping->plan->timeout_ms * NSEC_PER_MSEC);
	ping->result.lost = ping->result.sent - ping->result.answered - ping->result.refused;
	return 0;
}

int ping_run(const struct ping_plan *plan, struct ping_result *ret_result)
{
	struct ping ping = { .plan = plan, .fd = -1, .magic = (uint32_t)sample_now() };
	int r = -ENOMEM;

	if (plan->count > PING_COUNT_MAX)
		return -EINVAL;
	ping.sent_at = calloc(plan->count ? plan->count : 1, sizeof(*ping.sent_at));
	if (ping.sent_at)
		r = ping_open(&ping);
	if (r == 0)
		r = ping_loop(&ping);
	if (ping.fd >= 0)
		close(ping.fd);
	free(ping.sent_at);
	if (r < 0)
		ping_release(&ping.result);
	else
		*ret_result = ping.result;
	return r;
}

void ping_release(struct ping_result *result)
{
	sample_release(&result->latency);
}
