/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What it costs to know how the service does: the look at its accept queue for each SYN, in the
 * loaded program, and the count of its open connections, for each of them, before a real nginx
 * (connections.sh). Nobody accepts here from the sockets whose queues are looked at.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libgen.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "loader.h"
#include "subject.h"
#include "util.h"

#define PACKETS 200000 /* of a sample */
#define PORT_ROOM 80   /* a socket listens, and nobody waits */
#define PORT_NOBODY 81
#define PORT_FULL 82
#define BACKLOG 3 /* of the last one: four wait */

#define SECONDS 5  /* of a run of wrk */
#define NOT_HERE 3 /* the script's status where something is missing */

#define LIMITERS                                                                                   \
	"interfaces: {lo: {}}\n"                                                                   \
	"replies_per_second: 10000000\n"                                                           \
	"rate_limiters:\n"                                                                         \
	"  all: {algorithm: token_bucket, limit: 10000000, window: 1s}\n"                          \
	"  more: {algorithm: token_bucket, limit: 10000000, window: 1s}\n"
#define LISTENER "listeners: {web: {protocol: tcp, ports: [80-82], rate_limiter_name: "

enum policies { PLAIN, TWO, LOOKING, POLICIES };

static const char *const policies[POLICIES] = {
	[PLAIN] = LIMITERS LISTENER "all}}\n",
	[TWO] = LIMITERS LISTENER "[all, more]}}\n",
	[LOOKING] = LIMITERS LISTENER "all, accept_queue_limit: 50%}}\n",
};

struct row {
	const char *name;
	uint16_t port;
	enum policies policy;
	bool sheds;
};

static const struct row rows[] = {
	{ "one limiter, no accept_queue_limit", PORT_ROOM, PLAIN, false },
	{ "two limiters, no accept_queue_limit", PORT_ROOM, TWO, false },
	{ "one, and there is room in the queue", PORT_ROOM, LOOKING, false },
	{ "one, and nobody listens", PORT_NOBODY, LOOKING, false },
	{ "one, and the queue is full: shed, RST", PORT_FULL, LOOKING, true },
};

/* One that was shed was charged to no limiter, so that it left no decision. */
static int measure_shed(struct bench_row *row, double *ret_values)
{
	uint64_t before[_STILE_DECISION_MAX], after[_STILE_DECISION_MAX];
	struct subject *subject = row->context;
	int map = subject->decisions, result;

	result = load_decisions(map, subject->attachment, before);
	subject->decisions = -1;
	if (result == 0)
		result = subject_measure(row, ret_values);
	subject->decisions = map;
	if (result == 0)
		result = load_decisions(map, subject->attachment, after);
	return result == 0 && memcmp(before, after, sizeof(before)) != 0 ? -EBADMSG : result;
}

static int listen_at(uint16_t port, int backlog)
{
	const struct sockaddr_in6 address = { .sin6_family = AF_INET6,
					      .sin6_port = htons(port),
					      .sin6_addr = in6addr_any };
	const int off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0); /* as long as the process lives */

	if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, backlog) < 0)
		return -errno;
	return 0;
}

static int wait_at(uint16_t port, int n)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(port),
					     .sin_addr = { htonl(INADDR_LOOPBACK) } };

	for (int i = 0; i < n; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* the same */

		if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
			return -errno;
	}
	return 0;
}

static void add_rows(struct bench *bench, const struct stage *stage,
		     const struct load loads[POLICIES],
		     const struct pkt_spec specs[][ARRAY_SIZE(rows)])
{
	for (int ipv6 = 0; ipv6 <= 1; ipv6++) {
		struct bench_row *floor = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			const struct load *load = &loads[rows[i].policy];
			struct subject *subject =
				subject_new(stage, 1, loader_program(load->loader));
			struct bench_row *row =
				bench_add(bench, rows[i].sheds ? measure_shed : subject_measure,
					  subject, "%s", rows[i].name);

			subject->plan = (struct drive_plan){ &specs[ipv6][i], .clients = 1,
							     .warmup = 1000, .repeat = PACKETS };
			subject->decisions = load_map(load, "decisions");
			subject->attachment = load_attachment(load, "all");
			subject->decision = STILE_DECISION_ALLOWED;
			row->group = ipv6 ? "SYN over IPv6" : "SYN over IPv4";
			row->floor = floor;
			if (!floor)
				floor = row;
		}
	}
}

