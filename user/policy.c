/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order in which a policy is compiled, and its lists. The parts are in policy_slots.c,
 * policy_limiters.c, policy_judges.c and policy_ports.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy_build.h"
#include "util.h"

#define BATCH_MAX 64 /* answers */

static const struct stile_policy no_policy;

bool policy_prefix_is_same(const struct prefix *a, const struct prefix *b)
{
	return a->bits == b->bits && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

static struct stile_prefix prefix_key(const struct prefix *prefix)
{
	struct stile_prefix key = { .bits = prefix->bits };

	memcpy(key.address, prefix->address, sizeof(key.address));
	return key;
}

static int compare_prefixes(const void *a, const void *b)
{
	const struct policy_prefix *left = a, *right = b;
	const struct prefix *one = &left->prefix->prefix, *other = &right->prefix->prefix;
	int order = memcmp(one->address, other->address, sizeof(one->address));

	if (order != 0)
		return order;
	if (one->bits != other->bits)
		return one->bits < other->bits ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

void policy_prefixes_sort(struct policy_prefix *prefixes, size_t n_prefixes)
{
	qsort(prefixes, n_prefixes, sizeof(*prefixes), compare_prefixes);
}

/* What the configuration calls one list, and what becomes of it. */
struct list {
	const char *name;
	struct policy_prefix *sorted; /* each prefix once */
	size_t n;
};

static void list_release(struct list *list)
{
	free(list->sorted);
}

static int list_sort(struct policy_build *build, struct list *list,
		     const struct config_prefix *prefixes, size_t n_prefixes)
{
	char text[PREFIX_TEXT_SIZE];

	list->sorted = calloc(n_prefixes + 1, sizeof(*list->sorted));
	if (!list->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n_prefixes; i++)
		list->sorted[i] = (struct policy_prefix){ &prefixes[i], i };
	policy_prefixes_sort(list->sorted, n_prefixes);
	for (size_t i = 0; i < n_prefixes; i++) {
		const struct config_prefix *prefix = list->sorted[i].prefix;
		const struct config_prefix *last = list->n ? list->sorted[list->n - 1].prefix
							   : NULL;

		if (!last || !policy_prefix_is_same(&last->prefix, &prefix->prefix))
			list->sorted[list->n++] = list->sorted[i];
		else
			diag_warning(build->diag, prefix->place, "%s is %s already (line %u)",
				     prefix_format(&prefix->prefix, text), list->name,
				     last->place.line);
	}
	return 0;
}

static int list_write(const struct list *list, struct stile_prefix **ret_keys, size_t *ret_n_keys)
{
	struct stile_prefix *keys = calloc(list->n + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		keys[i] = prefix_key(&list->sorted[i].prefix->prefix);
	*ret_keys = keys;
	*ret_n_keys = list->n;
	return 0;
}

/* Both are sorted. */
static void check_both(struct policy_build *build, const struct list *trusted,
		       const struct list *blocked)
{
	char text[PREFIX_TEXT_SIZE];
	size_t i = 0, j = 0;

	while (i < trusted->n && j < blocked->n) {
		const struct config_prefix *one = trusted->sorted[i].prefix;
		const struct config_prefix *other = blocked->sorted[j].prefix;

		if (policy_prefix_is_same(&one->prefix, &other->prefix))
			diag_warning(build->diag, one->place,
				     "%s is trusted and blocked (line %u): it is blocked",
				     prefix_format(&one->prefix, text), other->place.line);
		if (compare_prefixes(&(struct policy_prefix){ one, 0 },
				     &(struct policy_prefix){ other, 0 }) < 0)
			i++;
		else
			j++;
	}
}

int policy_build_lists(struct policy_build *build)
{
	struct list trusted __attribute__((cleanup(list_release))) = { .name = "trusted" };
	struct list blocked __attribute__((cleanup(list_release))) = { .name = "blocked" };
	const struct config *config = build->config;
	struct policy *policy = build->policy;

	if (list_sort(build, &trusted, config->trusted, config->n_trusted) < 0 ||
	    list_sort(build, &blocked, config->blocked, config->n_blocked) < 0)
		return -ENOMEM;
	check_both(build, &trusted, &blocked);
	if (list_write(&trusted, &policy->trusted, &policy->n_trusted) < 0 ||
	    list_write(&blocked, &policy->blocked, &policy->n_blocked) < 0)
		return -ENOMEM;
	return 0;
}

/* A CPU draws a thousandth of a second's answers at once, but no more than are sent in a moment. */
static void build_budget(struct stile_budget *budget, uint32_t limit)
{
	const uint64_t second = 1000000000ULL << STILE_TOKEN_SHIFT;
	uint32_t batch = limit / 1024;

	budget->limit = limit;
	budget->token = limit ? (second + limit - 1) / limit : second;
	budget->depth = limit * budget->token;
	budget->batch = batch < 1 ? 1 : batch > BATCH_MAX ? BATCH_MAX : batch;
}

static void build_head(struct policy_build *build)
{
	const struct policy_machine *machine = build->machine;
	const struct stile_policy *previous = build->previous;
	struct stile_policy *kernel = &build->policy->kernel;

	kernel->version = STILE_ABI_VERSION;
	kernel->size = sizeof(*kernel);
	kernel->generation = previous->generation + 1;
	if (machine->generation > previous->generation) /* sockets may have notes of that one */
		kernel->generation = machine->generation + 1;
	kernel->tick = machine->tick;
	kernel->tick_base = machine->tick_base;
	kernel->enabled = build->config->enabled;
	kernel->reset_text = build->config->reset_text;
	build_budget(&kernel->budget, build->config->replies_per_second);
	build_budget(&kernel->cookies, build->config->cookies_per_second);
	kernel->watchdog = (__u8)build->config->watchdog.then;
	kernel->watchdog_after = build->config->watchdog.after;
	if (previous->generation) {
		kernel->since = previous->since;
		memcpy(kernel->seed, previous->seed, sizeof(kernel->seed));
		return;
	}
	kernel->since = machine->since;
	kernel->seed[0] = machine->random(machine->context);
	kernel->seed[1] = machine->random(machine->context) | 1;
}

static int build_all(struct policy_build *build)
{
	build_head(build);
	if (!policy_build_slots(build))
		return -EINVAL;
	if (!build->config->n_listeners)
		diag_warning(build->diag, (struct place){ 0 },
			     "no listeners: nothing is protected");
	policy_build_connections(build);
	policy_build_limiters(build);
	policy_build_queues(build);
	policy_build_proofs(build);
	policy_check_agents(build);
	if (policy_build_judges(build) < 0 || policy_build_datagrams(build) < 0 ||
	    policy_build_answers(build) < 0 || policy_build_ports(build) < 0 ||
	    policy_build_lists(build) < 0)
		return -ENOMEM;
	return build->diag->n_errors ? -EINVAL : 0;
}

int policy_compile(const struct config *config, const struct stile_policy *previous,
		   const struct policy_machine *machine, struct diag *diag,
		   struct policy *ret_policy)
{
	autofree struct policy_build *build = calloc(1, sizeof(*build));
	autofree struct policy *policy = calloc(1, sizeof(*policy));
	int result;

	if (!build || !policy)
		return -ENOMEM;
	*build = (struct policy_build){
		.config = config,
		.previous = previous ? previous : &no_policy,
		.machine = machine,
		.diag = diag,
		.policy = policy,
	};
	result = build_all(build);
	if (result < 0)
		policy_release(policy);
	else
		*ret_policy = *policy;
	return result;
}

void policy_release(struct policy *policy)
{
	free(policy->hosts);
	free(policy->ports);
	free(policy->pages);
	free(policy->sources);
	free(policy->datagrams);
	free(policy->answers);
	free(policy->trusted);
	free(policy->blocked);
	memset(policy, 0, sizeof(*policy));
}
