/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of a test. Namespaces are named, so that a run that was killed can be cleaned up after
 * by the next; the test itself moves between them by setns().
 */
#include "live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "util.h"

#define PINS "/sys/fs/bpf/stile"
#define RUN "/run/stile"
#define WORLD "/tmp"
#define INSTANCE_PREFIX "live-"

static const char *const side_names[] = { [LIVE_SERVER] = "srv", [LIVE_CLIENT] = "cli" };

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	(void)remove(path); /* what stays is found by the next run */
	return 0;
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Removes what is in @directory and begins with @prefix. The number of entries. */
static int remove_prefixed(const char *directory, const char *prefix)
{
	struct dirent *entry;
	char path[1024];
	DIR *dir = opendir(directory);
	int n = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		remove_tree(path);
		n++;
	}
	(void)closedir(dir); /* only read */
	return n;
}

int live_sweep(void)
{
	static const char *const places[] = { PINS, RUN };
	struct output output = process_shell(-1, "cd /run/netns && for n in " LIVE_PREFIX
						 "*; do ip netns del $n && echo $n; done");
	int n = 0;

	for (const char *c = output.text; c && *c; c++)
		n += *c == '\n';
	if (output.code != 0) /* nothing matched, or there is no such directory */
		n = 0;
	output_release(&output);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		n += remove_prefixed(places[i], INSTANCE_PREFIX);
	return n + remove_prefixed(WORLD, LIVE_PREFIX);
}

static void remove_names(const struct live *live)
{
	static const char *const files[] = { PINS "/%s", RUN "/%s.sock", RUN "/%s.lock",
					     RUN "/%s.pid" };
	char path[128];
	struct output output = process_shell(
		-1, "for s in srv cli; do ip netns del " LIVE_PREFIX "%s-$s; done", live->name);

	output_release(&output);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), files[i], live->instance);
		remove_tree(path);
	}
	remove_tree(live->directory);
}

/* nsenter and not ip -n, which mounts a /sys of its own and cannot in a chroot. */
static const char make_links[] =
	"set -e; s=" LIVE_PREFIX "%s-srv c=" LIVE_PREFIX "%s-cli\n"
	"at() { n=$1; shift; nsenter --net=/run/netns/$n \"$@\"; }\n"
	"ip netns add $s; ip netns add $c\n"
	"for n in $s $c; do at $n sh -c "
	"'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'; at $n ip link set lo up; done\n"
	"at $s ip link add " SERVER_LINK " type veth peer name " CLIENT_LINK " netns $c\n"
	"at $s ip -batch - <<END\n"
	"address add " SERVER_IPV4 "/24 dev " SERVER_LINK "\n"
	"address add " SERVER_IPV6 "/64 dev " SERVER_LINK " nodad\n"
	"link set " SERVER_LINK " up\n"
	"route add fd77:2::/64 dev " SERVER_LINK "\n"
	"END\n"
	"{ for i in 9 10 11 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115; do\n"
	"echo address add 10.77.1.$i/24 dev " CLIENT_LINK "; done\n"
	"echo address add " CLIENT_SIX_ONE "/64 dev " CLIENT_LINK " nodad\n"
	"echo address add " CLIENT_SIX_TWO "/64 dev " CLIENT_LINK " nodad\n"
	"echo address add " CLIENT_SIX_OTHER "/64 dev " CLIENT_LINK " nodad\n"
	"echo link set " CLIENT_LINK " up; } | at $c ip -batch -";

static bool open_namespaces(struct live *live)
{
	char path[128];

	live->home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	for (int side = LIVE_CLIENT; side <= LIVE_SERVER; side++) {
		snprintf(path, sizeof(path), "/run/netns/" LIVE_PREFIX "%s-%s", live->name,
			 side_names[side]);
		live->netns[side] = open(path, O_RDONLY | O_CLOEXEC);
		if (live->netns[side] < 0)
			return false;
	}
	return live->home >= 0;
}

bool live_begin(struct live *live, const char *name)
{
	autooutput struct output output = {};

	*live = (struct live){
		.name = name, .home = -1, .netns = { -1, -1 }, .notify = -1, .peer = -1
	};
	if (!check_privileged()) {
		CHECK_SKIP("network namespaces need CAP_SYS_ADMIN and CAP_NET_ADMIN");
		return false;
	}
	snprintf(live->instance, sizeof(live->instance), INSTANCE_PREFIX "%s", name);
	snprintf(live->directory, sizeof(live->directory), WORLD "/" LIVE_PREFIX "%s", name);
	remove_names(live);
	output = process_shell(-1, make_links, name, name);
	if (output.code != 0)
		printf("%s", output.text ? output.text : "");
	return CHECK("the test's namespaces can be made",
		     output.code == 0 && mkdir(live->directory, 0755) == 0 &&
			     open_namespaces(live));
}

void live_end(struct live *live)
{
	if (!live->name)
		return;
	if (live->daemon > 0)
		CHECK_EQ("the daemon ends well", live_stop(live, SIGTERM), 0);
	while (live->n_others)
		(void)process_end(live->others[--live->n_others], SIGTERM);
	fd_release(&live->notify);
	fd_release(&live->peer);
	fd_release(&live->netns[LIVE_SERVER]);
	fd_release(&live->netns[LIVE_CLIENT]);
	fd_release(&live->home);
	remove_names(live);
	live->name = NULL;
}

void live_enter(const struct live *live, enum live_side side)
{
	if (setns(live->netns[side], CLONE_NEWNET) < 0)
		CHECK_EQ("the namespace can be entered", errno, 0);
}

void live_leave(const struct live *live)
{
	if (setns(live->home, CLONE_NEWNET) < 0)
		CHECK_EQ("the namespace can be left", errno, 0);
}

void live_shell(const struct live *live, enum live_side side, const char *format, ...)
{
	autooutput struct output output = {};
	char line[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	output = process_shell(live->netns[side], "%s", line);
	if (!CHECK_EQ(line, output.code, 0) && output.text)
		printf("%s", output.text);
}

bool live_wait(bool (*done)(void *context), void *context)
{
	uint64_t until = sample_now() + LIVE_BOUND_MS * 1000000ULL;

	while (!done(context)) {
		if (sample_now() > until)
			return false;
		(void)poll(NULL, 0, 5); /* between two looks */
	}
	return true;
}
