/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Configurations go the way they go in the daemon: config.c, policy.c, loader.c. What apply.c adds
 * (pins and links) is left out, and the clock and the random numbers are the test's.
 */
#include "prog.h"

#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "config.h"
#include "diag.h"
#include "loader.h"
#include "util.h"

#define ABSENT_IFINDEX 0x7fff0000 /* for interfaces that are not there */

static uint64_t next_word(void *context)
{
	uint64_t *state = context;

	/* Knuth, TAOCP 3.3.4: any numbers that differ will do */
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state ^ *state >> 29;
}

static int compile(const char *text, const struct stile_policy *previous,
		   const struct policy_machine *machine, struct policy *ret_policy)
{
	struct config config;
	struct diag diag;
	int result;

	diag_init(&diag, "config");
	result = config_parse(text, strlen(text), &diag, &config);
	if (result == 0) {
		result = policy_compile(&config, previous, machine, &diag, ret_policy);
		config_release(&config);
	}
	if (result)
		diag_print(&diag, stdout);
	diag_release(&diag);
	return result;
}

static void place_interfaces(struct stile_policy *policy)
{
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		struct stile_interface *interface = &policy->interfaces[slot];

		if (!*interface->name)
			continue;
		interface->ifindex = if_nametoindex(interface->name);
		if (!interface->ifindex)
			interface->ifindex = ABSENT_IFINDEX + (uint32_t)slot;
	}
}

/* What the next load may go on with; the policy says which tables. */
static void keep(const struct prog *prog, const struct policy *next, struct loader_kept *ret_kept)
{
	char name[STILE_NAME_SIZE + 8];

	memset(ret_kept, -1, sizeof(*ret_kept));
	if (!prog->loader)
		return;
	ret_kept->packets = prog_map(prog, "packets");
	ret_kept->decisions = prog_map(prog, "decisions");
	ret_kept->tables = prog_map(prog, "tables");
	ret_kept->replies = prog_map(prog, "replies");
	ret_kept->attempts = prog_map(prog, "attempts");
	ret_kept->budget = prog_map(prog, "budget");
	ret_kept->refusals = prog_map(prog, "refusals");
	ret_kept->proofs = prog_map(prog, "proofs");
	ret_kept->proven = prog_map(prog, "proven");
	if (prog->policy.kernel.flow_sets == next->kernel.flow_sets)
		ret_kept->flows = prog_map(prog, "flows");
	if (prog->policy.kernel.handshake_sets == next->kernel.handshake_sets)
		ret_kept->handshakes = prog_map(prog, "handshakes");
	for (size_t slot = 0; slot < STILE_LIMITERS_MAX; slot++) {
		if (!*next->kernel.limiters[slot].name)
			continue;
		snprintf(name, sizeof(name), "limiter-%s", next->kernel.limiters[slot].name);
		ret_kept->limiters[slot] = prog_map(prog, name);
	}
}

static int load(struct prog *prog, const char *text, const struct policy_machine *machine,
		const uint64_t *still)
{
	struct loader_kept kept;
	struct loader *loader;
	struct policy policy;
	int result;

	result = compile(text, prog->loader ? &prog->policy.kernel : NULL, machine, &policy);
	if (result)
		return result;
	place_interfaces(&policy.kernel);
	if (still) {
		policy.kernel.tick = 0;
		policy.kernel.tick_base = *still;
	}
	keep(prog, &policy, &kept);
	result = loader_load(&policy, &kept, &loader);
	if (result) {
		printf("%s\n", loader_reason());
		policy_release(&policy);
		return result;
	}
	prog_unload(prog);
	prog->policy = policy;
	prog->loader = loader;
	if (text != prog->config)
		snprintf(prog->config, sizeof(prog->config), "%s", text);
	prog->n_cpus = (unsigned int)libbpf_num_possible_cpus();
	return prog_counts_read(prog, &prog->counts) ? 0 : -EIO;
}

