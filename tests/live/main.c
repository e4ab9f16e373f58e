/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the daemon with real traffic, in network namespaces of their own. The tests run in a
 * child, so that whatever becomes of them, what they made is taken away again; and what a test
 * leaves behind although it ended is a failure.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "enclosure.h"
#include "live.h"

#define LOCK "/run/stile-test-live.lock"

static volatile sig_atomic_t child, passed_on;

static void on_signal(int number)
{
	passed_on = number;
	if (child > 0)
		(void)kill(child, number);
}

/* Ends the processes that came to us as orphans. The number of them that had not ended before. */
static int end_orphans(void)
{
	char path[64];
	int pid, n = 0;
	FILE *children;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	children = fopen(path, "re");
	if (!children)
		return 0;
	while (fscanf(children, "%d", &pid) == 1) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			continue;
		(void)process_end(pid, SIGKILL);
		n++;
	}
	(void)fclose(children); /* only read */
	return n;
}

static int wait_for_tests(void)
{
	int status = 0;

	while (waitpid(child, &status, 0) != child)
		;
	child = 0;
	if (WIFSIGNALED(status))
		printf("FAILED: the tests died of signal %d%s\n", WTERMSIG(status),
		       passed_on ? ", which was passed on to them" : "");
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

/* Two runs at once would sweep away each other's worlds. It is held to the end of this process. */
static bool wait_for_turn(void)
{
	int fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	printf("waiting for another run of the live tests to end\n");
	(void)fflush(stdout);
	return fd >= 0 && flock(fd, LOCK_EX) == 0;
}

int main(int argc, char **argv)
{
	int code, processes, others;

	if (!check_privileged())
		return check_main(argc, argv);
	if (!wait_for_turn()) {
		perror(LOCK);
		return EXIT_FAILURE;
	}
	(void)live_sweep();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!enclosure_begin()) {
			perror("a cgroup of the tests");
			exit(EXIT_FAILURE);
		}
		exit(check_main(argc, argv));
	}
	(void)signal(SIGTERM, on_signal);
	(void)signal(SIGINT, on_signal);
	code = wait_for_tests();
	processes = end_orphans();
	others = live_sweep() + enclosure_end();
	if (processes || others) {
		printf("FAILED: left behind: %d processes, %d namespaces, pins, cgroups or files\n",
		       processes, others);
		code = EXIT_FAILURE;
	}
	return code;
}
