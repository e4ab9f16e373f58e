/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only the network namespace is changed for a child: the mount namespace stays, so that it sees
 * the same bpffs. A child dies with the test process, whatever that dies of.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

#define RUN_TIMEOUT_MS 10000
#define END_TIMEOUT_MS 5000
#define OUTPUT_MAX (4U << 20)

__attribute__((noreturn)) static void child_exec(const struct process *process, int out)
{
	autofd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGINT, SIG_DFL);
	if (process->netns >= 0 && setns(process->netns, CLONE_NEWNET) < 0)
		_exit(126);
	if (process->notify)
		(void)setenv("NOTIFY_SOCKET", process->notify, 1);
	else
		(void)unsetenv("NOTIFY_SOCKET");
	if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	execvp(process->argv[0], process->argv);
	dprintf(2, "%s: cannot be run\n", process->argv[0]);
	_exit(127);
}

static pid_t start(const struct process *process, int out)
{
	pid_t pid;

	(void)fflush(stdout); /* or the child would write it again */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child_exec(process, out);
	return pid;
}

pid_t process_start(const struct process *process)
{
	autofd int out = open(process->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	return out < 0 ? -errno : start(process, out);
}

bool process_wait(pid_t pid, int timeout_ms, int *ret_status)
{
	struct pollfd poll_fd = { .events = POLLIN };
	autofd int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return false;
	poll_fd.fd = fd;
	if (poll(&poll_fd, 1, timeout_ms) <= 0)
		return false;
	return waitpid(pid, ret_status, 0) == pid;
}

int process_end(pid_t pid, int signal)
{
	int status = 0;

	if (pid <= 0)
		return 0;
	(void)kill(pid, signal);
	if (process_wait(pid, END_TIMEOUT_MS, &status))
		return status;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return status;
}

/* Reads @fd to its end, or as long as @timeout_ms lets it. */
static char *read_all(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	size_t length = 0;
	char *text = calloc(1, OUTPUT_MAX);
	ssize_t n = 1;

	while (text && n > 0 && length < OUTPUT_MAX - 1 && poll(&poll_fd, 1, timeout_ms) > 0) {
		n = read(fd, text + length, OUTPUT_MAX - 1 - length);
		length += n > 0 ? (size_t)n : 0;
	}
	return text;
}

struct output process_run(int netns, char *const *argv)
{
	const struct process process = { .netns = netns, .argv = argv };
	struct output output = { .code = -1 };
	int status, ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return output;
	pid = start(&process, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		output.text = read_all(ends[0], RUN_TIMEOUT_MS);
		if (!process_wait(pid, RUN_TIMEOUT_MS, &status))
			(void)process_end(pid, SIGKILL);
		else if (WIFEXITED(status))
			output.code = WEXITSTATUS(status);
	}
	close(ends[0]);
	return output;
}

struct output process_shell(int netns, const char *format, ...)
{
	char line[4096];
	char *argv[] = { "sh", "-c", line, NULL };
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	return process_run(netns, argv);
}

void output_release(struct output *output)
{
	free(output->text);
	output->text = NULL;
}