static int tell_accept(void)
{
	static struct bench bench = {
		.section = "accept-queue",
		.title = "A look at the accept queue for each SYN",
		.columns = { "ns/packet" },
		.rounds = 11,
	};
	static struct pkt_spec specs[2][ARRAY_SIZE(rows)];
	struct load loads[POLICIES] = {};
	struct stage stage = {};
	int result;

	for (int ipv6 = 0; ipv6 <= 1; ipv6++)
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			specs[ipv6][i] = (struct pkt_spec){ .ipv6 = ipv6, .dport = rows[i].port };
	result = listen_at(PORT_ROOM, 128);
	if (result == 0)
		result = listen_at(PORT_FULL, BACKLOG);
	if (result == 0)
		result = wait_at(PORT_FULL, BACKLOG + 1);
	if (result == 0)
		result = stage_init(&stage);
	for (int i = 0; i < POLICIES && result == 0; i++)
		result = load_config(policies[i], NULL, &loads[i]);
	if (result == 0) {
		add_rows(&bench, &stage, loads, specs);
		result = bench_run(&bench);
	}
	if (result == 0)
		result = bench_end(&bench);
	for (int i = 0; i < POLICIES; i++)
		load_release(&loads[i]);
	stage_release(&stage);
	return result;
}

static const struct variant {
	const char *argument, *name; /* the first is for the script */
} variants[] = {
	{ "without", "nothing in front" },
	{ "stile", "Stile, connections not counted" },
	{ "counted", "Stile, connections counted" },
};

static int measure_connections(struct bench_row *row, double *ret_values)
{
	const struct variant *variant = row->context;
	char command[128], line[128] = "";
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "sh tests/bench/connections.sh %s %d", variant->argument,
		 SECONDS);
	fflush(stdout);
	pipe = popen(command, "re"); /* NOLINT(cert-env33-c): a constant of this file */
	if (!pipe)
		return -errno;
	if (!fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	status = pclose(pipe);
	line[strcspn(line, "\n")] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_HERE)
		return bench_skip(row, "%s", line);
	if (status != 0 || sscanf(line, "%lf %lf %lf %lf", &ret_values[0], &ret_values[1],
				  &ret_values[2], &ret_values[3]) != 4)
		return -EIO;
	return 0;
}

static int tell_connections(void)
{
	static struct bench bench = {
		.section = "connections",
		.title = "wrk without keep-alive through nginx",
		.columns = { "connections/s", "sockops, ns", "sockops, calls", "XDP, ns" },
		.ratios = { "of without" },
		.rounds = 5,
	};
	const struct bench_row *without = NULL;
	int result;

	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		struct bench_row *row = bench_add(&bench, measure_connections,
						  (void *)(uintptr_t)&variants[i], "%s",
						  variants[i].name);

		row->beside[0] = without;
		if (!without)
			without = row;
	}
	result = bench_run(&bench);
	return result ? result : bench_end(&bench);
}

/* The script looks for the programs where this one was built, unless it is told. */
static int tell_folder(const char *program)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", program);
	return setenv("O", dirname(dirname(path)), 0) < 0 ? -errno : 0;
}

/* What listens here is to be in nobody's way. */
static int enter_namespace(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	/* NOLINTNEXTLINE(cert-env33-c): a constant */
	return system("ip link set lo up") == 0 ? 0 : -EIO;
}

/* In a process of its own, for the script needs the namespace as it was. */
static int tell_accept_apart(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int result = enter_namespace();

		if (result == 0)
			result = tell_accept();
		if (result)
			fprintf(stderr, "service: %s\n", strerror(-result));
		exit(result ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return status ? -EIO : 0;
}

int main(int argc, char **argv)
{
	int result = argc > 0 ? tell_folder(argv[0]) : -EINVAL;

	if (result == 0)
		result = tell_accept_apart();
	if (result == 0)
		result = tell_connections();
	return result ? 1 : 0;
}
