/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the filter of system calls refuses, and what it does not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sandbox.h"
#include "util.h"

static int open_for_writing(void)
{
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static int run_a_program(void)
{
	char *const argv[] = { (char *)"true", NULL };

	return execv("/bin/true", argv);
}

static int make_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int packet_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
}

static int trace_parent(void)
{
	return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int kill_parent(void)
{
	return kill(getppid(), 0);
}

static int young_call(void)
{
	return (int)syscall(SYS_pidfd_getfd, -1, 0, 0);
}

static int open_for_reading(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static const struct attempt {
	const char *what;
	int (*make)(void);
	int error; /* 0: it is allowed */
} attempts[] = {
	{ "reading a file is allowed", open_for_reading, 0 },
	{ "writing to one is not", open_for_writing, EPERM },
	{ "nor running a program", run_a_program, EPERM },
	{ "nor memory that is code", make_code, EPERM },
	{ "nor packets of any kind", packet_socket, EPERM },
	{ "nor looking into another process", trace_parent, EPERM },
	{ "nor ending one", kill_parent, EPERM },
	{ "a call younger than the list is not there", young_call, ENOSYS },
};

/* In a child: a bit for each attempt that went as it should, and one for the count of refusals. */
static int make_attempts(void)
{
	char name[32] = "";
	int good = 0;

	if (sandbox_enter(false) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		errno = 0;
		good += (attempts[i].make() < 0 ? errno : 0) == attempts[i].error;
	}
	sandbox_name(sandbox_refused(), name);
	return good + (strcmp(name, "pidfd_getfd") == 0) + (sandbox_refused() == -1);
}

static void test_filter(void)
{
	int status = 0;
	pid_t pid;

	(void)fflush(stdout); /* or the child would write it again */
	pid = fork();
	if (pid == 0)
		_exit(make_attempts());
	CHECK_EQ("the child ends by itself", waitpid(pid, &status, 0), pid);
	CHECK_EQ("all attempts went as they should", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		 (int)ARRAY_SIZE(attempts) + 2);
}

CHECK_SUITE(sandbox, { "calls that are refused", test_filter });
