/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon's page over HTTP, as a scraper reads it, and the kernel's own counters. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "util.h"

#define PAGE_MAX (1U << 20)

static int connect_metrics(const struct live *live)
{
	struct timeval bound = { .tv_sec = LIVE_BOUND_MS / 1000 };
	struct endpoint target;
	int fd;

	(void)endpoint_parse("127.0.0.1:9466", &target);
	live_enter(live, LIVE_SERVER);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	live_leave(live);
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof(bound));
	if (connect(fd, (struct sockaddr *)&target.address, target.length) == 0)
		return fd;
	close(fd);
	return -1;
}

char *live_page(const struct live *live, const char *path)
{
	autofd int fd = connect_metrics(live);
	autofree char *answer = calloc(1, PAGE_MAX);
	char request[256], *body;
	size_t length = 0;
	ssize_t n;

	if (fd < 0 || !answer)
		return NULL;
	snprintf(request, sizeof(request), "GET %s HTTP/1.0\r\nHost: metrics\r\n\r\n", path);
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
		return NULL;
	while ((n = recv(fd, answer + length, PAGE_MAX - 1 - length, 0)) > 0)
		length += (size_t)n;
	body = strstr(answer, "\r\n\r\n");
	if (!body || strncmp(answer, "HTTP/1.", 7) != 0 || strncmp(answer + 8, " 200", 4) != 0)
		return NULL;
	return strdup(body + 4);
}

/* Does the sample of @line have every label of the list @labels? */
static bool has_labels(const char *line, size_t length, const char *labels)
{
	char label[256];
	size_t n;

	for (; *labels; labels += n + (labels[n] == ',')) {
		n = strcspn(labels, ",");
		snprintf(label, sizeof(label), "%.*s", (int)n, labels);
		if (!memmem(line, length, label, strlen(label)))
			return false;
	}
	return true;
}

long long live_metric(const char *page, const char *name, const char *labels)
{
	size_t length = strlen(name), end;
	long long sum = 0;
	bool found = false;

	for (const char *line = page; line && *line; line += end + (line[end] == '\n')) {
		const char *value;

		end = strcspn(line, "\n");
		if (strncmp(line, name, length) != 0 || !strchr("{ ", line[length]))
			continue;
		value = memrchr(line, ' ', end);
		if (!value || !has_labels(line, end, labels))
			continue;
		sum += (long long)strtod(value, NULL);
		found = true;
	}
	return found ? sum : -1;
}

long long live_metric_now(const struct live *live, const char *name, const char *labels)
{
	autofree char *page = live_page(live, "/metrics");

	return live_metric(page, name, labels);
}

long long live_counter(const struct live *live, enum live_side side, const char *name)
{
	autooutput struct output output = process_shell(
		live->netns[side], "nstat -asz %s | awk '$1 == \"%s\" { print $2 }'", name, name);

	return output.text && *output.text ? strtoll(output.text, NULL, 10) : -1;
}

struct refusals {
	const struct live *live;
	long long until;
};

static bool are_refused(void *context)
{
	const struct refusals *refusals = context;

	return live_counter(refusals->live, LIVE_CLIENT, "TcpAttemptFails") >= refusals->until;
}

bool live_wait_refused(const struct live *live, long long more)
{
	struct refusals refusals = {
		.live = live,
		.until = live_counter(live, LIVE_CLIENT, "TcpAttemptFails") + more,
	};

	return live_wait(are_refused, &refusals);
}
