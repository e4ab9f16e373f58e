/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon under test: started, known to be ready by sd_notify, asked, and ended. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "util.h"

bool live_write(const struct live *live, const char *file, const char *text)
{
	autofd int fd = -1;
	char path[256];
	size_t length = strlen(text);

	snprintf(path, sizeof(path), "%s/%s", live->directory, file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return CHECK("the test's file can be written",
		     fd >= 0 && write(fd, text, length) == (ssize_t)length);
}

/* A path and no abstract name: those are per network namespace. */
static bool open_notify(struct live *live, struct sockaddr_un *address)
{
	char message[1024];

	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/notify", live->directory);
	if (live->notify >= 0) {
		/* What the daemon before said of its reloads must not be taken for this one's. */
		while (recv(live->notify, message, sizeof(message), MSG_DONTWAIT) > 0)
			continue;
		return true;
	}
	live->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* For a daemon of any user, as the manager's own is. */
	return live->notify >= 0 &&
	       bind(live->notify, (struct sockaddr *)address, sizeof(*address)) == 0 &&
	       chmod(address->sun_path, 0666) == 0;
}

bool live_told(const struct live *live, const char *text)
{
	struct pollfd poll_fd = { .fd = live->notify, .events = POLLIN };
	char message[1024];
	ssize_t n;

	while (poll(&poll_fd, 1, LIVE_BOUND_MS) > 0) {
		n = recv(live->notify, message, sizeof(message) - 1, 0);
		message[n > 0 ? n : 0] = '\0';
		if (strstr(message, text))
			return true;
	}
	return false;
}

/* True on READY=1; false where the daemon ended, or the bound passed. */
static bool wait_ready(struct live *live)
{
	struct pollfd poll_fd = { .fd = live->notify, .events = POLLIN };
	uint64_t until = sample_now() + LIVE_BOUND_MS * 1000000ULL;
	char message[1024];
	int status;
	ssize_t n;

	while (sample_now() < until) {
		if (poll(&poll_fd, 1, 20) > 0) {
			n = recv(live->notify, message, sizeof(message) - 1, 0);
			message[n > 0 ? n : 0] = '\0';
			if (strstr(message, "READY=1"))
				return true;
		} else if (process_wait(live->daemon, 0, &status)) {
			live->daemon = 0;
			return false;
		}
	}
	return false;
}

static void print_log(const struct live *live)
{
	autooutput struct output output = process_shell(-1, "cat %s/stile.log", live->directory);

	printf("%s", output.text ? output.text : "");
}

bool live_launch(struct live *live)
{
	struct sockaddr_un notify = {};
	char config[128], log[128];
	char *argv[] = { (char *)check_stile(),
			 "--instance",
			 live->instance,
			 "run",
			 live->no_file ? NULL : "-c",
			 config,
			 NULL };
	const struct process process = {
		.netns = live->netns[LIVE_SERVER],
		.log = log,
		.notify = notify.sun_path,
		.argv = argv,
	};

	snprintf(config, sizeof(config), "%s/stile.yaml", live->directory);
	snprintf(log, sizeof(log), "%s/stile.log", live->directory);
	if (!CHECK("the socket for READY can be made", open_notify(live, &notify)))
		return false;
	live->daemon = process_start(&process);
	return CHECK("the daemon is started", live->daemon > 0);
}

bool live_start_again(struct live *live)
{
	if (!live_launch(live))
		return false;
	if (CHECK("the daemon says that it is ready", wait_ready(live)))
		return true;
	print_log(live);
	return false;
}

bool live_start(struct live *live, const char *config)
{
	return live_write(live, "stile.yaml", config) && live_start_again(live);
}

int live_stop(struct live *live, int signal)
{
	int status = process_end(live->daemon, signal);

	live->daemon = 0;
	return status;
}

bool live_pinned(const struct live *live)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/fs/bpf/stile/%s", live->instance);
	return access(path, F_OK) == 0;
}

struct output live_stile(const struct live *live, const char *format, ...)
{
	char arguments[512];
	va_list list;

	va_start(list, format);
	vsnprintf(arguments, sizeof(arguments), format, list);
	va_end(list);
	return process_shell(live->netns[LIVE_SERVER], "%s --instance %s %s", check_stile(),
			     live->instance, arguments);
}
