/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lock says whether a process runs, since it goes with the process; the number in the file is
 * for people. The holder removes the file, so that whoever locked one asks whether it still is
 * the one at the path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pidfile.h"
#include "util.h"

/* 0 or -ENAMETOOLONG. */
static int find_parent(const char *path, char ret_parent[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash - path >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(ret_parent, PATH_MAX, "%.*s", (int)(slash - path), path);
	return 0;
}

/* Where it cannot, opening the file says why. */
static void make_parent(const char *path)
{
	char parent[PATH_MAX];

	if (find_parent(path, parent) == 0)
		(void)mkdir(parent, 0755);
}

static bool still_there(const char *path, int fd)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

static pid_t read_pid(int fd)
{
	char text[32];
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	if (length <= 0)
		return 0;
	text[length] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

static int write_pid(int fd)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)length, 0) < 0)
		return -errno;
	return 0;
}

int pidfile_take(const char *path, pid_t *ret_other)
{
	int error;

	make_parent(path);
	for (;;) {
		autofd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK)
				return -errno;
			*ret_other = read_pid(fd);
			return -EBUSY;
		}
		if (!still_there(path, fd))
			continue;
		error = write_pid(fd);
		return error ? error : take_fd(&fd);
	}
}

/* The process that holds it; 0: nobody does, or it is not known. */
static pid_t find_holder(int directory, const char *name)
{
	autofd int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return read_pid(fd);
}

int pidfile_each_other(const char *path, int (*each)(pid_t other, void *context), void *context)
{
	char parent[PATH_MAX];
	struct dirent *entry;
	int result = 0;
	pid_t other;
	DIR *folder;

	if (find_parent(path, parent) < 0)
		return 0;
	folder = opendir(parent);
	while (folder && result == 0 && (entry = readdir(folder))) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || strcmp(end, ".pid") != 0)
			continue;
		other = find_holder(dirfd(folder), entry->d_name);
		if (other && other != getpid())
			result = each(other, context);
	}
	if (folder)
		(void)closedir(folder); /* it was only read */
	return result;
}

void pidfile_sweep(const char *path)
{
	autofd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && still_there(path, fd))
		(void)unlink(path); /* where it stays, it does no harm */
}

void pidfile_remove(const char *path, int fd)
{
	(void)unlink(path); /* where it stays, the lock goes all the same */
	close(fd);
}
