/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which process holds a socket only /proc knows: every descriptor of every process is looked at,
 * until one is the socket. By the time it is copied it may be another one, so that the copy is held
 * against the socket's cookie.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backlog.h"
#include "util.h"

struct search {
	char link[32]; /* what a descriptor of the socket is a link to */
	uint64_t cookie;
	uint32_t backlog;
	struct backlog_holder *holder;
	int error; /* of what could not be looked at, or not be done */
};

static void dir_release(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir); /* only read */
}
#define autodir __attribute__((cleanup(dir_release)))

int backlog_cap(uint32_t *ret_cap)
{
	autofile FILE *file = fopen("/proc/sys/net/core/somaxconn", "re");

	if (!file)
		return -errno;
	return fscanf(file, "%u", ret_cap) == 1 ? 0 : -EIO;
}

static void name_holder(int pid, struct backlog_holder *holder)
{
	char path[64];
	autofile FILE *file = NULL;

	holder->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%15[^\n]", holder->name) != 1)
		holder->name[0] = '\0';
}

/* Younger than libc's wrappers for them. */
static int open_process(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

static int copy_descriptor(int process, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);

	return fd < 0 ? -errno : fd;
}

/* 0; -ESRCH: it is another socket by now. */
static int set(const struct search *search, int pid, int number)
{
	autofd int process = open_process(pid), fd = -1;
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	if (process < 0)
		return process;
	fd = copy_descriptor(process, number);
	if (fd < 0)
		return fd == -EBADF ? -ESRCH : fd;
	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) < 0 || cookie != search->cookie)
		return -ESRCH;
	return listen(fd, (int)search->backlog) < 0 ? -errno : 0;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* True where the search is at its end: it was this process. */
static bool try_process(struct search *search, int pid)
{
	const struct dirent *entry;
	autodir DIR *dir = NULL;
	char path[64], link[sizeof(search->link) + 1];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir && errno != ENOENT && errno != ESRCH)
		search->error = -errno;
	while (dir && (entry = readdir(dir))) {
		length = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		if (strcmp(link, search->link) != 0)
			continue;
		search->error = set(search, pid, atoi(entry->d_name));
		name_holder(pid, search->holder);
		if (search->error != -ESRCH)
			return true;
	}
	return false;
}

int backlog_set(const struct sockdiag_socket *socket, uint32_t backlog,
		struct backlog_holder *ret_holder)
{
	struct search search = {
		.cookie = (uint64_t)socket->cookie[1] << 32 | socket->cookie[0],
		.backlog = backlog,
		.holder = ret_holder,
		.error = -ESRCH,
	};
	autodir DIR *processes = opendir("/proc");
	const struct dirent *entry;

	*ret_holder = (struct backlog_holder){ .pid = 0 };
	if (!processes)
		return -errno;
	snprintf(search.link, sizeof(search.link), "socket:[%u]", socket->inode);
	while ((entry = readdir(processes))) {
		if (is_number(entry->d_name) && try_process(&search, atoi(entry->d_name)))
			break;
	}
	return search.error;
}
