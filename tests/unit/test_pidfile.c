/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process holds the file, whatever became of the ones before it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "pidfile.h"
#include "util.h"

static char directory[] = "/tmp/stile-test-pidfile-XXXXXX";
static char path[sizeof(directory) + 16];

static int setup(void)
{
	if (!mkdtemp(directory))
		return -errno;
	snprintf(path, sizeof(path), "%s/test.pid", directory);
	return 0;
}

static int teardown(void)
{
	(void)unlink(path); /* where a test failed before it did */
	return rmdir(directory) < 0 ? -errno : 0;
}

static long written_pid(void)
{
	autofile FILE *file = fopen(path, "r");
	long pid = -1;

	if (!file || fscanf(file, "%ld", &pid) != 1)
		return -1;
	return pid;
}

static void test_one_holder(void)
{
	pid_t other = -1;
	int fd, second;

	fd = pidfile_take(path, &other);
	CHECK("the first takes it", fd >= 0);
	CHECK_EQ("and writes its id", written_pid(), getpid());
	second = pidfile_take(path, &other);
	CHECK_EQ("the second is refused", second, -EBUSY);
	CHECK_EQ("and told who holds it", other, getpid());
	pidfile_remove(path, fd);
	CHECK_EQ("it is gone with its holder", access(path, F_OK), -1);
}

static void test_left_behind(void)
{
	autofile FILE *file = fopen(path, "w");
	pid_t other = -1;
	int fd;

	CHECK("a file of a process that was killed", file && fputs("4194304999\n", file) >= 0);
	if (!file || fflush(file) == EOF)
		return;
	fd = pidfile_take(path, &other);
	CHECK("does not stand in the way", fd >= 0);
	CHECK_EQ("and is written anew", written_pid(), getpid());
	pidfile_remove(path, fd);
}

static void test_no_directory(void)
{
	pid_t other;

	CHECK_EQ("where its directory cannot be made it says so",
		 pidfile_take("/nonexistent/run/stile-test.pid", &other), -ENOENT);
}

CHECK_SUITE_WITH(pidfile, setup, teardown, { "there is one holder", test_one_holder },
		 { "a file left behind", test_left_behind }, { "no directory", test_no_directory });
