/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program runs itself: words, errors and privileges are those of the command, with nothing kept
 * twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "top_say.h"
#include "util.h"

#define SELF "/proc/self/exe"

static int start(char *const argv[], int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r;

	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn(ret_pid, SELF, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions); /* nothing depends on it any more */
	return -r;
}

static char *read_all(int fd)
{
	char *text = NULL, piece[4096];
	size_t size;
	ssize_t n;
	FILE *all = open_memstream(&text, &size);

	if (!all)
		return NULL;
	while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			(void)fwrite(piece, 1, (size_t)n, all);
	}
	(void)fclose(all); /* to memory: where there is none, the text is short */
	return text;
}

char *top_say(char *const argv[])
{
	autofd int in = -1;
	int ends[2] = { -1, -1 }, r;
	char *text;
	pid_t pid = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	in = ends[0];
	r = start(argv, ends[1], &pid);
	(void)close(ends[1]); /* the command's, if anybody's */
	if (r < 0)
		return NULL;
	text = read_all(in);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return text;
}
