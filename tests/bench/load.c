/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See load.h. Seeds are fixed, so that every run meets the same sets. */
#include "load.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "config.h"
#include "diag.h"
#include "loader.h"
#include "random.h"
#include "util.h"

#define CPUS_MAX 1024

static uint64_t next_word(void *context)
{
	return random_next(context);
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
		diag_print(&diag, stderr);
	diag_release(&diag);
	return result;
}

static void keep(const struct load *previous, const struct policy *next,
		 struct loader_kept *ret_kept)
{
	char name[STILE_NAME_SIZE + 8];

	memset(ret_kept, -1, sizeof(*ret_kept));
	if (!previous)
		return;
	ret_kept->packets = load_map(previous, "packets");
	ret_kept->decisions = load_map(previous, "decisions");
	ret_kept->tables = load_map(previous, "tables");
	ret_kept->replies = load_map(previous, "replies");
	ret_kept->attempts = load_map(previous, "attempts");
	ret_kept->budget = load_map(previous, "budget");
	if (previous->policy.kernel.flow_sets == next->kernel.flow_sets)
		ret_kept->flows = load_map(previous, "flows");
	for (size_t slot = 0; slot < STILE_LIMITERS_MAX; slot++) {
		if (next->tables[slot] != POLICY_TABLE_KEPT)
			continue;
		snprintf(name, sizeof(name), "limiter-%s", next->kernel.limiters[slot].name);
		ret_kept->limiters[slot] = load_map(previous, name);
	}
}

int load_check(const char *config)
{
	uint64_t seed = 42;
	const struct policy_machine machine = { .tick = 4000000,
						.random = next_word,
						.context = &seed };
	struct policy policy;
	int result = compile(config, NULL, &machine, &policy);

	if (result == 0)
		policy_release(&policy);
	return result;
}

int load_config(const char *config, const struct load *previous, struct load *ret_load)
{
	uint64_t seed = 42;
	struct policy_machine machine = {
		.random = next_word,
		.context = &seed,
		.offer = { .timestamps = 1,
			   .sack = 1,
			   .ecn = 1,
			   .scales = 1,
			   .window_scale = 7,
			   .mptcp = 1 },
	};
	struct loader_kept kept;
	struct load load = {};
	int result;

	result = loader_measure_clock(&machine.tick, &machine.tick_base);
	if (result == 0)
		result = loader_find_queue(&machine);
	if (result == 0)
		result = compile(config, previous ? &previous->policy.kernel : NULL, &machine,
				 &load.policy);
	if (result)
		return result;
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		struct stile_interface *interface = &load.policy.kernel.interfaces[slot];

		if (*interface->name)
			interface->ifindex = if_nametoindex(interface->name);
	}
	keep(previous, &load.policy, &kept);
	result = loader_load(&load.policy, &kept, &load.loader);
	if (result) {
		fprintf(stderr, "load: %s\n%s\n", strerror(-result), loader_reason());
		policy_release(&load.policy);
		return result;
	}
	*ret_load = load;
	return 0;
}

void load_release(struct load *load)
{
	if (!load->loader)
		return;
	loader_free(load->loader);
	policy_release(&load->policy);
	load->loader = NULL;
}

struct search {
	const char *name;
	int fd;
};

static int match(const char *name, int fd, void *context)
{
	struct search *search = context;

	if (strcmp(name, search->name) == 0)
		search->fd = fd;
	return 0;
}

int load_map(const struct load *load, const char *name)
{
	struct search search = { name, -1 };

	(void)loader_each(load->loader, match, &search); /* match() never fails */
	return search.fd;
}

uint32_t load_attachment(const struct load *load, const char *limiter)
{
	const struct stile_policy *policy = &load->policy.kernel;

	for (uint32_t slot = 1; slot < STILE_ATTACHMENTS_MAX; slot++) {
		uint16_t index = policy->attachments[slot].limiter;

		if (index && strcmp(policy->limiters[index].name, limiter) == 0)
			return slot;
	}
	return 0;
}

int load_decisions(int map, uint32_t attachment, uint64_t ret_counts[_STILE_DECISION_MAX])
{
	static struct stile_decisions counts[CPUS_MAX];
	int n_cpus = libbpf_num_possible_cpus();

	if (n_cpus < 0 || n_cpus > CPUS_MAX)
		return -EINVAL;
	if (bpf_map_lookup_elem(map, &attachment, counts) < 0)
		return -errno;
	memset(ret_counts, 0, _STILE_DECISION_MAX * sizeof(ret_counts[0]));
	for (int cpu = 0; cpu < n_cpus; cpu++)
		for (int i = 0; i < _STILE_DECISION_MAX; i++)
			ret_counts[i] += counts[cpu].count[i];
	return 0;
}

uint64_t load_map_bytes(int map)
{
	unsigned long long bytes = 0;
	autofile FILE *file = NULL;
	char line[128];

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", map);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			return bytes;
	}
	return 0;
}
