/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The client of the control socket. A daemon says nothing while it works, which may take as long as
 * it takes; one that is stopped or stuck says nothing either. The kernel tells them apart: who
 * works uses up the CPU's time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "control.h"
#include "util.h"

#define LOOK_MS 250	   /* between two looks at what the daemon does */
#define PATIENCE_MAX_S 120 /* with one that works */
#define ANSWER_MAX (1 << 20)

static int connect_to(const char *path, unsigned int patience)
{
	const struct timeval time = { .tv_sec = patience };
	struct sockaddr_un address;
	autofd int fd = -1;
	int result;

	result = control_address(path, &address);
	if (result < 0)
		return result;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return take_fd(&fd);
}

static int send_line(int fd, const char *request)
{
	autofree char *line = NULL;
	int length = asprintf(&line, "%s\n", request);

	if (length < 0) {
		line = NULL;
		return -ENOMEM;
	}
	return send(fd, line, (size_t)length, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* What the daemon is seen to do. */
struct look {
	long pid;   /* 0: not known, in another namespace perhaps */
	char state; /* a letter of proc(5); 'T': stopped */
	unsigned long ticks;
	unsigned int idle_ms, waited_ms;
};

/* Who listens, not who is connected: the credentials are those of listen(). */
static long peer(int fd)
{
	struct ucred peer = {};
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ? 0 : peer.pid;
}

static void look_again(struct look *look)
{
	unsigned long user = 0, system = 0;
	autofile FILE *file = NULL;
	char path[64];

	look->waited_ms += LOOK_MS;
	look->idle_ms += LOOK_MS;
	snprintf(path, sizeof(path), "/proc/%ld/stat", look->pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			    &look->state, &user, &system) != 3)
		return;
	if (user + system != look->ticks)
		look->idle_ms = 0;
	look->ticks = user + system;
}

static char *describe(const struct look *look)
{
	char *text = NULL;
	int length;

	if (look->pid && (look->state == 'T' || look->state == 't'))
		length = asprintf(&text,
				  "process %ld is stopped: 'kill -CONT %ld' lets it go on, 'kill "
				  "-KILL %ld' ends it, and protection goes on without it",
				  look->pid, look->pid, look->pid);
	else
		length = asprintf(&text,
				  "process %ld has not answered for %u s: 'kill -KILL %ld' ends "
				  "it, and protection goes on without it",
				  look->pid, look->waited_ms / 1000, look->pid);
	return length < 0 ? NULL : text;
}

static bool is_hopeless(const struct look *look, unsigned int patience)
{
	return look->state == 'T' || look->state == 't' || look->idle_ms >= patience * 1000 ||
	       look->waited_ms >= PATIENCE_MAX_S * 1000;
}

/* Waits until there is something to read. */
static int wait_for(int fd, unsigned int patience, char **ret_text)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct look look = { .pid = peer(fd) };

	while (poll(&poll_fd, 1, LOOK_MS) <= 0) {
		look_again(&look);
		if (!is_hopeless(&look, patience))
			continue;
		*ret_text = describe(&look);
		return -ETIMEDOUT;
	}
	return 0;
}

/* Reads until the other side closes, into memory that ends with a NUL. */
static int read_all(int fd, unsigned int patience, char **ret_text)
{
	autofree char *text = malloc(ANSWER_MAX + 1);
	size_t length = 0;
	ssize_t n;
	int error;

	if (!text)
		return -ENOMEM;
	do {
		error = wait_for(fd, patience, ret_text);
		if (error)
			return error;
		n = recv(fd, text + length, ANSWER_MAX - length, 0);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			length += (size_t)n;
	} while (n != 0);
	text[length] = '\0';
	*ret_text = text;
	text = NULL;
	return 0;
}

/* Splits the status line off @answer. 1, 0, or -EPROTO. */
static int parse_answer(char *answer, const char **ret_text)
{
	char *end = strchr(answer, '\n');

	if (!end)
		return -EPROTO;
	*end = '\0';
	*ret_text = end + 1;
	if (strcmp(answer, "ok") == 0)
		return 1;
	return strcmp(answer, "failed") == 0 ? 0 : -EPROTO;
}

int control_call(const char *path, const char *request, unsigned int patience, char **ret_text)
{
	autofd int fd = connect_to(path, patience);
	autofree char *answer = NULL;
	const char *text;
	char *copy;
	int result;

	if (fd < 0)
		return fd;
	result = send_line(fd, request);
	if (result < 0)
		return result;
	result = read_all(fd, patience, &answer);
	if (result < 0 || !answer) {
		*ret_text = answer;
		answer = NULL;
		return result;
	}
	result = parse_answer(answer, &text);
	if (result < 0)
		return result;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return result;
}
