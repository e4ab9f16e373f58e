/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a SYN of a forged source costs a host, by what answers it: the kernel's own SYN cookies, its
 * SYNPROXY, Stile's, or Stile's busy answer; and what it costs to drop it. A service listens, whose
 * queue of handshakes is full in the kernel's case. A sample in which fewer are answered than come
 * is an error.
 */
#include "bench.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"
#include "loader.h"
#include "util.h"
#include "veth.h"

#define PACKETS 200000 /* of a sample */
#define SOURCES 65536
#define BACKLOG 16
#define ANSWERED_LEAST 0.98

#define BAR_COOKIES 0.25 /* of what the kernel's take */

#define CONFIG(listener)                                                                           \
	"interfaces: {" VETH_RECEIVER ": {mode: native}}\n"                                        \
	"replies_per_second: 10000000\n"                                                           \
	"rate_limiters:\n"                                                                         \
	"  client: {algorithm: token_bucket, limit: 1, window: 1h}\n"                              \
	"  all: {keys: [], algorithm: token_bucket, limit: 1, window: 1h}\n"                       \
	"listeners: {web: {ports: [80], " listener "}}\n"

static const struct receiver {
	const char *name;
	const char *config;    /* of Stile */
	const char *up, *down; /* shell commands, or NULL */
	bool drops;
} receivers[] = {
	{ "XDP drop", NULL, NULL, NULL, true },
	{ "kernel, SYN cookies", NULL, NULL, NULL, false },
	{ "kernel, SYNPROXY (nftables)", NULL,
	  "nft -f - <<END\n"
	  "table ip bench {\n"
	  "  chain raw { type filter hook prerouting priority raw;\n"
	  "    tcp dport 80 tcp flags syn notrack; }\n"
	  "  chain in { type filter hook input priority 0;\n"
	  "    tcp dport 80 ct state invalid,untracked"
	  " synproxy mss 1460 wscale 7 timestamp sack-perm;\n"
	  "    ct state invalid drop; }\n"
	  "}\nEND\n",
	  "nft delete table ip bench", false },
	{ "Stile, always", CONFIG("prove_sources: always, rate_limiter_name: client"), NULL, NULL,
	  false },
	{ "Stile, busy", CONFIG("app_protocol: http, rate_limiter_name: all"), NULL, NULL, false },
};

struct sample {
	struct veth *veth;
	const struct receiver *receiver;
	struct load load;
};

static int shell(const char *text)
{
	fflush(stdout);
	return system(text) == 0 ? 0 : -EIO; /* NOLINT(cert-env33-c): a constant of this file */
}

/* 0, -errno, or what bench_skip() returns. */
static int put_up(struct bench_row *row, int *ret_link)
{
	struct sample *sample = row->context;
	int program, result = 0;

	*ret_link = -1;
	if (sample->receiver->up) {
		if (shell(sample->receiver->up) == 0)
			return 0;
		(void)shell(sample->receiver->down); /* what was put up of it */
		return bench_skip(row, "this kernel, or the nft that is here, cannot do it");
	}
	if (!sample->receiver->drops && !sample->receiver->config)
		return 0;
	if (sample->receiver->config && !sample->load.loader)
		result = load_config(sample->receiver->config, NULL, &sample->load);
	if (result)
		return result;
	program = sample->receiver->drops ? veth_drop_program(sample->veth)
					  : loader_program(sample->load.loader);
	return loader_attach(program, if_nametoindex(VETH_RECEIVER), STILE_MODE_NATIVE, ret_link);
}

static int measure(struct bench_row *row, double *ret_values)
{
	struct sample *sample = row->context;
	struct veth_result told;
	int link, result = put_up(row, &link);

	if (result)
		return result;
	/* The first fill the queue, or spend what there is. */
	result = veth_flood(sample->veth, SOURCES, PACKETS, &told);
	if (result == 0)
		result = veth_flood(sample->veth, SOURCES, PACKETS, &told);
	if (link >= 0)
		close(link);
	if (sample->receiver->down && shell(sample->receiver->down) && result == 0)
		result = -EIO;
	if (result)
		return result;
	if (!sample->receiver->drops && told.answered < ANSWERED_LEAST * told.handled) {
		fprintf(stderr, "%s: answered %.0f of %.0f\n", row->name, told.answered,
			told.handled);
		return -EBADMSG;
	}
	ret_values[0] = told.cpu_ns / told.handled;
	ret_values[1] = told.handled / told.wall_ns * 1e9;
	return 0;
}

/* In the receiver's namespace. */
static int listen_here(int *ret_fd)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(VETH_PORT) };
	autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

static void add_rows(struct bench *bench, struct veth *veth, struct sample *samples)
{
	struct bench_row *rows[ARRAY_SIZE(receivers)];

	for (size_t i = 0; i < ARRAY_SIZE(receivers); i++) {
		samples[i] = (struct sample){ .veth = veth, .receiver = &receivers[i] };
		rows[i] = bench_add(bench, measure, &samples[i], "%s", receivers[i].name);
		if (i >= 1)
			rows[i]->beside[0] = rows[1];
		if (receivers[i].config)
			rows[i]->most_of[0] = BAR_COOKIES;
	}
}

int main(void)
{
	static struct sample samples[ARRAY_SIZE(receivers)];
	static struct bench bench = {
		.section = "proofs",
		.title = "SYNs of forged sources through a veth pair; CPU time of the receiver",
		.columns = { "ns/SYN", "SYNs/s" },
		.ratios = { "of the kernel's cookies" },
		.rounds = 9,
	};
	struct veth *veth = NULL;
	autofd int fd = -1;
	int result;

	bench_wait_turn(); /* the receiver's thread is found by the name of its device */
	result = veth_new(&veth);
	if (result == 0)
		result = listen_here(&fd);
	if (result == 0) {
		veth_use_options(veth);
		add_rows(&bench, veth, samples);
		result = bench_run(&bench);
	}
	if (result == 0)
		result = bench_end(&bench);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		load_release(&samples[i].load);
	veth_free(veth);
	if (result)
		fprintf(stderr, "proofs: %s\n", strerror(-result));
	return result ? 1 : 0;
}