/* The same for every load of a boot. */
static void find_queue(struct policy_machine *machine)
{
	static struct policy_machine found;

	if (!found.queue_backlog)
		CHECK_EQ("accept queues are found", loader_find_queue(&found), 0);
	machine->queue_length = found.queue_length;
	machine->queue_backlog = found.queue_backlog;
	machine->queue_young = found.queue_young;
}

static struct stile_offer offer(const struct prog *prog)
{
	const struct stile_offer everything = {
		.timestamps = 1,
		.sack = 1,
		.ecn = 1,
		.scales = 1,
		.window_scale = 7,
		.mptcp = access("/proc/sys/net/mptcp/enabled", F_OK) == 0,
	};

	return prog->offer ? *prog->offer : everything;
}

static bool may_load(void)
{
	if (check_privileged())
		return true;
	CHECK_SKIP("loading programs needs CAP_BPF and CAP_NET_ADMIN");
	return false;
}

bool prog_load(struct prog *prog, const char *config, uint64_t now)
{
	uint64_t seed = 42;
	/* A tick so short that it is fine enough for every limiter. */
	struct policy_machine machine = {
		.tick = 1, .random = next_word, .context = &seed, .offer = offer(prog)
	};

	if (!may_load())
		return false;
	find_queue(&machine);
	return CHECK_EQ("the program loads", load(prog, config, &machine, &now), 0);
}

bool prog_load_ticking(struct prog *prog, const char *config)
{
	uint64_t seed = 42;
	struct policy_machine machine = { .random = next_word,
					  .context = &seed,
					  .offer = offer(prog) };

	return may_load() &&
	       CHECK_EQ("the clock can be measured",
			loader_measure_clock(&machine.tick, &machine.tick_base), 0) &&
	       CHECK_EQ("the program loads", load(prog, config, &machine, NULL), 0);
}

bool prog_move(struct prog *prog, uint64_t now)
{
	return prog_load(prog, prog->config, now);
}

void prog_unload(struct prog *prog)
{
	if (!prog->loader)
		return;
	loader_free(prog->loader);
	policy_release(&prog->policy);
	prog->loader = NULL;
}

/* What @action is, in the words of the verdicts. */
static enum stile_verdict verdict_of(uint32_t action)
{
	if (action == XDP_PASS)
		return STILE_VERDICT_PASS;
	if (action == XDP_TX)
		return STILE_VERDICT_REPLY;
	return action == XDP_DROP ? STILE_VERDICT_DROP : _STILE_VERDICT_MAX;
}

/* What contradicts the verdict: the answer to the driver, or the frame. */
static const char *contradiction(const struct prog *prog, const struct prog_counts *before,
				 uint32_t action)
{
	enum stile_verdict verdict = verdict_of(action);
	uint64_t counted = 0;

	for (size_t slot = 0; slot < STILE_INTERFACES_MAX && verdict < _STILE_VERDICT_MAX; slot++)
		for (size_t reason = 0; reason < _STILE_REASON_MAX; reason++)
			counted += prog->counts.packets[slot][verdict][reason] -
				   before->packets[slot][verdict][reason];
	if (counted != 1)
		return " (the driver is told another verdict)";
	if (verdict == STILE_VERDICT_PASS &&
	    (prog->back.size != prog->sent.size ||
	     memcmp(prog->back.bytes, prog->sent.bytes, prog->sent.size) != 0))
		return " (the frame has changed)";
	return "";
}

const char *prog_send_frame(struct prog *prog, const struct pkt_frame *frame)
{
	struct prog_counts before = prog->counts;
	struct xdp_md context = { .data_end = (uint32_t)frame->size, .ingress_ifindex = 1 };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = prog->sent.bytes,
		    .data_size_in = (uint32_t)frame->size, .data_out = prog->back.bytes,
		    .data_size_out = sizeof(prog->back.bytes), .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = 1);
	size_t length;

	prog->sent = *frame;
	if (bpf_prog_test_run_opts(loader_program(prog->loader), &options) < 0) {
		snprintf(prog->text, sizeof(prog->text), "cannot be run: %s", strerror(errno));
		return prog->text;
	}
	prog->back.size = options.data_size_out;
	prog_counts_since(prog, prog->text, sizeof(prog->text));
	length = strlen(prog->text);
	snprintf(prog->text + length, sizeof(prog->text) - length, "%s",
		 contradiction(prog, &before, options.retval));
	return prog->text;
}

