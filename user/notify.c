/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sd_notify() itself waits where the manager's queue is full, which this must not. What is lost
 * then is told again by the next message.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "notify.h"
#include "util.h"

#define MESSAGE_MAX 1024

/* The manager's socket; a name that begins with @ is an abstract one. Its length, or 0. */
static socklen_t address_of(const char *name, struct sockaddr_un *ret_address)
{
	size_t length = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || length >= sizeof(ret_address->sun_path))
		return 0;
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret_address->sun_path, name, length);
	if (name[0] == '@')
		ret_address->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

void notify(const char *format, ...)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	char message[MESSAGE_MAX];
	autofd int fd = -1;
	socklen_t length;
	va_list list;

	length = name ? address_of(name, &address) : 0;
	if (length == 0)
		return;
	va_start(list, format);
	vsnprintf(message, sizeof(message), format, list);
	va_end(list);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) /* see above */
		(void)sendto(fd, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL,
			     (const struct sockaddr *)&address, length);
}
