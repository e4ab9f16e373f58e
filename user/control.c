/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests are lines, so that a person can ask with any tool that speaks to a socket. The file is
 * bound under a mask, because between bind() and chmod() anybody could connect.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "control.h"
#include "exchange.h"
#include "util.h"

#define REQUEST_MAX 255
#define CLIENTS_MAX 16
#define PATIENCE_MS 5000

struct control {
	control_handler *handler;
	void *context;
	struct exchange *exchange;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	dev_t device;
	ino_t inode;
};

int control_address(const char *path, struct sockaddr_un *ret_address)
{
	if (strlen(path) >= sizeof(ret_address->sun_path))
		return -ENAMETOOLONG;
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret_address->sun_path, path, strlen(path));
	return 0;
}

static bool is_whole(const char *request, size_t length)
{
	return memchr(request, '\n', length) != NULL;
}

/* "ok" or "failed", and @text, which ends with a newline if it is not empty. Takes @text. */
static char *format(bool ok, char *text, size_t *ret_length)
{
	const char *body = text ? text : "";
	size_t length = strlen(body);
	char *answer;
	int n;

	n = asprintf(&answer, "%s\n%s%s", ok ? "ok" : "failed", body,
		     length && body[length - 1] != '\n' ? "\n" : "");
	free(text);
	if (n < 0)
		return NULL;
	*ret_length = (size_t)n;
	return answer;
}

static char *answer(const char *request, size_t length, size_t *ret_length, void *context)
{
	struct control *control = context;
	char line[REQUEST_MAX + 1];
	char *text = NULL;
	size_t end;
	bool ok;

	if (!request)
		return format(false, strdup("expected a line of at most 254 bytes"), ret_length);
	end = (size_t)((const char *)memchr(request, '\n', length) - request);
	memcpy(line, request, end);
	line[end] = '\0';
	if (strlen(line) != end)
		return format(false, strdup("expected a line of text"), ret_length);
	ok = control->handler(line, &text, control->context);
	return format(ok, text, ret_length);
}

/* What a killed daemon left is a socket that refuses; one that answers, or is busy, is in use. */
static int remove_stale(const struct sockaddr_un *address)
{
	autofd int fd = -1;
	struct stat found;

	if (lstat(address->sun_path, &found) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(found.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(address->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

/* A socket that listens at @address, or negative errno. */
static int socket_listen(const struct sockaddr_un *address)
{
	autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t mask;
	int result;

	if (fd < 0)
		return -errno;
	mask = umask(0177);
	result = bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	(void)umask(mask); /* cannot fail */
	if (result < 0)
		return result;
	if (listen(fd, SOMAXCONN) < 0) {
		result = -errno;
		(void)unlink(address->sun_path); /* the next daemon removes it otherwise */
		return result;
	}
	return take_fd(&fd);
}

/* Binds @control to @path and remembers the file. The socket, or negative errno. */
static int control_bind(struct control *control, const char *path)
{
	struct sockaddr_un address;
	autofd int fd = -1;
	struct stat bound;
	int result;

	result = control_address(path, &address);
	if (result == 0)
		result = remove_stale(&address);
	if (result < 0)
		return result;
	fd = socket_listen(&address);
	if (fd < 0)
		return fd;
	if (lstat(path, &bound) < 0)
		return -errno;
	memcpy(control->path, address.sun_path, sizeof(control->path));
	control->device = bound.st_dev;
	control->inode = bound.st_ino;
	return take_fd(&fd);
}

void control_sweep(const char *path)
{
	struct sockaddr_un address;

	if (control_address(path, &address) == 0)
		(void)remove_stale(&address); /* where it stays, it does no harm */
}

int control_listen(struct event_base *base, const char *path, control_handler *handler,
		   void *context, struct control **ret_control)
{
	struct control *control = calloc(1, sizeof(*control));
	const struct exchange_rules rules = {
		.request_max = REQUEST_MAX,
		.clients_max = CLIENTS_MAX,
		.patience_ms = PATIENCE_MS,
		.is_whole = is_whole,
		.answer = answer,
		.context = control,
	};
	autofd int fd = -1;
	int result;

	if (!control)
		return -ENOMEM;
	control->handler = handler;
	control->context = context;
	fd = control_bind(control, path);
	result = fd < 0 ? fd : exchange_listen(base, fd, &rules, &control->exchange);
	if (result < 0) {
		control_free(control);
		return result;
	}
	(void)take_fd(&fd); /* the exchange's now */
	*ret_control = control;
	return 0;
}

int control_share(const struct control *control, gid_t gid)
{
	if (chown(control->path, (uid_t)-1, gid) < 0 || chmod(control->path, 0660) < 0)
		return -errno;
	return 0;
}

void control_free(struct control *control)
{
	struct stat found;

	if (!control)
		return;
	exchange_free(control->exchange);
	if (*control->path && lstat(control->path, &found) == 0 &&
	    found.st_dev == control->device && found.st_ino == control->inode)
		(void)unlink(control->path); /* a stale one does no harm */
	free(control);
}