const char *prog_send(struct prog *prog, const struct pkt_spec *spec)
{
	struct pkt_spec numbered = *spec;
	struct pkt_frame frame;

	if (numbered.sequence == 0)
		numbered.sequence = ++prog->sequence;
	pkt_build(&numbered, &frame);
	return prog_send_frame(prog, &frame);
}

unsigned int prog_passing(struct prog *prog, const struct pkt_spec *spec, unsigned int n)
{
	unsigned int passing = 0;

	for (unsigned int i = 0; i < n; i++)
		passing += strncmp(prog_send(prog, spec), "pass ", 5) == 0;
	return passing;
}

void prog_list(struct prog *prog, const char *list, const char *text, uint64_t expires)
{
	struct stile_control control;
	struct stile_listed entry = { .expires = expires, .by_hand = 1 };
	struct stile_prefix key = {};
	struct prefix prefix = {};
	uint32_t zero = 0;
	int map = prog_map(prog, "control");

	CHECK_EQ(text, prefix_parse(text, &prefix), 0);
	key.bits = entry.bits = prefix.bits;
	memcpy(key.address, prefix.address, sizeof(key.address));
	CHECK_EQ("the entry is added",
		 bpf_map_update_elem(prog_map(prog, list), &key, &entry, BPF_ANY), 0);
	CHECK_EQ("the counts are read", bpf_map_lookup_elem(map, &zero, &control), 0);
	if (strcmp(list, "trusted") == 0)
		control.trusted++;
	else
		control.blocked++;
	CHECK_EQ("the counts are written", bpf_map_update_elem(map, &zero, &control, BPF_ANY), 0);
}

void prog_heartbeat(const struct prog *prog, uint64_t now)
{
	struct stile_control control;
	uint32_t zero = 0;
	int map = prog_map(prog, "control");

	CHECK_EQ("the entry is read", bpf_map_lookup_elem(map, &zero, &control), 0);
	control.heartbeat = now;
	CHECK_EQ("the heartbeat is written", bpf_map_update_elem(map, &zero, &control, BPF_ANY), 0);
}

struct map_search {
	const char *name;
	int fd;
};

static int match(const char *name, int fd, void *context)
{
	struct map_search *search = context;

	if (strcmp(name, search->name) == 0)
		search->fd = fd;
	return 0;
}

int prog_map(const struct prog *prog, const char *name)
{
	struct map_search search = { name, -1 };

	(void)loader_each(prog->loader, match, &search); /* match() never fails */
	return search.fd;
}

uint32_t prog_limiter(const struct prog *prog, const char *name)
{
	uint32_t slot = 0;

	while (slot < STILE_LIMITERS_MAX - 1 &&
	       strcmp(prog->policy.kernel.limiters[slot].name, name) != 0)
		slot++;
	return slot;
}

bool prog_table(const struct prog *prog, const char *limiter, struct prog_table *ret_table)
{
	char name[STILE_NAME_SIZE + 8];
	int map;

	snprintf(name, sizeof(name), "limiter-%s", limiter);
	map = prog_map(prog, name);
	ret_table->n_sets = prog->policy.kernel.limiters[prog_limiter(prog, limiter)].sets;
	if (map < 0 || ret_table->n_sets > PROG_TABLE_SETS)
		return CHECK_EQ("the table can be looked into", ret_table->n_sets, 0);
	for (uint32_t i = 0; i < ret_table->n_sets; i++)
		if (bpf_map_lookup_elem(map, &i, &ret_table->sets[i]) < 0)
			return CHECK_EQ("the set can be read", errno, 0);
	return true;
}

int prog_namespace(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	autofd int fd = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return -errno;
	request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
	return ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}
