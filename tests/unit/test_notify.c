/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages to the service manager arrive, and one that does not read makes nobody wait. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "notify.h"
#include "util.h"

#define NAME "stile-test-notify"
#define MORE_THAN_A_QUEUE 2000 /* messages: net.unix.max_dgram_qlen is 10, or a few hundred */

/* A manager at an abstract address of this process. */
static int manager(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, NAME "-%d",
			      (int)getpid());
	char name[64];

	snprintf(name, sizeof(name), "@" NAME "-%d", (int)getpid());
	CHECK_EQ("the address is told", setenv("NOTIFY_SOCKET", name, 1), 0);
	CHECK_EQ("the manager listens",
		 bind(fd, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
		 0);
	return fd;
}

static void test_arrives(void)
{
	autofd int fd = manager();
	char message[64] = "";

	notify("READY=1\nSTATUS=Generation %d", 7);
	CHECK_EQ("a message arrives", recv(fd, message, sizeof(message) - 1, 0), 27);
	CHECK_STR_EQ("as it was sent", message, "READY=1\nSTATUS=Generation 7");
	(void)unsetenv("NOTIFY_SOCKET");
}

static void test_full(void)
{
	autofd int fd = manager();
	char message[64] = "";

	(void)alarm(20); /* what waits for ever fails */
	for (int i = 0; i < MORE_THAN_A_QUEUE; i++)
		notify("WATCHDOG=1");
	(void)alarm(0);
	CHECK_EQ("the first are there", recv(fd, message, sizeof(message) - 1, 0), 10);
	(void)unsetenv("NOTIFY_SOCKET");
}

static void test_nobody(void)
{
	(void)unsetenv("NOTIFY_SOCKET");
	notify("READY=1");
	(void)setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	notify("READY=1");
	(void)setenv("NOTIFY_SOCKET", "relative", 1);
	notify("READY=1");
	(void)unsetenv("NOTIFY_SOCKET");
	CHECK("nobody has to be there", true);
}

CHECK_SUITE(notify, { "a message arrives", test_arrives }, { "nobody reads", test_full },
	    { "nobody is there", test_nobody });
